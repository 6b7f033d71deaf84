// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: child.h
// -----------------------------------------------------------------------------
//
// A `Child` is a process started by a `Command` (command.h):
//
//   absl::StatusOr<Child> child =
//       Command("sort").Stdin(Stdio::Piped()).Spawn();
//   if (!child.ok()) co_return child.status();
//   std::optional<ChildStdin> input = child->TakeStdin();
//   co_await OrReturn(input->WriteAll("b\na\n"));
//   input.reset();
//   ExitStatus status = co_await OrReturn(child->Wait());

#ifndef ROUSE_PROCESS_CHILD_H_
#define ROUSE_PROCESS_CHILD_H_

#include <sys/types.h>

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/future/co.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/process/child_pipe.h"
#include "rouse/process/exit_status.h"
#include "rouse/reactor/async_fd.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// The exit status and the output of a child: see `Child::WaitWithOutput()`.
struct ProcessOutput {
  ProcessOutput(ExitStatus status, std::string out, std::string err)
      : status(status), out(std::move(out)), err(std::move(err)) {}

  ExitStatus status;
  std::string out;  // standard output, if piped
  std::string err;  // standard error, if piped
  // Say whether the process wrote more bytes than the limit. `out` and `err`
  // then have the first bytes.
  bool out_truncated = false;
  bool err_truncated = false;
};

// Child
//
// Movable, except while a future of the `Child` exists. Must be used by a
// single task at a time.
//
// The destructor does not end the process, unless `Command::KillOnDrop()` says
// so, and does not wait.
//
// # Zombies
//
// A process that has ended is a zombie, which keeps its process id, until it
// has been waited for: by `Wait()`, `PollWait()` or `TryWait()`. If the `Child`
// was destroyed before any of the three reported the end, the process is waited
// for
//
//   - by the destructor, if the process had ended by then;
//   - otherwise by the reactor with which the child was started, on the thread
//     that turns the reactor, at the reactor's first turn after the end;
//   - otherwise, if that reactor was shut down before, by the next call that
//     starts a child, or destroys a child that was not waited for, on any
//     thread, and finds that the process has ended. Without such a call the
//     process stays a zombie while the calling process lives, and a descriptor
//     is kept as long.
//
// All of these steps require that no other code waits for the child. A program
// that ignores SIGCHLD, or waits for any child, takes the status away: the lost
// status is an error here, and the process id is free for another process. The
// other process, whatever its owner, is neither signalled nor waited for here,
// because every operation uses a descriptor of the child and not the process
// id. (Before Linux 5.4, a wait uses the process id.)
class Child {
  struct WaitOp;

 public:
  // The type of `Wait()`'s future, for code that must name the type. Polling
  // the future after it was ready is a `Panic()`. Can be moved until its first
  // poll.
  using WaitFuture = internal::IoFuture<Child, WaitOp>;

  // A future's place among the waiters: see rouse/io/waiter.h.
  using Waiter = reactor::Waiter;

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  // Returns the process id, even after the process has ended. The id is not
  // given to another process until the child has been waited for.
  pid_t pid() const { return pid_; }

  // Returns a text that names the process, for logs, as "process 7".
  std::string ToString() const;

  template <class Sink>
  friend void AbslStringify(Sink& sink, const Child& child) {
    sink.Append(child.ToString());
  }

  // Return the pipes to the standard streams that are `Stdio::Piped()`. Each
  // pipe is returned once.
  std::optional<ChildStdin> TakeStdin();
  std::optional<ChildStdout> TakeStdout();
  std::optional<ChildStderr> TakeStderr();

  // Waits for the end of the process. Returns a future of
  // `absl::StatusOr<ExitStatus>`; after the end, each call returns the same
  // status. Closes the child's standard input first, if the pipe was not taken,
  // because most programs would wait for the end of their input. Output that
  // was not taken is not read, and a process that has filled a pipe does not
  // end: see `WaitWithOutput()`.
  //
  // Cancellation: destroying the future ends the wait, and nothing else.
  //
  // Errors: Unavailable if the reactor has been shut down.
  WaitFuture Wait() ABSL_ATTRIBUTE_LIFETIME_BOUND { return WaitFuture(*this); }

  // Waits like `Wait()`, for use in your own futures, but does not close
  // anything. Without a `waiter`, the task that polled last is woken.
  PollResult<absl::StatusOr<ExitStatus>> PollWait(Context& cx,
                                                  Waiter* waiter = nullptr);

  // Returns the status if the process has ended, and nothing if it has not.
  absl::StatusOr<std::optional<ExitStatus>> TryWait();

  // Waits for the end of the process, and meanwhile reads all bytes of its
  // standard output and standard error, if these streams are piped and were not
  // taken. Destroying the coroutine destroys the child.
  //
  // At most `limit` bytes of each stream are kept. If the process writes more,
  // `ProcessOutput` says so, and the stream's pipe is closed, as `head -c`
  // does: the next write of the process to this stream fails, which ends most
  // programs with SIGPIPE.
  Co<absl::StatusOr<ProcessOutput>> WaitWithOutput(
      size_t limit = std::numeric_limits<size_t>::max()) &&;

  // Sends a signal to the process. Needs no reactor, and does not block.
  // Returns OK, without effect, if the process has ended and was not waited for
  // yet.
  //
  //   InvalidArgument      The signal does not exist.
  //   PermissionDenied     The process now belongs to another user.
  //   FailedPrecondition   The process was waited for here: there is no process
  //                        to signal.
  //   NotFound             Other code has waited for the process (see above):
  //                        no process is signalled.
  absl::Status SendSignal(int number);

  // Ends the process by SIGKILL, with the errors of `SendSignal()`. `Wait()`
  // reports when the process has ended.
  absl::Status Kill();

 private:
  friend class Command;

  struct WaitOp {
    static constexpr std::string_view kName = "Child::Wait()";
    auto operator()(Child& child, Context& cx, Waiter* waiter) const {
      child.stdin_.reset();
      return child.PollWait(cx, waiter);
    }
  };

  Child(pid_t pid, reactor::AsyncFd<OwnedFd> pidfd, bool kill_on_drop)
      : pid_(pid), kill_on_drop_(kill_on_drop), pidfd_(std::move(pidfd)) {}

  // Does the work of the destructor.
  void Abandon();

  // Sets `status_` if the process has ended. Returns 0 then. Otherwise returns
  // -1 and sets `errno`, to EAGAIN if the process has not ended.
  int CheckForExit();

  pid_t pid_;  // 0 after a move
  bool kill_on_drop_;
  std::optional<ExitStatus> status_;
  reactor::AsyncFd<OwnedFd> pidfd_;
  std::optional<ChildStdin> stdin_;
  std::optional<ChildStdout> stdout_;
  std::optional<ChildStderr> stderr_;
};

}  // namespace rouse

#endif  // ROUSE_PROCESS_CHILD_H_

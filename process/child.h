// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: child.h
// -----------------------------------------------------------------------------
//
// A `Child` is a process that a `Command` (command.h) has started:
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

// What a child has left: see `Child::WaitWithOutput()`.
struct ProcessOutput {
  ProcessOutput(ExitStatus status, std::string out, std::string err)
      : status(status), out(std::move(out)), err(std::move(err)) {}

  ExitStatus status;
  std::string out;  // standard output, as far as it was piped
  std::string err;  // standard error, likewise
};

// Child
//
// Movable, but not while a future of it lives. For one task at a time.
//
// Destroying it does not end the process, unless `Command::KillOnDrop()` says
// so, and does not wait.
//
// # Zombies
//
// A process that has ended is a zombie, which keeps its number, until it has
// been waited for: by `Wait()`, `PollWait()` or `TryWait()`, or, if the `Child`
// was destroyed before one of these told the end,
//
//   - by the destructor, if it had ended by then;
//   - else by the reactor that the child was started with, on the thread that
//     turns it, as soon as it turns after the end;
//   - else, if that reactor has been shut down before, by the next call that
//     starts a child, or destroys one that was not waited for, in any thread,
//     and finds that it has ended. If there is none it stays a zombie for as
//     long as this process lives, and a descriptor is kept as long.
//
// All of this asks that nobody else waits for it: a program that ignores
// SIGCHLD, or waits for any child, takes the status away, which is then an
// error here, and frees the number for another process. That one is neither
// signalled nor waited for here, whoever's it is: all goes by a descriptor of
// the child, and not by its number. (Before Linux 5.4 a wait goes by the
// number.)
class Child {
  struct WaitOp;

 public:
  // For those who have to name it. Polling it when it is finished is a
  // `Panic()`. May be moved until it is polled.
  using WaitFuture = internal::IoFuture<Child, WaitOp>;

  // The place of a future among those that wait: see rouse/io/waiter.h.
  using Waiter = reactor::Waiter;

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  // The process id, also after it has ended. It is not given to another process
  // before that was waited for.
  pid_t pid() const { return pid_; }

  // The pipes to those of its standard streams that are `Stdio::Piped()`, once.
  std::optional<ChildStdin> TakeStdin();
  std::optional<ChildStdout> TakeStdout();
  std::optional<ChildStderr> TakeStderr();

  // Waits for the end of the process. Gives `absl::StatusOr<ExitStatus>`, the
  // same again if it has ended. Closes its standard input first, if that was
  // not taken: most programs would wait for it as long. Output that was not
  // taken is not read, and a process that has filled a pipe does not end: see
  // `WaitWithOutput()`.
  //
  // Unavailable when the reactor has been shut down. Destroying the future ends
  // the waiting, nothing else.
  WaitFuture Wait() ABSL_ATTRIBUTE_LIFETIME_BOUND { return WaitFuture(*this); }

  // The same for futures of your own, without closing anything. Without a
  // `waiter` the task that polled last is woken.
  PollResult<absl::StatusOr<ExitStatus>> PollWait(Context& cx,
                                                  Waiter* waiter = nullptr);

  // The status of a process that has ended, or nothing.
  absl::StatusOr<std::optional<ExitStatus>> TryWait();

  // Waits, and reads meanwhile all that comes from its standard output and
  // error, as far as these are piped and were not taken. Destroying the
  // coroutine destroys the child.
  Co<absl::StatusOr<ProcessOutput>> WaitWithOutput() &&;

  // Sends it a signal. Needs no reactor, and does not block. OK, and without
  // effect, for one that has ended and was not waited for yet.
  //
  //   InvalidArgument      there is no such signal
  //   PermissionDenied     the process has become another user's
  //   FailedPrecondition   it was waited for here: there is nobody to tell
  //   NotFound             somebody else has waited for it, see above: nobody
  //                        is told
  absl::Status SendSignal(int number);

  // Ends it by SIGKILL, as `SendSignal()`. `Wait()` tells when it has ended.
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

  // What the destructor does.
  void Abandon();

  // Sets `status_` if the process has ended. 0; or -1 and `errno`, EAGAIN if it
  // has not.
  int Look();

  pid_t pid_;  // 0 in what was moved from
  bool kill_on_drop_;
  std::optional<ExitStatus> status_;
  reactor::AsyncFd<OwnedFd> pidfd_;
  std::optional<ChildStdin> stdin_;
  std::optional<ChildStdout> stdout_;
  std::optional<ChildStderr> stderr_;
};

}  // namespace rouse

#endif  // ROUSE_PROCESS_CHILD_H_

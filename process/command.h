// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: command.h
// -----------------------------------------------------------------------------
//
// A `Command` starts child processes:
//
//   ProcessOutput listing =
//       co_await OrReturn(Command("ls").Arg("-l").CurrentDir("/tmp").Output());
//   if (!listing.status.IsSuccess()) ...
//
//   absl::StatusOr<Child> child = Command("sort")
//                                     .Stdin(Stdio::Piped())
//                                     .KillOnDrop()
//                                     .Spawn();

#ifndef ROUSE_PROCESS_COMMAND_H_
#define ROUSE_PROCESS_COMMAND_H_

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/future/co.h"
#include "rouse/process/child.h"
#include "rouse/process/exit_status.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse {

// Stdio
//
// Says to what a standard stream of a child is connected. A value.
class Stdio {
 public:
  // Returns a `Stdio` that shares the stream of the calling process.
  static Stdio Inherit() { return Stdio(Kind::kInherit); }
  // Returns a `Stdio` without data: reads find the end, and writes are
  // discarded.
  static Stdio Null() { return Stdio(Kind::kNull); }
  // Returns a `Stdio` for a pipe to the calling process: see
  // `Child::TakeStdin()` and the like.
  static Stdio Piped() { return Stdio(Kind::kPiped); }
  // Returns a `Stdio` for a descriptor, such as a file, or the end of another
  // child's pipe. The `Stdio` keeps the descriptor open. `Command::Spawn()`
  // makes the open file blocking, as programs expect of a standard stream, for
  // all owners of the open file: do not pass a descriptor if the calling
  // process still uses a duplicate with a reactor.
  static Stdio FromFd(OwnedFd fd) {
    return Stdio(Kind::kFd, std::make_shared<const OwnedFd>(std::move(fd)));
  }

 private:
  friend class Command;
  enum class Kind { kInherit, kNull, kPiped, kFd };

  explicit Stdio(Kind kind, std::shared_ptr<const OwnedFd> fd = nullptr)
      : kind_(kind), fd_(std::move(fd)) {}

  Kind kind_;
  std::shared_ptr<const OwnedFd> fd_;
};

// Command
//
// A program and the way to run it. A `Command` can be started any number of
// times. Not thread-safe. Copyable.
//
// The child receives no descriptors except its standard streams, and
// descriptors of the calling process that are open without FD_CLOEXEC. In the
// child no signal is blocked, and SIGPIPE has its default action.
class Command {
 public:
  // Sets the program. `program` is a path or, without a slash, a name to be
  // searched in the PATH of the calling process.
  explicit Command(std::string program) : program_(std::move(program)) {}

  // Add to the arguments after the program's name. No shell sees the arguments.
  Command& Arg(std::string arg);
  Command& Args(std::vector<std::string> args);

  // Change the environment. Unchanged variables are those of the calling
  // process at the time of the start. `EnvClear()` also undoes earlier changes.
  Command& Env(std::string key, std::string value);
  Command& EnvRemove(std::string key);
  Command& EnvClear();

  // Sets the directory of the child. A program's relative path begins there.
  Command& CurrentDir(std::string path);

  // Set where the standard streams go. They are inherited by default, but see
  // `Output()`.
  Command& Stdin(Stdio stdio);
  Command& Stdout(Stdio stdio);
  Command& Stderr(Stdio stdio);

  // Sets whether destroying the `Child` kills the process, if the process still
  // runs.
  Command& KillOnDrop(bool on = true);

  // Makes the child a member of a process group. 0 makes the child the first
  // member of a new group, so that a Ctrl-C at the terminal does not reach the
  // child.
  Command& ProcessGroup(pid_t group);

  // Starts the program. Blocks until the program has been loaded. The child
  // belongs to `handle`'s reactor or, if `handle` is unbound, to the reactor
  // found by `reactor::BindHandle()`.
  //
  //   NotFound            The program, or the directory, does not exist.
  //   PermissionDenied    The caller is not allowed to run the program.
  //   InvalidArgument     A string contains a zero byte, or a key is empty or
  //                       contains a "=".
  //   FailedPrecondition  A part of a path is not a directory, the program is
  //                       open for writing (ETXTBSY), or a descriptor is not
  //                       open.
  //   ResourceExhausted   Descriptors or memory ran out.
  //   Unavailable         No more processes can be created (EAGAIN), or the
  //                       reactor has been shut down.
  //   Unimplemented       The kernel has no pidfd_open (before Linux 5.3).
  //   Aborted             The program has run, but its status was taken away:
  //                       the calling program ignores SIGCHLD, or waits for any
  //                       child.
  //
  // The errors of `reactor::Registration::Create()` are also possible.
  //
  // On failure no process and no descriptor is left. Nothing has run either,
  // except in three cases: the error is Aborted; the error is Unimplemented;
  // or, between the start and the registration of the child, the reactor was
  // shut down or other code took the last descriptor. In the last two cases the
  // child is killed, however far it has come.
  absl::StatusOr<Child> Spawn(
      const reactor::Handle& handle = reactor::Handle()) const;

  // Starts the program at the coroutine's first poll, and waits for the end of
  // the process. Destroying the coroutine destroys the `Child`. Pipes are
  // closed at once: a `Piped()` input reads nothing, and a `Piped()` output
  // cannot be written to (`Output()` returns the output).
  Co<absl::StatusOr<ExitStatus>> Run(
      reactor::Handle handle = reactor::Handle()) const;

  // Runs the program like `Run()`, and also returns the bytes of its standard
  // output and standard error. Unless set otherwise, both are piped, and the
  // input is `Null()`.
  Co<absl::StatusOr<ProcessOutput>> Output(
      reactor::Handle handle = reactor::Handle()) const;

 private:
  struct Streams;

  absl::Status Validate() const;
  std::vector<std::string> Environment() const;
  absl::StatusOr<Streams> OpenStreams(const reactor::Handle& handle) const;
  absl::StatusOr<pid_t> Start(const Streams& streams) const;

  std::string program_;
  std::vector<std::string> args_;
  bool clear_env_ = false;
  // A removed variable has no value.
  std::map<std::string, std::optional<std::string>> env_;
  std::optional<std::string> directory_;
  std::optional<Stdio> stdio_[3];
  bool kill_on_drop_ = false;
  std::optional<pid_t> group_;
};

}  // namespace rouse

#endif  // ROUSE_PROCESS_COMMAND_H_

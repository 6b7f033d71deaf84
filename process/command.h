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

#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>
#include <limits>
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

namespace internal {
struct StartedProcess;
}  // namespace internal

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

  // Sets the name that the program sees as its own (`argv[0]`), which is the
  // program by default.
  Command& Arg0(std::string name);

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

  // Gives the child a descriptor besides its standard streams, such as a
  // listening socket. `number` is the descriptor's number in the child, at
  // least 3; another call with the same number replaces the descriptor. The
  // `Command` keeps `fd` open. The open file keeps its flags: unlike a standard
  // stream's, it is not made blocking.
  Command& ExtraFd(int number, OwnedFd fd);

  // Makes the child a member of a process group. 0 makes the child the first
  // member of a new group, so that a Ctrl-C at the terminal does not reach the
  // child.
  Command& ProcessGroup(pid_t group);

  // Makes the child the leader of a new session (setsid(2)), which has no
  // terminal, and of a new process group. Not together with `ProcessGroup()`.
  Command& NewSession(bool on = true);

  // Set the user, the group and the supplementary groups of the child. The
  // calling process needs the right to do so. `Uid()` alone keeps the group of
  // the calling process. If the effective user of the calling process is root,
  // `Uid()` without `Groups()` removes all supplementary groups; the groups of
  // the user database are not looked up: see getgrouplist(3).
  //
  // The directory of `CurrentDir()`, and the program, are opened as the new
  // user. Descriptors are opened as the old one.
  Command& Uid(uid_t uid);
  Command& Gid(gid_t gid);
  Command& Groups(std::vector<gid_t> groups);

  // Limits a resource of the child: see setrlimit(2) for the resources, such as
  // `RLIMIT_AS`, and for the limits, which are in bytes, seconds or numbers.
  // Only a privileged process can raise the hard limit. Another call for the
  // same resource replaces the limits.
  Command& ResourceLimit(int resource, rlim_t soft, rlim_t hard);

  // Limits what `Output()` returns of standard output, and of standard error,
  // each to `bytes`. There is no limit by default. See
  // `Child::WaitWithOutput()`.
  Command& OutputLimit(size_t bytes);

  // Returns the program and the arguments, for logs, each in quotes and with
  // unprintable bytes escaped as in C, such as: "ls" "-l". Not for a shell.
  std::string ToString() const;

  template <class Sink>
  friend void AbslStringify(Sink& sink, const Command& command) {
    sink.Append(command.ToString());
  }

  // Starts the program. Blocks until the program has been loaded. The child
  // belongs to `handle`'s reactor or, if `handle` is unbound, to the reactor
  // found by `reactor::BindHandle()`.
  //
  //   NotFound            The program, or the directory, does not exist.
  //   PermissionDenied    The caller is not allowed to run the program, or to
  //                       set the user, a group, a limit or the process group.
  //   InvalidArgument     A string contains a zero byte; a key is empty or
  //                       contains a "="; a number of `ExtraFd()` is below 3,
  //                       or above the limit of open files; a resource does not
  //                       exist; or settings exclude each other.
  //   FailedPrecondition  A part of a path is not a directory, the program is
  //                       open for writing (ETXTBSY), or a descriptor is not
  //                       open.
  //   ResourceExhausted   Descriptors or memory ran out.
  //   Unavailable         No more processes can be created (EAGAIN), or the
  //                       reactor has been shut down.
  //   Unimplemented       The kernel has no pidfds (before Linux 5.3).
  //
  // The errors of `reactor::Registration::Create()` are also possible. If a
  // step in the child has failed, the message names the program and the step.
  //
  // On failure no process and no descriptor is left. Nothing has run either,
  // except in two cases: the error is Unimplemented; or, between the start and
  // the registration of the child, the reactor was shut down or other code took
  // the last source. In both cases the child is killed, however far it has
  // come.
  absl::StatusOr<Child> Spawn(
      const reactor::Handle& handle = reactor::Handle()) const;

  // Starts the program at the coroutine's first poll, and waits for the end of
  // the process. Destroying the coroutine destroys the `Child`. Pipes are
  // closed at once: a `Piped()` input reads nothing, and a `Piped()` output
  // cannot be written to (`Output()` returns the output).
  Co<absl::StatusOr<ExitStatus>> Run(
      reactor::Handle handle = reactor::Handle()) const;

  // Runs the program like `Run()`, and also returns the bytes of its standard
  // output and standard error, up to `OutputLimit()`. Unless set otherwise,
  // both are piped, and the input is `Null()`.
  Co<absl::StatusOr<ProcessOutput>> Output(
      reactor::Handle handle = reactor::Handle()) const;

 private:
  struct Streams;
  // The settings that few commands have. The header does not need their types,
  // which take the compiler as long as the rest of the class.
  struct Extras;

  const Extras& extras() const;
  // Calls `change` with a copy of the settings, and keeps the copy.
  template <class Change>
  Command& ChangeExtras(Change change);
  absl::Status Validate() const;
  std::vector<std::string> Environment() const;
  absl::StatusOr<Streams> OpenStreams(const reactor::Handle& handle) const;
  absl::StatusOr<internal::StartedProcess> Start(const Streams& streams) const;

  std::string program_;
  std::optional<std::string> arg0_;
  std::vector<std::string> args_;
  bool clear_env_ = false;
  // A removed variable has no value.
  std::map<std::string, std::optional<std::string>> env_;
  std::optional<std::string> directory_;
  std::optional<Stdio> stdio_[3];
  bool kill_on_drop_ = false;
  std::optional<pid_t> process_group_;
  bool new_session_ = false;
  // Null until the first change. Copies of the command share the settings.
  std::shared_ptr<const Extras> extras_;
  size_t output_limit_ = std::numeric_limits<size_t>::max();
};

}  // namespace rouse

#endif  // ROUSE_PROCESS_COMMAND_H_

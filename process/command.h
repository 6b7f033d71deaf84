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
// What becomes of one of a child's standard streams. A value.
class Stdio {
 public:
  // It has this process's.
  static Stdio Inherit() { return Stdio(Kind::kInherit); }
  // It reads nothing, or what it writes is thrown away.
  static Stdio Null() { return Stdio(Kind::kNull); }
  // A pipe to this process: see `Child::TakeStdin()` and the like.
  static Stdio Piped() { return Stdio(Kind::kPiped); }
  // This descriptor, such as a file, or the end of another child's pipe. It is
  // kept as long as the `Stdio` is. `Command::Spawn()` makes its open file
  // blocking, as programs expect of a standard stream, for everyone that shares
  // it: do not give a descriptor whose duplicate this process still uses with a
  // reactor.
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
// A program and how it is to be run; can be started any number of times. Not
// thread-safe. Copyable.
//
// The child gets none of this process's descriptors but its standard streams
// and what is open without FD_CLOEXEC. No signal is blocked in it, and SIGPIPE
// does what it does by default.
class Command {
 public:
  // `program` is a path, or, without a slash, is looked for in the PATH of this
  // process.
  explicit Command(std::string program) : program_(std::move(program)) {}

  // Adds to the arguments that follow the program's name. No shell sees them.
  Command& Arg(std::string arg);
  Command& Args(std::vector<std::string> args);

  // Changes the environment, which is otherwise this process's as it is at the
  // start. `EnvClear()` also undoes what came before.
  Command& Env(std::string key, std::string value);
  Command& EnvRemove(std::string key);
  Command& EnvClear();

  // Where it runs. A relative path of a program starts there.
  Command& CurrentDir(std::string path);

  // Where the standard streams go. Inherited unless said otherwise, but see
  // `Output()`.
  Command& Stdin(Stdio stdio);
  Command& Stdout(Stdio stdio);
  Command& Stderr(Stdio stdio);

  // Whether destroying the `Child` kills the process, if it still runs.
  Command& KillOnDrop(bool on = true);

  // Makes it a member of a process group; 0: the first one of a group of its
  // own, so that a Ctrl-C at the terminal does not reach it.
  Command& ProcessGroup(pid_t group);

  // Starts it. Blocks until the program has been loaded. The child belongs to
  // `handle`'s reactor or, if unbound, to the one that `reactor::BindHandle()`
  // finds.
  //
  //   NotFound            there is no such program, or directory
  //   PermissionDenied    it may not be run
  //   InvalidArgument     a zero byte, or a key that is empty or has a "="
  //   FailedPrecondition  a part of a path is no directory, the program is open
  //                       for writing (ETXTBSY), or a descriptor is not open
  //   ResourceExhausted   out of descriptors or memory
  //   Unavailable         there can be no more processes (EAGAIN), or the
  //                       reactor has been shut down
  //   Unimplemented       the kernel has no pidfd_open (before Linux 5.3)
  //   Aborted             it has run, but somebody else was told of its end:
  //                       this program ignores SIGCHLD, or waits for any child
  //
  // and what is documented at `reactor::Registration::Create()`. On failure no
  // process is left, and no descriptor. Nothing has run then, but where the
  // answer is Aborted or Unimplemented, or where, between the start and the
  // registration of the child, the reactor was shut down or somebody else took
  // the last descriptor: then it is killed, however far it has come.
  absl::StatusOr<Child> Spawn(
      const reactor::Handle& handle = reactor::Handle()) const;

  // Starts it, when the coroutine is polled first, and waits for its end.
  // Destroying the coroutine destroys the `Child`. Pipes are closed at once:
  // what is `Piped()` reads nothing, and cannot be written to (`Output()` gives
  // what is written).
  Co<absl::StatusOr<ExitStatus>> Run(
      reactor::Handle handle = reactor::Handle()) const;

  // The same, and gives what it writes to its standard output and error. If
  // nothing was said of them, these are piped, and the input is null.
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
  // Of a variable that is removed, nothing.
  std::map<std::string, std::optional<std::string>> env_;
  std::optional<std::string> directory_;
  std::optional<Stdio> stdio_[3];
  bool kill_on_drop_ = false;
  std::optional<pid_t> group_;
};

}  // namespace rouse

#endif  // ROUSE_PROCESS_COMMAND_H_

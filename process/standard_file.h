// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: standard_file.h
// -----------------------------------------------------------------------------
//
// For use in process/ only: the system calls on a standard stream of this
// process, such as a terminal, a pipe, a socket or a file.
//
// A standard stream's open file is shared with the parent of the process, and
// often with many other processes: with the shell, and with the other commands
// of a pipeline. O_NONBLOCK belongs to the open file, so setting O_NONBLOCK
// would make reads and writes of these processes fail with EAGAIN, even after
// this process has ended. A `StandardFile` therefore never sets the flag, and
// makes calls that do not block in another way, which depends on the kind of
// file:
//
//   socket           each call has the flag MSG_DONTWAIT;
//   pipe, terminal   a second open file of the same pipe or terminal, opened by
//                    way of /proc/self/fd, has O_NONBLOCK;
//   others           calls block.
//
// A second open file cannot be had if /proc is not mounted, or if the pipe or
// terminal belongs to another user, as after a change of the user. Calls then
// block.

#ifndef ROUSE_PROCESS_STANDARD_FILE_H_
#define ROUSE_PROCESS_STANDARD_FILE_H_

#include <sys/types.h>

#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::internal {

// StandardFile
//
// Owns descriptors of its own, closed on exec, so that closing or replacing the
// descriptor of the standard stream does no harm. Const members are
// thread-safe. Functions that return `ssize_t` return the result of the system
// call, and set `errno`.
class StandardFile {
 public:
  // Opens the stream with the descriptor `fd` for `mode`, O_RDONLY or O_WRONLY.
  // `name` is for messages, such as "standard input". Returns
  // FailedPrecondition if `fd` is not open, or not open for `mode`, and
  // ResourceExhausted if out of descriptors or memory.
  static absl::StatusOr<StandardFile> Open(int fd, int mode,
                                           std::string_view name);

  // Returns a descriptor of the stream's own open file, whose events say when a
  // call is worthwhile.
  int fd() const { return shared_.get(); }

  // Returns whether `Read()` and `Write()` wait, rather than fail with EAGAIN.
  bool Blocks() const { return kind_ != Kind::kSocket && !own_.IsValid(); }
  // Returns whether the stream is a file on a disk, where no call waits
  // forever.
  bool IsRegular() const { return kind_ == Kind::kRegular; }

  ssize_t Read(absl::Span<char> buffer) const;
  // Like `Read()`, but fails with EAGAIN if nothing can be read now, unless
  // another process takes the bytes in between.
  ssize_t ReadIfReady(absl::Span<char> buffer) const;
  // Writes the first parts that fit into a single call. EPIPE comes without
  // SIGPIPE.
  ssize_t Write(absl::Span<const std::string_view> parts) const;
  // Writes all of `data`, and blocks meanwhile. Returns 0 or the error.
  int WriteAll(std::string_view data) const;

 private:
  enum class Kind { kSocket, kRegular, kOther };

  StandardFile(OwnedFd shared, Kind kind)
      : shared_(std::move(shared)), kind_(kind) {}

  // Returns the descriptor for calls.
  int call_fd() const { return own_.IsValid() ? own_.get() : shared_.get(); }

  OwnedFd shared_;  // the stream's open file
  OwnedFd own_;     // another open file with O_NONBLOCK, or invalid
  Kind kind_;
};

}  // namespace rouse::internal

#endif  // ROUSE_PROCESS_STANDARD_FILE_H_

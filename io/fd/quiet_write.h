// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: quiet_write.h
// -----------------------------------------------------------------------------
//
// For net/ and process/ themselves: writing to a pipe without SIGPIPE. A socket
// has MSG_NOSIGNAL for that; a pipe has RWF_NOSIGNAL from Linux 6.18 on.

#ifndef ROUSE_IO_FD_QUIET_WRITE_H_
#define ROUSE_IO_FD_QUIET_WRITE_H_

#include <sys/types.h>

#include <string_view>

#include "absl/types/span.h"

namespace rouse::internal {

// QuietWrite()
//
// Writes the first parts that fit into one call, as writev(2) does, and returns
// what that returns. A write that fails with EPIPE raises no signal: whatever
// the program does about SIGPIPE, and whether one is pending, stays as it is.
//
// Thread-safe. Makes one system call where the kernel knows RWF_NOSIGNAL. Else
// as `QuietWriteWithMask()`.
ssize_t QuietWrite(int fd, absl::Span<const std::string_view> parts);

// QuietWriteWithMask()
//
// Does what `QuietWrite()` does on any kernel. Blocks the signal meanwhile:
// makes three system calls, or four if the thread has the signal blocked
// already.
ssize_t QuietWriteWithMask(int fd, absl::Span<const std::string_view> parts);

}  // namespace rouse::internal

#endif  // ROUSE_IO_FD_QUIET_WRITE_H_

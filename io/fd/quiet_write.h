// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: quiet_write.h
// -----------------------------------------------------------------------------
//
// Internal to net/ and process/: writes to a pipe without SIGPIPE. Sockets have
// MSG_NOSIGNAL for the purpose; pipes have RWF_NOSIGNAL from Linux 6.18 on.

#ifndef ROUSE_IO_FD_QUIET_WRITE_H_
#define ROUSE_IO_FD_QUIET_WRITE_H_

#include "rouse/base/cxx20.h"

#include <sys/types.h>

#include <string_view>

#include "absl/types/span.h"

namespace rouse::internal {

// QuietWrite()
//
// Writes the first parts that fit into a single call, as writev(2) does, and
// returns the result of writev(2). A write that fails with EPIPE raises no
// signal: the program's handling of SIGPIPE, and a pending SIGPIPE, stay
// unchanged.
//
// Thread-safe. Makes a single system call if the kernel supports RWF_NOSIGNAL.
// Otherwise works like `QuietWriteWithMask()`.
ssize_t QuietWrite(int fd, absl::Span<const std::string_view> parts);

// QuietWriteWithMask()
//
// Writes like `QuietWrite()`, on any kernel. Blocks the signal during the
// write: makes three system calls, or four if the thread has already blocked
// the signal.
ssize_t QuietWriteWithMask(int fd, absl::Span<const std::string_view> parts);

}  // namespace rouse::internal

#endif  // ROUSE_IO_FD_QUIET_WRITE_H_

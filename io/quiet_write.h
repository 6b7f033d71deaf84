// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: quiet_write.h
// -----------------------------------------------------------------------------
//
// For net/ and process/ themselves: writing to a pipe without SIGPIPE. For a
// socket there is MSG_NOSIGNAL; a pipe has no flag that says so.

#ifndef ROUSE_IO_QUIET_WRITE_H_
#define ROUSE_IO_QUIET_WRITE_H_

#include <sys/types.h>

#include <string_view>

#include "absl/types/span.h"

namespace rouse::internal {

// QuietWrite()
//
// As writev(2) of the first parts that fit into one call. Where it fails with
// EPIPE the signal that goes with it does not come: whatever the program does
// about SIGPIPE, it finds it as it was, ignored, blocked, pending or not.
// Thread-safe. Makes two more system calls, three if the thread has the signal
// blocked.
ssize_t QuietWrite(int fd, absl::Span<const std::string_view> parts);

}  // namespace rouse::internal

#endif  // ROUSE_IO_QUIET_WRITE_H_

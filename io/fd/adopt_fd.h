// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: adopt_fd.h
// -----------------------------------------------------------------------------
//
// For net/ and process/ themselves: what a descriptor needs that others have
// opened.

#ifndef ROUSE_IO_FD_ADOPT_FD_H_
#define ROUSE_IO_FD_ADOPT_FD_H_

#include "absl/status/status.h"

namespace rouse::internal {

// AdoptFd()
//
// Makes the descriptor closed on exec, and its open file non-blocking, which
// whoever shares that sees too. FailedPrecondition if it is not open.
absl::Status AdoptFd(int fd);

// MakeBlocking()
//
// Makes the descriptor's open file blocking, for everyone that shares it.
// FailedPrecondition if the descriptor is not open.
absl::Status MakeBlocking(int fd);

}  // namespace rouse::internal

#endif  // ROUSE_IO_FD_ADOPT_FD_H_

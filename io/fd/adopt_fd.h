// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: adopt_fd.h
// -----------------------------------------------------------------------------
//
// Internal to net/ and process/: prepares descriptors that were opened
// elsewhere.

#ifndef ROUSE_IO_FD_ADOPT_FD_H_
#define ROUSE_IO_FD_ADOPT_FD_H_

#include "rouse/base/cxx20.h"

#include "absl/status/status.h"

namespace rouse::internal {

// AdoptFd()
//
// Sets the descriptor to be closed on exec, and makes its open file
// non-blocking; all other owners of the open file see the change.
// FailedPrecondition if the descriptor is not open.
absl::Status AdoptFd(int fd);

// MakeBlocking()
//
// Makes the descriptor's open file blocking, for all owners of the open file.
// FailedPrecondition if the descriptor is not open.
absl::Status MakeBlocking(int fd);

}  // namespace rouse::internal

#endif  // ROUSE_IO_FD_ADOPT_FD_H_

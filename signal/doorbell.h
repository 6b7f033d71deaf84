// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: doorbell.h
// -----------------------------------------------------------------------------
//
// For signal/ itself: between a signal handler, which may do next to nothing,
// and those who listen. There is one for each number, for the whole process.

#ifndef ROUSE_SIGNAL_DOORBELL_H_
#define ROUSE_SIGNAL_DOORBELL_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::internal {

// Installs the handler for signals of `number`, if it is not there yet, and
// gives a descriptor that becomes readable, as an edge, after each signal that
// is counted from then on. Nobody reads it. Errors as at `Signal::Create()`.
absl::StatusOr<OwnedFd> ListenTo(int number);

// How many signals of `number` there have been since the handler was installed.
// What is counted was counted before its edge.
uint64_t CountOf(int number);

}  // namespace rouse::internal

#endif  // ROUSE_SIGNAL_DOORBELL_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: signal_handler.h
// -----------------------------------------------------------------------------
//
// For signal/ itself: between a signal handler, which may do next to nothing,
// and those who listen. There is one for each number, for the whole process.

#ifndef ROUSE_SIGNAL_SIGNAL_HANDLER_H_
#define ROUSE_SIGNAL_SIGNAL_HANDLER_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::internal {

// Gives `join` a descriptor that becomes readable, as an edge, after each
// signal of `number` that is counted from then on; nobody reads it. Then
// installs the handler, if it is not there yet. Errors as at
// `Signal::Create()`, or those of `join`, which is called at most once and must
// not listen to anything itself; on failure the handler has not been installed,
// and `join`'s caller undoes what that has done.
absl::Status ListenTo(int number,
                      absl::FunctionRef<absl::Status(OwnedFd)> join);

// How many signals of `number` there have been since the handler was installed.
// What is counted was counted before its edge.
uint64_t CountOf(int number);

}  // namespace rouse::internal

#endif  // ROUSE_SIGNAL_SIGNAL_HANDLER_H_

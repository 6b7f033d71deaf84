// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: signal_handler.h
// -----------------------------------------------------------------------------
//
// Internal to signal/: connects signal handlers, which can do almost nothing,
// with their listeners. Each signal number has a single handler for the whole
// process.

#ifndef ROUSE_SIGNAL_SIGNAL_HANDLER_H_
#define ROUSE_SIGNAL_SIGNAL_HANDLER_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::internal {

// Passes `join` a descriptor that becomes readable, as an edge, after each
// signal `number` counted from then on; nobody reads from the descriptor. Then
// installs the handler, if it is not installed yet.
//
// Errors are those of `Signal::Create()`, or those of `join`. `join` is called
// without a lock, and a second time if two threads listen at once: the second
// call must undo the effects of the first. On failure the handler has not been
// installed, and the caller must undo the effects of `join`.
absl::Status ListenTo(int number,
                      absl::FunctionRef<absl::Status(OwnedFd)> join);

// Returns how many signals `number` have arrived since the handler was
// installed. A signal is counted before its edge.
uint64_t CountOf(int number);

}  // namespace rouse::internal

#endif  // ROUSE_SIGNAL_SIGNAL_HANDLER_H_

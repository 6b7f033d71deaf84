// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: is_due.h
// -----------------------------------------------------------------------------
//
// For timer/: whether a deadline has come.

#ifndef ROUSE_TIMER_IS_DUE_H_
#define ROUSE_TIMER_IS_DUE_H_

#include "rouse/timer/instant.h"

namespace rouse::internal {

// IsDue()
//
// Returns whether `deadline` has come. `Instant::Max()` never comes, even on a
// clock that was moved there: a waiter with this deadline only waits for the
// driver to shut down.
constexpr bool IsDue(Instant deadline, Instant now) {
  return deadline <= now && deadline != Instant::Max();
}

}  // namespace rouse::internal

#endif  // ROUSE_TIMER_IS_DUE_H_

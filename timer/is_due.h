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
// `Instant::Max()` is never, also on a clock that was moved there: who waits
// until then only wants to hear that the driver has gone.
constexpr bool IsDue(Instant deadline, Instant now) {
  return deadline <= now && deadline != Instant::Max();
}

}  // namespace rouse::internal

#endif  // ROUSE_TIMER_IS_DUE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: next_tick.h
// -----------------------------------------------------------------------------
//
// For timer/: computes the next tick of an interval that skips the ticks that
// it has missed.
//
//   // At 35, of ticks every 10 from 0: 40.
//   Instant next = NextTick(last, clock.Now(), period);

#ifndef ROUSE_TIMER_NEXT_TICK_H_
#define ROUSE_TIMER_NEXT_TICK_H_

#include <cstdint>

#include "rouse/timer/instant.h"

namespace rouse::internal {

// NextTick()
//
// Returns the first instant after `now` that is a whole number of periods after
// `last`. The result is after `last` even if `now` is before `last`. Returns
// `Instant::Max()` if the result would lie beyond the end of the clock.
//
// The period must be at least a nanosecond. O(1), however many ticks were
// missed.
constexpr Instant NextTick(Instant last, Instant now,
                           int64_t period_nanoseconds) {
  const Instant next = last.PlusNanoseconds(period_nanoseconds);
  if (next > now) return next;
  // Unsigned, because the two can be as far apart as the clock reaches.
  const uint64_t since_last = static_cast<uint64_t>(now.nanoseconds()) -
                              static_cast<uint64_t>(last.nanoseconds());
  const auto since_tick = static_cast<int64_t>(
      since_last % static_cast<uint64_t>(period_nanoseconds));
  return now.PlusNanoseconds(period_nanoseconds - since_tick);
}

}  // namespace rouse::internal

#endif  // ROUSE_TIMER_NEXT_TICK_H_

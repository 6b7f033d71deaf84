// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ticks.h
// -----------------------------------------------------------------------------
//
// For timer/ itself: `Ticks` turns the instants of a clock into the ticks of a
// wheel, and back.

#ifndef ROUSE_TIMER_WHEEL_TICKS_H_
#define ROUSE_TIMER_WHEEL_TICKS_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/wheel.h"

namespace rouse::wheel::internal {

// Ticks
//
// Ticks are counted from the clock's origin: all drivers of a clock tick
// together. Instants before the origin count as the origin.
class Ticks {
 public:
  // REQUIRES: `resolution` > 0, in nanoseconds.
  explicit Ticks(int64_t resolution)
      : resolution_(static_cast<uint64_t>(resolution)) {}

  int64_t resolution() const { return static_cast<int64_t>(resolution_); }

  // Returns the first tick that begins at or after `t`. An entry due at this
  // tick is not early. Returns `Wheel::kNever` if the tick would begin after
  // `Instant::Max()`, or if `t` is `Instant::Max()`.
  uint64_t AtOrAfter(Instant t) const {
    if (t == Instant::Max()) return Wheel::kNever;
    const uint64_t nanoseconds = Nanoseconds(t);
    const uint64_t tick =
        nanoseconds / resolution_ + (nanoseconds % resolution_ != 0);
    return tick <= At(Instant::Max()) ? tick : Wheel::kNever;
  }

  // Returns the tick that has begun at `t`.
  uint64_t At(Instant t) const { return Nanoseconds(t) / resolution_; }

  // Returns the beginning of `tick`. REQUIRES: `tick` is the tick of some
  // instant before `Instant::Max()`, so that the product fits in 64 bits.
  Instant StartOf(uint64_t tick) const {
    constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
    return Instant::FromNanoseconds(
        static_cast<int64_t>(std::min(tick * resolution_, kMax)));
  }

 private:
  static uint64_t Nanoseconds(Instant t) {
    return static_cast<uint64_t>(std::max(t, Instant()).nanoseconds());
  }

  uint64_t resolution_;
};

}  // namespace rouse::wheel::internal

#endif  // ROUSE_TIMER_WHEEL_TICKS_H_

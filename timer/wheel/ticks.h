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
// Counted from the clock's origin, so that all drivers of a clock tick
// together. Instants before it are as long past as the origin itself.
class Ticks {
 public:
  // REQUIRES: `resolution` > 0, in nanoseconds.
  explicit Ticks(int64_t resolution)
      : resolution_(static_cast<uint64_t>(resolution)) {}

  int64_t resolution() const { return static_cast<int64_t>(resolution_); }

  // The first tick that begins at or after `t`: what is due then is not early.
  // Where that would be after `Instant::Max()`, and for that itself, none.
  uint64_t AtOrAfter(Instant t) const {
    if (t == Instant::Max()) return Wheel::kNever;
    const uint64_t nanoseconds = Nanoseconds(t);
    const uint64_t tick =
        nanoseconds / resolution_ + (nanoseconds % resolution_ != 0);
    return tick <= At(Instant::Max()) ? tick : Wheel::kNever;
  }

  // The tick that has begun at `t`.
  uint64_t At(Instant t) const { return Nanoseconds(t) / resolution_; }

  // REQUIRES: `tick` is one that some instant before the last has, so that 64
  // bits hold the product.
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

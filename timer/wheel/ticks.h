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
#include <bit>
#include <cstdint>
#include <limits>

#include "absl/numeric/int128.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/entry.h"
#include "rouse/timer/wheel/wheel.h"

namespace rouse::wheel::internal {

// Ticks
//
// Ticks are counted from the clock's origin: all drivers of a clock tick
// together. Instants before the origin count as the origin.
class Ticks {
 public:
  // Shortest tick, in nanoseconds, with which all instants have ticks before
  // `Wheel::kNever`.
  static constexpr int64_t kFinest =
      (std::numeric_limits<int64_t>::max() >> Entry::kTickBits) + 2;

  // REQUIRES: `resolution` >= `kFinest`, in nanoseconds.
  explicit Ticks(int64_t resolution)
      : resolution_(static_cast<uint64_t>(resolution)),
        shift_(std::bit_width(resolution_ - 1) - 1),
        // 2^(64 + shift), divided by the resolution and rounded up.
        factor_(static_cast<uint64_t>(
            ((absl::uint128(1) << (64 + shift_)) + (resolution_ - 1)) /
            resolution_)),
        last_(At(Instant::Max())) {}

  int64_t resolution() const { return static_cast<int64_t>(resolution_); }

  // Returns the first tick that begins at or after `t`. An entry due at this
  // tick is not early. Returns `Wheel::kNever` if the tick would begin after
  // `Instant::Max()`, or if `t` is `Instant::Max()`.
  uint64_t AtOrAfter(Instant t) const {
    const uint64_t nanoseconds = Nanoseconds(t);
    uint64_t tick = Divide(nanoseconds);
    if (tick * resolution_ != nanoseconds) ++tick;
    if (tick > last_ || t == Instant::Max()) return Wheel::kNever;
    return tick;
  }

  // Returns the tick that has begun at `t`.
  uint64_t At(Instant t) const { return Divide(Nanoseconds(t)); }

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

  // Divides `n` by the resolution, with a multiplication, because a division
  // takes several times as long (Granlund and Montgomery, "Division by
  // invariant integers using multiplication", 1994). Exact: the factor is too
  // large by less than 1, so the product is too large by less than 2^63, and
  // the quotient by less than 2^63 / 2^(64 + shift), which is at most 1 /
  // resolution. REQUIRES: `n` < 2^63.
  uint64_t Divide(uint64_t n) const {
    return absl::Uint128High64(absl::uint128(n) * factor_) >> shift_;
  }

  uint64_t resolution_;
  int shift_;
  uint64_t factor_;
  uint64_t last_;
};

}  // namespace rouse::wheel::internal

#endif  // ROUSE_TIMER_WHEEL_TICKS_H_

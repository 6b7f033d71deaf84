// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: paused_clock.h
// -----------------------------------------------------------------------------
//
// A clock that stands still, for tests of drivers and timers without a runtime.
//
//   wheel::Driver driver({.clock = PausedClock()});

#ifndef ROUSE_TESTING_PAUSED_CLOCK_H_
#define ROUSE_TESTING_PAUSED_CLOCK_H_

#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"

namespace rouse {

// PausedClock()
//
// Returns a paused clock, which only the test moves. The clock starts where a
// round of every level of the wheel begins, at ticks of a millisecond. The
// times at which a driver wakes on the way to a deadline therefore do not
// depend on how long the machine has been up.
inline std::shared_ptr<Clock> PausedClock() {
  auto clock = std::make_shared<Clock>();
  clock->Pause();
  constexpr absl::Duration kRound = absl::Milliseconds(int64_t{1} << 36);
  clock->AdvanceTo(Instant() + absl::Ceil(clock->Now() - Instant(), kRound));
  return clock;
}

}  // namespace rouse

#endif  // ROUSE_TESTING_PAUSED_CLOCK_H_

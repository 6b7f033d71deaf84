// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: paused_clock.h
// -----------------------------------------------------------------------------
//
// For the tests of this folder and those below.

#ifndef ROUSE_TIMER_PAUSED_CLOCK_H_
#define ROUSE_TIMER_PAUSED_CLOCK_H_

#include <memory>

#include "rouse/timer/clock.h"

namespace rouse {

// A clock that stands, and is moved by the test alone.
inline std::shared_ptr<Clock> PausedClock() {
  auto clock = std::make_shared<Clock>();
  clock->Pause();
  return clock;
}

}  // namespace rouse

#endif  // ROUSE_TIMER_PAUSED_CLOCK_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests the hold of a clock when memory is lacking.

#include <memory>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/runtime/main_clock_hold.h"
#include "rouse/testing/failing_allocations.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"

#ifdef ROUSE_CAN_FAIL_ALLOCATIONS

namespace rouse::internal {
namespace {

// Moves the clock by an hour, as a driver does, if nothing holds the clock.
// Returns whether the clock was moved.
bool AutoAdvance(Clock& clock) {
  const Instant next = clock.Now() + absl::Hours(1);
  clock.EndCheck(clock.BeginCheck());
  static_cast<void>(clock.AutoAdvanceTo(next));
  return clock.Now() == next;
}

// Otherwise the thread that was woken would not be unparked.
TEST(MainClockHoldMemory, AWakeAndAPollNeedNone) {
  const std::shared_ptr<Clock> clock = PausedClock();
  clock->SetAutoAdvance(true);
  const std::shared_ptr<MainClockHold> held =
      MainClockHold::For(nullptr, *clock);
  ASSERT_NE(held, nullptr);
  EXPECT_TRUE(AutoAdvance(*clock));
  {
    const FailingAllocation failing(0);
    held->OnWake();
    EXPECT_FALSE(AutoAdvance(*clock));
    {
      const MainClockHold::Hold hold = held->BeginPoll();
      EXPECT_FALSE(AutoAdvance(*clock));
    }
    EXPECT_TRUE(AutoAdvance(*clock));
    EXPECT_FALSE(failing.has_failed());
  }
  held->OnWake();
  held->End();
  held->OnWake();
  EXPECT_TRUE(AutoAdvance(*clock));
}

}  // namespace
}  // namespace rouse::internal

#endif  // ROUSE_CAN_FAIL_ALLOCATIONS

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/wheel/ticks.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/wheel.h"

namespace rouse::wheel::internal {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

TEST(TicksTest, ATickIsReachedWhenItBegins) {
  const Ticks ticks(kMillisecond);
  const Instant begin = Instant::FromNanoseconds(3 * kMillisecond);
  const Instant later = Instant::FromNanoseconds(3 * kMillisecond + 1);
  EXPECT_EQ(ticks.At(begin), 3u);
  EXPECT_EQ(ticks.AtOrAfter(begin), 3u);
  EXPECT_EQ(ticks.At(later), 3u);
  EXPECT_EQ(ticks.AtOrAfter(later), 4u);
  EXPECT_EQ(ticks.StartOf(3), begin);
}

TEST(TicksTest, ALongPastDeadlineIsDueAtOnce) {
  const Ticks ticks(kMillisecond);
  EXPECT_EQ(ticks.At(Instant::FromNanoseconds(-1)), 0u);
  EXPECT_EQ(ticks.AtOrAfter(Instant::FromNanoseconds(-1)), 0u);
}

// An entry for a tick that no clock can show would never come due, and at the
// end of the clock the driver would not block.
TEST(TicksTest, TheClockReachesTheLastTick) {
  for (const int64_t resolution : {int64_t{1}, int64_t{1000}, kMillisecond}) {
    const Ticks ticks(resolution);
    const uint64_t last = ticks.At(Instant::Max());
    EXPECT_EQ(ticks.AtOrAfter(ticks.StartOf(last)),
              ticks.StartOf(last) == Instant::Max() ? Wheel::kNever : last);
    const Instant before =
        Instant::FromNanoseconds(Instant::Max().nanoseconds() - 1);
    EXPECT_EQ(ticks.AtOrAfter(before),
              resolution == 1 ? last - 1 : Wheel::kNever);
    EXPECT_EQ(ticks.AtOrAfter(Instant::Max()), Wheel::kNever);
  }
}

}  // namespace
}  // namespace rouse::wheel::internal

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/wheel/ticks.h"

#include <cstdint>
#include <limits>

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

// The quotient is exact although it comes from a multiplication.
TEST(TicksTest, ATickIsTheQuotient) {
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  for (const int64_t resolution :
       {Ticks::kFinest, int64_t{64'000}, int64_t{65'535}, int64_t{65'536},
        int64_t{65'537}, int64_t{999'999}, kMillisecond, int64_t{1} << 29,
        int64_t{1'000'000'000}}) {
    SCOPED_TRACE(resolution);
    const Ticks ticks(resolution);
    const auto check = [&](uint64_t nanoseconds) {
      const Instant t =
          Instant::FromNanoseconds(static_cast<int64_t>(nanoseconds));
      ASSERT_EQ(ticks.At(t), nanoseconds / resolution) << nanoseconds;
    };
    // The quotients that are nearest to the next quotient.
    for (uint64_t tick = 1; tick <= kMax / resolution; tick += 1 + tick / 7) {
      check(tick * resolution - 1);
      check(tick * resolution);
    }
    check(kMax / resolution * resolution - 1);
    check(kMax / resolution * resolution);
    check(kMax);
  }
}

// An entry for a tick that no clock can show would never come due, and at the
// end of the clock the driver would not block.
TEST(TicksTest, TheClockReachesTheLastTick) {
  for (const int64_t resolution : {Ticks::kFinest, kMillisecond}) {
    const Ticks ticks(resolution);
    const uint64_t last = ticks.At(Instant::Max());
    EXPECT_LT(last, Wheel::kNever);
    EXPECT_EQ(ticks.AtOrAfter(ticks.StartOf(last)), last);
    const Instant before =
        Instant::FromNanoseconds(Instant::Max().nanoseconds() - 1);
    EXPECT_EQ(ticks.AtOrAfter(before), Wheel::kNever);
    EXPECT_EQ(ticks.AtOrAfter(Instant::Max()), Wheel::kNever);
  }
}

}  // namespace
}  // namespace rouse::wheel::internal

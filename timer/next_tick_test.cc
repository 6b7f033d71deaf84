// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/next_tick.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"
#include "rouse/timer/instant.h"

namespace rouse::internal {
namespace {

constexpr int64_t kMaxNanoseconds = std::numeric_limits<int64_t>::max();
constexpr int64_t kMinNanoseconds = std::numeric_limits<int64_t>::min();

constexpr Instant At(int64_t nanoseconds) {
  return Instant::FromNanoseconds(nanoseconds);
}

// The seed's tests of `next_interval`: norm, fast_forward.
TEST(NextTick, IsAPeriodLaterOrTheFirstMultipleAfterNow) {
  EXPECT_EQ(NextTick(At(1), At(1), 10), At(11));
  EXPECT_EQ(NextTick(At(7), At(10), 10), At(17));
  EXPECT_EQ(NextTick(At(1), At(11), 10), At(21));
  EXPECT_EQ(NextTick(At(1), At(1000), 10), At(1001));
  EXPECT_EQ(NextTick(At(1), At(1001), 10), At(1011));
  // A tick that is taken before its time, by another clock.
  EXPECT_EQ(NextTick(At(20), At(15), 10), At(30));
}

TEST(NextTick, IsAfterNowByAtMostAPeriod) {
  for (int64_t now = -20; now <= 20; ++now) {
    for (int64_t period = 1; period <= 7; ++period) {
      const int64_t next = NextTick(At(-20), At(now), period).nanoseconds();
      EXPECT_GT(next, now);
      EXPECT_LE(next, now + period);
      EXPECT_EQ((next + 20) % period, 0) << now << " " << period;
    }
  }
}

// Defect 4 of the seed: the seed panics after more than 2^32 missed ticks. (Its
// test large_skip expects the panic.)
TEST(NextTick, Defect4AnyNumberOfTicksCanBeMissed) {
  const int64_t now = int64_t{1} << 40;
  EXPECT_EQ(NextTick(At(0), At(now), 1), At(now + 1));
  EXPECT_EQ(NextTick(At(0), At(now), 2), At(now + 2));
  EXPECT_EQ(NextTick(At(1), At(now), 2), At(now + 1));
}

TEST(NextTick, TheDistanceCanSpanTheWholeClock) {
  EXPECT_EQ(NextTick(At(kMinNanoseconds), At(0), 4), At(4));
  EXPECT_EQ(NextTick(At(kMinNanoseconds), At(kMaxNanoseconds - 1), 1),
            Instant::Max());
  // 2^64 - 2 nanoseconds, two more than a multiple of four.
  EXPECT_EQ(NextTick(At(kMinNanoseconds), At(kMaxNanoseconds - 1), 4),
            Instant::Max());
  EXPECT_EQ(NextTick(At(kMinNanoseconds), At(kMaxNanoseconds - 4), 4),
            At(kMaxNanoseconds - 3));
  EXPECT_EQ(NextTick(At(kMinNanoseconds), At(0), kMaxNanoseconds),
            At(kMaxNanoseconds - 1));
}

// Defect 4 of the seed: the sum overflows.
TEST(NextTick, Defect4SaturatesAtTheEndOfTheClock) {
  EXPECT_EQ(NextTick(At(5), At(10), kMaxNanoseconds), Instant::Max());
  EXPECT_EQ(NextTick(At(kMaxNanoseconds - 5), At(kMaxNanoseconds - 2), 4),
            At(kMaxNanoseconds - 1));
  EXPECT_EQ(NextTick(At(kMaxNanoseconds - 5), At(kMaxNanoseconds - 1), 4),
            Instant::Max());
  EXPECT_EQ(NextTick(At(kMaxNanoseconds - 5), At(0), 10), Instant::Max());
}

TEST(NextTick, NoTickExistsAfterTheEndOfTheClock) {
  EXPECT_EQ(NextTick(Instant::Max(), At(0), 1), Instant::Max());
  EXPECT_EQ(NextTick(Instant::Max(), Instant::Max(), 1), Instant::Max());
  EXPECT_EQ(NextTick(At(0), Instant::Max(), 7), Instant::Max());
}

// No clock is needed.
static_assert(NextTick(At(0), At(35), 10) == At(40));

}  // namespace
}  // namespace rouse::internal

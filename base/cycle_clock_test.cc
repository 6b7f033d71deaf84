// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/cycle_clock.h"

#include <chrono>
#include <cstdint>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

TEST(CycleClockTest, NeverGoesBack) {
  uint64_t last = CycleClock::Now();
  for (int i = 0; i < 1'000; ++i) {
    const uint64_t now = CycleClock::Now();
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST(CycleClockTest, AgreesWithTheSystemsClock) {
  using Clock = std::chrono::steady_clock;
  (void)CycleClock::PerNanosecond();
  const Clock::time_point before = Clock::now();
  const uint64_t start = CycleClock::Now();
  const Clock::time_point begin = Clock::now();
  while (Clock::now() - begin < std::chrono::milliseconds(5)) {
  }
  const Clock::time_point end = Clock::now();
  const uint64_t stop = CycleClock::Now();
  const Clock::time_point after = Clock::now();
  const absl::Duration took = CycleClock::ToDuration(stop - start);
  EXPECT_GE(took, absl::FromChrono(end - begin) * 0.9);
  EXPECT_LE(took, absl::FromChrono(after - before) * 1.1);
}

TEST(CycleClockTest, ZeroIsZero) {
  EXPECT_EQ(CycleClock::ToDuration(0), absl::ZeroDuration());
}

}  // namespace
}  // namespace rouse

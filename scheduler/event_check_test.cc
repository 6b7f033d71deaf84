// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/event_check.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace rouse::scheduler {
namespace {

TEST(EventCheckTest, ASingleWorkerChecksAtAnyTime) {
  EXPECT_EQ(EventCheck::Gap(1), absl::ZeroDuration());
  EventCheck check(0);
  check.Count(100);
  EXPECT_TRUE(check.IsTime(100));
}

TEST(EventCheckTest, TheGapGrowsWithTheNumberOfWorkersUpToABound) {
  EXPECT_EQ(EventCheck::Gap(2), absl::Nanoseconds(250));
  EXPECT_EQ(EventCheck::Gap(101), absl::Microseconds(25));
  EXPECT_EQ(EventCheck::Gap(10'000), absl::Microseconds(50));
}

TEST(EventCheckTest, ACheckIsTooEarlyWithinTheGap) {
  EventCheck check(10);
  check.Count(100);
  EXPECT_FALSE(check.IsTime(109));
  EXPECT_TRUE(check.IsTime(110));
}

TEST(EventCheckTest, APeriodicCheckIsDueAfterAnInterval) {
  EventCheck check(0);
  check.Begin(5);
  EXPECT_FALSE(check.IsDue(65, 61));
  EXPECT_EQ(check.PollsLeft(65, 61), 1u);
  EXPECT_TRUE(check.IsDue(66, 61));
  EXPECT_EQ(check.PollsLeft(66, 61), 0u);
}

TEST(EventCheckTest, NumbersChecksWithoutZero) {
  EventCheck check(0);
  EXPECT_EQ(check.number(), 1);
  for (int i = 0; i < 0xffff; ++i) check.Count(0);
  EXPECT_EQ(check.number(), 1);
}

}  // namespace
}  // namespace rouse::scheduler

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/global_queue_check.h"

#include "gtest/gtest.h"
#include "rouse/scheduler/options.h"

namespace rouse::scheduler {
namespace {

GlobalQueueCheck CheckOfFourWorkers() {
  return GlobalQueueCheck({.workers = 4}, /*cycles_per_nanosecond=*/1);
}

TEST(GlobalQueueCheckTest, IsDueAfterAnInterval) {
  GlobalQueueCheck check({.workers = 1}, 1);
  check.Begin(0);
  EXPECT_FALSE(check.IsDue(kSoloGlobalQueueInterval - 1));
  EXPECT_TRUE(check.IsDue(kSoloGlobalQueueInterval));
}

TEST(GlobalQueueCheckTest, IsNotDueRightAfterATaskWasFound) {
  GlobalQueueCheck check = CheckOfFourWorkers();
  check.End(/*found=*/true);
  EXPECT_FALSE(check.IsDue(1'000));
  EXPECT_TRUE(check.IsDue(1'000));
}

TEST(GlobalQueueCheckTest, PassesByAtMostSevenTimesInARow) {
  GlobalQueueCheck check = CheckOfFourWorkers();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 7; ++i) {
      EXPECT_TRUE(check.MayPassBy());
      check.End(/*found=*/false);
    }
    EXPECT_FALSE(check.MayPassBy());
    check.End(/*found=*/round == 1);
  }
}

TEST(GlobalQueueCheckTest, StartsToCountAgainAfterATask) {
  GlobalQueueCheck check = CheckOfFourWorkers();
  for (int i = 0; i < 6; ++i) check.End(/*found=*/false);
  check.End(/*found=*/true);
  check.End(/*found=*/false);
  EXPECT_TRUE(check.MayPassBy());
}

}  // namespace
}  // namespace rouse::scheduler

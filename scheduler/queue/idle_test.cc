// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/queue/idle.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rouse::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kManyWorkers = 2 * Idle::kGroup + 4;

// Returns the workers that are awake, in the order of their visits.
std::vector<size_t> Awake(const Idle& idle, size_t first) {
  std::vector<size_t> awake;
  EXPECT_FALSE(idle.AnyAwake(first, [&awake](size_t worker) {
    awake.push_back(worker);
    return false;
  }));
  return awake;
}

TEST(Idle, WakesNoWorkerWhileAllAreAwake) {
  Idle idle(4);
  EXPECT_EQ(idle.asleep(), 0u);
  EXPECT_EQ(idle.Wake(), std::nullopt);
  EXPECT_EQ(idle.WakeAny(), std::nullopt);
}

TEST(Idle, WakesTheFirstSleepingWorker) {
  Idle idle(4);
  idle.Sleep(3, /*was_searching=*/false);
  idle.Sleep(1, /*was_searching=*/false);
  EXPECT_TRUE(idle.IsAsleep(1));
  EXPECT_EQ(idle.asleep(), 2u);
  EXPECT_EQ(idle.Wake(), 1u);
  EXPECT_FALSE(idle.IsAsleep(1));
  EXPECT_TRUE(idle.IsAsleep(3));
  EXPECT_EQ(idle.asleep(), 1u);
}

// Otherwise each of many tasks would wake a worker.
TEST(Idle, AWokenWorkerSearchesAndNoOtherIsWoken) {
  Idle idle(4);
  idle.Sleep(0, /*was_searching=*/false);
  idle.Sleep(1, /*was_searching=*/false);
  EXPECT_EQ(idle.Wake(), 0u);
  EXPECT_EQ(idle.Wake(), std::nullopt);
  EXPECT_TRUE(idle.EndSearching(0));
  EXPECT_EQ(idle.Wake(), 1u);
}

TEST(Idle, WakeAnyWakesAWorkerAlthoughOneSearches) {
  Idle idle(4);
  idle.Sleep(0, /*was_searching=*/false);
  ASSERT_TRUE(idle.BeginSearching(1));
  EXPECT_EQ(idle.Wake(), std::nullopt);
  EXPECT_EQ(idle.WakeAny(), 0u);
  EXPECT_EQ(idle.WakeAny(), std::nullopt);
}

TEST(Idle, AWorkerLearnsWhetherItWasWoken) {
  Idle idle(2);
  idle.Sleep(0, /*was_searching=*/false);
  EXPECT_FALSE(idle.Awake(0));  // by the driver
  EXPECT_EQ(idle.asleep(), 0u);
  idle.Sleep(0, /*was_searching=*/false);
  ASSERT_EQ(idle.Wake(), 0u);
  EXPECT_TRUE(idle.Awake(0));
  EXPECT_TRUE(idle.EndSearching(0));
}

TEST(Idle, AtMostHalfOfTheWorkersSearch) {
  Idle idle(4);
  EXPECT_TRUE(idle.BeginSearching(0));
  EXPECT_TRUE(idle.BeginSearching(1));
  EXPECT_FALSE(idle.BeginSearching(2));
  idle.EndSearching(0);
  EXPECT_TRUE(idle.BeginSearching(2));
}

TEST(Idle, HalfOfAnOddNumberIsRoundedUp) {
  Idle idle(3);
  EXPECT_TRUE(idle.BeginSearching(0));
  EXPECT_TRUE(idle.BeginSearching(1));
  EXPECT_FALSE(idle.BeginSearching(2));
}

TEST(Idle, AWokenWorkerCountsAsSearching) {
  Idle idle(2);
  idle.Sleep(0, /*was_searching=*/false);
  ASSERT_EQ(idle.Wake(), 0u);
  EXPECT_FALSE(idle.BeginSearching(1));
}

TEST(Idle, TheLastSearchingWorkerMustCheckAgain) {
  Idle idle(4);
  idle.BeginSearching(0);
  idle.BeginSearching(1);
  EXPECT_FALSE(idle.EndSearching(1));
  EXPECT_TRUE(idle.EndSearching(0));
}

TEST(Idle, AWorkerChecksBeforeSleepUnlessOthersSearch) {
  Idle idle(4);
  idle.BeginSearching(0);
  idle.BeginSearching(1);
  EXPECT_FALSE(idle.Sleep(0, /*was_searching=*/true));
  EXPECT_FALSE(idle.Sleep(2, /*was_searching=*/false));
  EXPECT_TRUE(idle.Sleep(1, /*was_searching=*/true));
  EXPECT_TRUE(idle.Sleep(3, /*was_searching=*/false));
  EXPECT_EQ(idle.asleep(), 4u);
}

TEST(Idle, WorkersBeyondOneGroupHaveTheirOwnBits) {
  Idle idle(kManyWorkers);
  const size_t last = kManyWorkers - 1;
  idle.Sleep(last, /*was_searching=*/false);
  idle.Sleep(Idle::kGroup, /*was_searching=*/false);
  EXPECT_EQ(idle.asleep(), 2u);
  EXPECT_FALSE(idle.IsAsleep(0));
  EXPECT_FALSE(idle.IsAsleep(last % Idle::kGroup));
  EXPECT_TRUE(idle.IsAsleep(last));
  EXPECT_EQ(idle.WakeAny(), Idle::kGroup);
  EXPECT_EQ(idle.WakeAny(), last);
  EXPECT_EQ(idle.asleep(), 0u);
}

TEST(Idle, ASearchingWorkerCountsForAllGroups) {
  Idle idle(kManyWorkers);
  idle.Sleep(0, /*was_searching=*/false);
  ASSERT_TRUE(idle.BeginSearching(kManyWorkers - 1));
  EXPECT_EQ(idle.Wake(), std::nullopt);
  EXPECT_TRUE(idle.EndSearching(kManyWorkers - 1));
  EXPECT_EQ(idle.Wake(), 0u);
}

TEST(Idle, AtMostTwoOfManyWorkersBeginToSearch) {
  Idle idle(kManyWorkers);
  size_t searching = 0;
  for (size_t worker = 0; worker < kManyWorkers; ++worker) {
    if (idle.BeginSearching(worker)) ++searching;
  }
  EXPECT_EQ(searching, Idle::kMaxSearching);
}

// The limit counts the workers of all groups. The worker has seen a task.
TEST(Idle, AWorkerThatFindsATaskBeforeItParksSearchesDespiteTheLimit) {
  Idle idle(kManyWorkers);
  ASSERT_TRUE(idle.BeginSearching(Idle::kGroup));
  ASSERT_TRUE(idle.BeginSearching(Idle::kGroup + 1));
  ASSERT_FALSE(idle.BeginSearching(0));
  ASSERT_TRUE(idle.Sleep(0, /*was_searching=*/false));
  ASSERT_FALSE(idle.Awake(0));
  idle.BeginSearchingForTask(0);
  EXPECT_TRUE(idle.EndSearching(0));
}

TEST(Idle, VisitsAwakeWorkersInTheirOrderFromTheFirstOn) {
  Idle idle(4);
  EXPECT_THAT(Awake(idle, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Awake(idle, 2), ElementsAre(2, 3, 0, 1));
  idle.Sleep(3, /*was_searching=*/false);
  idle.Sleep(0, /*was_searching=*/false);
  EXPECT_THAT(Awake(idle, 2), ElementsAre(2, 1));
  idle.Sleep(1, /*was_searching=*/false);
  idle.Sleep(2, /*was_searching=*/false);
  EXPECT_THAT(Awake(idle, 2), IsEmpty());
}

TEST(Idle, VisitsTheAwakeWorkersOfAllGroups) {
  Idle idle(kManyWorkers);
  for (size_t worker = 0; worker < kManyWorkers; ++worker) {
    if (worker % Idle::kGroup != 1) idle.Sleep(worker, false);
  }
  EXPECT_THAT(Awake(idle, Idle::kGroup + 2),
              ElementsAre(2 * Idle::kGroup + 1, 1, Idle::kGroup + 1));
  EXPECT_THAT(Awake(idle, Idle::kGroup + 1),
              ElementsAre(Idle::kGroup + 1, 2 * Idle::kGroup + 1, 1));
}

TEST(Idle, AVisitThatReturnsTrueIsTheLast) {
  const Idle idle(4);
  size_t visits = 0;
  EXPECT_TRUE(idle.AnyAwake(3, [&visits](size_t worker) {
    ++visits;
    return worker == 0;
  }));
  EXPECT_EQ(visits, 2u);
}

}  // namespace
}  // namespace rouse::scheduler

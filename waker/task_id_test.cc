// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/waker/task_id.h"

#include <cstddef>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rouse::task {
namespace {

using ::testing::Optional;

TEST(TaskId, IsZeroOutsideTasks) { EXPECT_EQ(CurrentTaskId(), std::nullopt); }

TEST(TaskId, ScopesNest) {
  {
    const ScopedTaskId outer(1);
    {
      const ScopedTaskId inner(2);
      EXPECT_THAT(CurrentTaskId(), Optional(2u));
    }
    EXPECT_THAT(CurrentTaskId(), Optional(1u));
  }
  EXPECT_EQ(CurrentTaskId(), std::nullopt);
}

TEST(TaskId, AnotherThreadHasItsOwnId) {
  const ScopedTaskId here(1);
  std::optional<TaskId> there = 0;
  std::thread([&there] { there = CurrentTaskId(); }).join();
  EXPECT_EQ(there, std::nullopt);
}

TEST(TaskId, IsUnique) {
  constexpr int kThreads = 4;
  constexpr int kEach = 1000;
  std::vector<std::vector<TaskId>> taken(kThreads);
  std::vector<std::thread> threads;
  for (std::vector<TaskId>& ids : taken) {
    threads.emplace_back([&ids] {
      for (int i = 0; i < kEach; ++i) ids.push_back(NextTaskId());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<TaskId> all;
  for (const std::vector<TaskId>& ids : taken)
    all.insert(ids.begin(), ids.end());
  EXPECT_EQ(all.size(), size_t{kThreads} * kEach);
  EXPECT_FALSE(all.contains(0));
}

}  // namespace
}  // namespace rouse::task

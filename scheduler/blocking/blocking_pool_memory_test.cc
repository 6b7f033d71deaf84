// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A pool while allocations fail.

#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/scheduler/blocking/blocking_pool.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/failing_allocations.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"

#ifdef ROUSE_CAN_FAIL_ALLOCATIONS

namespace rouse::scheduler {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::AnyOf;
using ::testing::HasSubstr;

// A call that holds `witness`.
auto Seven(std::shared_ptr<int> witness) {
  return [witness = std::move(witness)] { return *witness; };
}

TEST(BlockingPoolMemory, ACallWithoutAThreadFailsAndLeavesThePoolUnchanged) {
  const auto witness = std::make_shared<int>(7);
  // The pool holds `witness` too, until it is destroyed.
  const auto create = [&witness] {
    return BlockingPool::Create({.on_thread_start = [witness] {}});
  };
  BlockingPool::Owner pool = create();
  int exhausted = 0;
  const auto spawn = [&] { return pool->Spawn(Seven(witness)); };
  const auto check = [&](std::optional<JoinHandle<int>> handle) {
    if (handle.has_value()) {
      const absl::StatusOr<int> result = BlockOn(*std::move(handle));
      EXPECT_THAT(result, AnyOf(IsOkAndHolds(7),
                                StatusIs(absl::StatusCode::kResourceExhausted,
                                         HasSubstr("out of memory"))));
      exhausted += result.ok() ? 0 : 1;
    }
    EXPECT_EQ(pool->metrics().queue_depth, 0u);
    EXPECT_THAT(BlockOn(pool->SpawnMandatory(Seven(witness))), IsOkAndHolds(7));
    pool.reset();
    EXPECT_EQ(witness.use_count(), 1);
    pool = create();
  };
  EXPECT_GT(FailEachAllocation(spawn, check), 0);
  EXPECT_GT(exhausted, 0);
}

TEST(BlockingPoolMemory, ACallRunsOnAThreadThatWaits) {
  const auto witness = std::make_shared<int>(7);
  const BlockingPool::Owner pool = BlockingPool::Create();
  absl::Notification begun;
  absl::Notification end;
  JoinHandle<void> busy = pool->Spawn([&] {
    begun.Notify();
    end.WaitForNotification();
  });
  begun.WaitForNotification();
  std::vector<JoinHandle<int>> handles;
  const auto spawn = [&] { return pool->Spawn(Seven(witness)); };
  const auto check = [&](std::optional<JoinHandle<int>> handle) {
    if (handle.has_value()) handles.push_back(*std::move(handle));
  };
  EXPECT_GT(FailEachAllocation(spawn, check), 0);
  end.Notify();
  EXPECT_GT(handles.size(), 1u);
  for (JoinHandle<int>& handle : handles) {
    EXPECT_THAT(BlockOn(std::move(handle)), IsOkAndHolds(7));
  }
  EXPECT_THAT(BlockOn(std::move(busy)), IsOk());
}

TEST(BlockingPoolMemory, AClockIsReleasedIfACallCannotBeSpawned) {
  const std::shared_ptr<Clock> clock = PausedClock();
  clock->SetAutoAdvance(true);
  const BlockingPool::Owner pool = BlockingPool::Create(
      {.keep_alive = absl::ZeroDuration(), .clock = clock});
  const auto spawn = [&] { return pool->Spawn([] { return 7; }); };
  const auto check = [&](std::optional<JoinHandle<int>> handle) {
    if (handle.has_value()) {
      EXPECT_THAT(
          BlockOn(*std::move(handle)),
          AnyOf(IsOkAndHolds(7), StatusIs(absl::StatusCode::kResourceExhausted,
                                          HasSubstr("out of memory"))));
    }
    // All work has ended.
    while (pool->metrics().threads != 0) std::this_thread::yield();
    const Instant later = clock->Now() + absl::Hours(1);
    // Like a driver, check for events first.
    clock->EndCheck(clock->BeginCheck());
    (void)clock->AutoAdvanceTo(later);
    EXPECT_EQ(clock->Now(), later);
  };
  EXPECT_GT(FailEachAllocation(spawn, check), 0);
}

}  // namespace
}  // namespace rouse::scheduler

#endif

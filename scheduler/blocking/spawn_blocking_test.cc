// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/blocking/spawn_blocking.h"

#include "absl/status/status_matchers.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/scheduler/blocking/blocking_pool.h"
#include "rouse/testing/expect_panic.h"

namespace rouse::scheduler {
namespace {

using ::absl_testing::IsOkAndHolds;

TEST(SpawnBlocking, UsesTheCurrentPool) {
  const BlockingPool::Owner pool =
      BlockingPool::Create({.keep_alive = absl::InfiniteDuration()});
  const ScopedBlockingPool current(*pool);
  EXPECT_THAT(BlockOn(SpawnBlocking([] { return 7; })), IsOkAndHolds(7));
  EXPECT_EQ(pool->metrics().threads, 1u);
}

TEST(SpawnBlocking, GuardsNest) {
  const BlockingPool::Owner outer = BlockingPool::Create();
  const BlockingPool::Owner inner = BlockingPool::Create();
  EXPECT_EQ(CurrentBlockingPool(), nullptr);
  {
    const ScopedBlockingPool outer_guard(*outer);
    {
      const ScopedBlockingPool inner_guard(*inner);
      EXPECT_EQ(CurrentBlockingPool(), inner.get());
    }
    EXPECT_EQ(CurrentBlockingPool(), outer.get());
  }
  EXPECT_EQ(CurrentBlockingPool(), nullptr);
}

TEST(SpawnBlocking, WithoutAPoolPanics) {
  EXPECT_PANIC(SpawnBlocking([] {}),
               "SpawnBlocking: this thread has no runtime");
}

}  // namespace
}  // namespace rouse::scheduler

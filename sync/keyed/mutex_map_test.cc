// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/keyed/mutex_map.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/block_on.h"
#include "rouse/future/future.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/stress_seed.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using Map = MutexMap<std::string>;

static_assert(Future<Map::LockFuture>);

TEST(MutexMap, LocksEachKeyByItself) {
  Map map;
  Map::Guard a = map.BlockingLock("a");
  EXPECT_EQ(a.key(), "a");
  EXPECT_FALSE(map.TryLock("a").has_value());
  std::optional<Map::Guard> b = map.TryLock("b");
  ASSERT_TRUE(b.has_value());
  EXPECT_EQ(map.size(), 2u);
}

TEST(MutexMap, AKeyVanishesWhenItIsUnused) {
  Map map;
  {
    const Map::Guard guard = map.BlockingLock("a");
    EXPECT_FALSE(map.TryLock("a").has_value());
    EXPECT_EQ(map.size(), 1u);
  }
  EXPECT_EQ(map.size(), 0u);
  {
    auto lock = map.Lock("a");
    EXPECT_EQ(map.size(), 1u) << "not polled";
  }
  EXPECT_EQ(map.size(), 0u);
}

TEST(MutexMap, ServesWaitersInTheOrderOfTheirFirstPolls) {
  Map map;
  std::optional<Map::Guard> guard(map.BlockingLock("a"));
  CountingWaker first_task, second_task;
  auto second = map.Lock("a");
  auto first = map.Lock("a");
  EXPECT_TRUE(PollOnce(first, first_task.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(second, second_task.NewWaker()).IsPending());
  guard.reset();
  EXPECT_EQ(first_task.wakes(), 1);
  EXPECT_EQ(second_task.wakes(), 0);
  EXPECT_TRUE(PollOnce(second).IsPending());
  guard.emplace(*PollOnce(first));
  EXPECT_FALSE(map.TryLock("a").has_value()) << "somebody waits";
  guard.reset();
  EXPECT_TRUE(PollOnce(second).IsReady());
  EXPECT_EQ(map.size(), 0u);
}

TEST(MutexMap, ACancelledLockGivesUpItsPlace) {
  Map map;
  std::optional<Map::Guard> guard(map.BlockingLock("a"));
  CountingWaker task;
  std::optional<Map::LockFuture> first(map.Lock("a"));
  auto second = map.Lock("a");
  EXPECT_TRUE(PollOnce(*first).IsPending());
  EXPECT_TRUE(PollOnce(second, task.NewWaker()).IsPending());
  guard.reset();
  EXPECT_EQ(task.wakes(), 0) << "it is the turn of the first";
  first.reset();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(second).IsReady());
  EXPECT_EQ(map.size(), 0u);
}

TEST(MutexMap, AGuardCanBeMoved) {
  Map map;
  Map::Guard guard = map.BlockingLock("a");
  Map::Guard moved = std::move(guard);
  EXPECT_FALSE(map.TryLock("a").has_value());
  moved = map.BlockingLock("b");
  EXPECT_TRUE(map.TryLock("a").has_value()) << "unlocked when assigned to";
  EXPECT_EQ(moved.key(), "b");
  EXPECT_EQ(map.size(), 1u);
}

TEST(MutexMap, AFutureCanBeMovedBeforeItIsPolled) {
  Map map;
  std::optional<Map::LockFuture> lock(map.Lock("a"));
  Map::LockFuture moved(*std::move(lock));
  lock.reset();
  EXPECT_EQ(map.size(), 1u);
  EXPECT_EQ(PollOnce(moved)->key(), "a");
}

TEST(MutexMap, KeysNeedOnlyMove) {
  MutexMap<std::unique_ptr<int>> map;
  const auto guard = map.TryLock(std::make_unique<int>(1));
  ASSERT_TRUE(guard.has_value());
  EXPECT_EQ(*guard->key(), 1);
}

TEST(MutexMap, ALockWithoutBudgetYields) {
  Map map;
  auto lock = map.Lock("a");
  const Waker waker;
  Context cx(waker);
  while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
  EXPECT_TRUE(lock.Poll(cx).IsPending());
  EXPECT_TRUE(PollOnce(lock).IsReady());
}

TEST(MutexMap, PollingACompleteFuturePanics) {
  Map map;
  auto lock = map.Lock("a");
  EXPECT_TRUE(PollOnce(lock).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(lock)),
               "MutexMap::Lock was polled after");
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(MutexMap, APolledFutureKeepsItsPlaceIfItIsMoved) {
  Map map;
  std::optional<Map::Guard> guard(map.BlockingLock("a"));
  auto lock = map.Lock("a");
  EXPECT_TRUE(PollOnce(lock).IsPending());
  EXPECT_PANIC(Map::LockFuture moved(std::move(lock)),
               "MutexMap::Lock was moved after");
  guard.reset();
  // NOLINTNEXTLINE(bugprone-use-after-move): was not moved
  EXPECT_TRUE(PollOnce(lock).IsReady());
}
#endif

TEST(MutexMap, ATraceNamesTheFuture) {
  Map map;
  const Map::Guard guard = map.BlockingLock("a");
  auto lock = map.Lock("a");
  EXPECT_TRUE(PollOnce(lock).IsPending());
  AwaitTrace trace;
  lock.Trace(trace);
  EXPECT_NE(trace.ToString().find("LockFuture"), std::string::npos);
}

// Threads lock, try and cancel a few keys. The numbers are plain, so that two
// holders of one key are a race.
TEST(MutexMap, ManyThreadsTakeTurns) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  constexpr uint32_t kKeys = 3;
  const uint64_t seed = StressSeed();
  MutexMap<uint32_t> map;
  std::array<int, kKeys> numbers{};
  std::array<std::array<int, kKeys>, kThreads> added{};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      FastRand rand(seed + t);
      for (int i = 0; i < kRounds; ++i) {
        const uint32_t key = rand.Below(kKeys);
        const uint32_t how = rand.Below(3);
        std::optional<MutexMap<uint32_t>::Guard> guard;
        if (how == 0) {
          guard = map.TryLock(key);
        } else if (how == 1) {
          auto lock = map.Lock(key);
          auto result = PollOnce(lock);
          if (result.IsReady()) guard.emplace(*std::move(result));
        } else {
          guard.emplace(map.BlockingLock(key));
        }
        if (!guard.has_value()) continue;
        ++numbers[guard->key()];
        ++added[t][key];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(map.size(), 0u);
  for (uint32_t key = 0; key < kKeys; ++key) {
    int sum = 0;
    for (int t = 0; t < kThreads; ++t) sum += added[t][key];
    EXPECT_EQ(numbers[key], sum);
  }
}

}  // namespace
}  // namespace rouse

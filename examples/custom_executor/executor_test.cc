// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/custom_executor/executor.h"

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/yield.h"
#include "rouse/timer/heap/delay.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace {

using ::example::Executor;
using ::testing::ElementsAre;

rouse::Co<> Append(std::vector<int>& order, int first, int second) {
  order.push_back(first);
  co_await rouse::Yield();
  order.push_back(second);
}

TEST(Executor, RunsTasksInTurn) {
  std::vector<int> order;
  Executor executor;
  executor.Spawn(Append(order, 1, 3));
  EXPECT_THAT(order, ElementsAre());
  executor.Run(Append(order, 2, 4));
  EXPECT_THAT(order, ElementsAre(1, 2, 3, 4));
}

rouse::Co<> SpawnAnother(Executor& executor, std::vector<int>& order) {
  executor.Spawn(Append(order, 1, 2));
  while (order.size() < 2) co_await rouse::Yield();
}

TEST(Executor, RunsATaskThatATaskSpawns) {
  std::vector<int> order;
  Executor executor;
  executor.Run(SpawnAnother(executor, order));
  EXPECT_THAT(order, ElementsAre(1, 2));
}

rouse::Co<> AppendAfter(rouse::heap::TimerHandle timer, int milliseconds,
                        std::vector<int>& order) {
  const rouse::Instant start = timer.clock().Now();
  const absl::Duration duration = absl::Milliseconds(milliseconds);
  const absl::Status status = co_await rouse::heap::Delay(timer, duration);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_GE(timer.clock().Now() - start, duration);
  order.push_back(milliseconds);
}

TEST(Executor, EndsDelaysInTheOrderOfTheirDeadlines) {
  std::vector<int> order;
  Executor executor;
  executor.Spawn(AppendAfter(executor.timer(), 20, order));
  executor.Spawn(AppendAfter(executor.timer(), 10, order));
  executor.Run(AppendAfter(executor.timer(), 30, order));
  EXPECT_THAT(order, ElementsAre(10, 20, 30));
}

// Ready when `count` is at least `expected`.
rouse::Co<> WaitFor(const std::atomic<int>& count, int expected,
                    rouse::AtomicWaker& waker) {
  auto poll = [&](rouse::Context& cx) -> rouse::PollResult<void> {
    waker.Register(cx.waker());
    if (count < expected) return rouse::kPending;
    return {};
  };
  co_await rouse::PollFn(std::move(poll));
}

TEST(Executor, LosesNoWakeOfManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kWakes = 2000;
  std::atomic<int> count = 0;
  rouse::AtomicWaker waker;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int j = 0; j < kWakes; ++j) {
          ++count;
          waker.Wake();
        }
      });
    }
    Executor executor;
    executor.Run(WaitFor(count, kThreads * kWakes, waker));
  }
  EXPECT_EQ(count, kThreads * kWakes);
}

// Stores the waker, and is never ready.
rouse::Co<> StoreWaker(std::optional<rouse::Waker>& stored,
                       std::shared_ptr<int> /*alive*/) {
  auto poll = [&stored](rouse::Context& cx) -> rouse::PollResult<void> {
    stored = cx.waker().Clone();
    return rouse::kPending;
  };
  co_await rouse::PollFn(std::move(poll));
}

TEST(Executor, CancelsTasksButNotWakers) {
  const auto alive = std::make_shared<int>();
  std::optional<rouse::Waker> waker;
  std::vector<int> order;
  {
    Executor executor;
    executor.Spawn(StoreWaker(waker, alive));
    executor.Run(Append(order, 1, 2));
    EXPECT_EQ(alive.use_count(), 2);
  }
  EXPECT_EQ(alive.use_count(), 1);
  // The waker outlives the executor and the task's future.
  ASSERT_TRUE(waker.has_value());
  waker->WakeByRef();
  std::move(*waker).Wake();
}

TEST(Executor, CancelsTasksThatWereNeverPolled) {
  const auto alive = std::make_shared<int>();
  std::optional<rouse::Waker> waker;
  {
    Executor executor;
    executor.Spawn(StoreWaker(waker, alive));
    EXPECT_EQ(alive.use_count(), 2);
  }
  EXPECT_EQ(alive.use_count(), 1);
  EXPECT_FALSE(waker.has_value());
}

}  // namespace

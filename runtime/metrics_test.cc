// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// What a runtime counts.

#include "rouse/runtime/metrics.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/block_in_place.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/metrics.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Runtime Build(Builder& builder) {
  absl::StatusOr<Runtime> runtime = builder.Build();
  EXPECT_THAT(runtime, IsOk());
  return *std::move(runtime);
}
Runtime CurrentThread() {
  Builder builder = Builder::CurrentThread();
  return Build(builder);
}
// Without a watchdog, which moves tasks.
Runtime TwoWorkers() {
  Builder builder = Builder::MultiThread();
  builder.WorkerThreads(2).LongPollBound(absl::InfiniteDuration());
  return Build(builder);
}

Co<> Nothing() { co_return; }
Co<> YieldThrice() {
  for (int i = 0; i < 3; ++i) co_await Yield();
}

TEST(Metrics, BeginWithZero) {
  Runtime runtime = CurrentThread();
  const RuntimeMetrics metrics = runtime.metrics();
  ASSERT_THAT(metrics.workers, SizeIs(1));
  EXPECT_EQ(metrics.alive_tasks, 0u);
  EXPECT_EQ(metrics.inject_queue_depth, 0u);
  EXPECT_EQ(metrics.forced_yields, 0u);
  EXPECT_EQ(metrics.blocking.threads, 0u);
  EXPECT_EQ(metrics.blocking.queue_depth, 0u);
  EXPECT_EQ(metrics.workers[0].polls, 0u);
  EXPECT_EQ(metrics.workers[0].parks, 0u);
  EXPECT_EQ(metrics.workers[0].busy, absl::ZeroDuration());
}

TEST(Metrics, CountEachPollOfATask) {
  Runtime runtime = CurrentThread();
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(YieldThrice())), IsOk());
  EXPECT_EQ(runtime.metrics().workers[0].polls, 4u);
}

TEST(Metrics, CountPollsThatUseUpTheirBudget) {
  Runtime runtime = CurrentThread();
  auto body = []() -> Co<> {
    // Each is due, and takes a unit.
    for (uint32_t i = 0; i < 2 * kBudgetPerPoll + 1; ++i) {
      co_await Sleep(absl::ZeroDuration());
    }
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOk());
  const RuntimeMetrics metrics = runtime.metrics();
  EXPECT_EQ(metrics.forced_yields, 2u);
  EXPECT_EQ(metrics.workers[0].forced_yields, 2u);
}

TEST(Metrics, CountThreadsForBlockingCallsAndTheCallsThatWait) {
  Builder builder = Builder::CurrentThread();
  Runtime runtime = Build(builder.MaxBlockingThreads(1));
  absl::Notification begun;
  absl::Notification end;
  auto wait = [&] {
    begun.Notify();
    end.WaitForNotification();
  };
  JoinHandle<void> running = runtime.SpawnBlocking(wait);
  JoinHandle<void> waiting = runtime.SpawnBlocking([] {});
  begun.WaitForNotification();
  const RuntimeMetrics metrics = runtime.metrics();
  EXPECT_EQ(metrics.blocking.threads, 1u);
  EXPECT_EQ(metrics.blocking.idle_threads, 0u);
  EXPECT_EQ(metrics.blocking.queue_depth, 1u);
  end.Notify();
  EXPECT_THAT(runtime.BlockOn(std::move(running)), IsOk());
  EXPECT_THAT(runtime.BlockOn(std::move(waiting)), IsOk());
  EXPECT_EQ(runtime.metrics().blocking.queue_depth, 0u);
}

TEST(Metrics, CountTasksThatAreAliveAndThatWait) {
  Runtime runtime = CurrentThread();
  runtime.Spawn(Nothing()).Detach();
  runtime.Spawn(Nothing()).Detach();
  EXPECT_EQ(runtime.metrics().alive_tasks, 2u);
  EXPECT_EQ(runtime.metrics().inject_queue_depth, 2u);
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(Nothing())), IsOk());
  EXPECT_EQ(runtime.metrics().alive_tasks, 0u);
  EXPECT_EQ(runtime.metrics().inject_queue_depth, 0u);
}

TEST(Metrics, CountTasksInAWorkersQueue) {
  Runtime runtime = CurrentThread();
  auto body = [&runtime]() -> Co<size_t> {
    for (int i = 0; i < 5; ++i) Spawn(Nothing()).Detach();
    co_return runtime.metrics().workers[0].local_queue_depth;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)),
              absl_testing::IsOkAndHolds(5u));
  EXPECT_EQ(runtime.metrics().inject_queue_depth, 0u);
}

TEST(Metrics, CountParks) {
  Runtime runtime = CurrentThread();
  auto sleep = []() -> Co<> { co_await Sleep(absl::Milliseconds(1)); };
  runtime.BlockOn(sleep);
  const scheduler::WorkerMetrics worker = runtime.metrics().workers[0];
  EXPECT_GT(worker.parks, 0u);
  // The main future is no task: none was polled from one park to the next.
  EXPECT_EQ(worker.noop_parks, worker.parks - 1);
}

TEST(Metrics, MeasureTimeThatIsNotParked) {
  const Clock clock;
  const Instant start = clock.Now();
  Runtime runtime = CurrentThread();
  auto sleep = []() -> Co<> { co_await Sleep(absl::Milliseconds(20)); };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(sleep)), IsOk());
  const scheduler::WorkerMetrics worker = runtime.metrics().workers[0];
  EXPECT_GT(worker.busy, absl::ZeroDuration());
  EXPECT_LT(worker.busy, clock.Now() - start);
  EXPECT_GT(worker.mean_poll_time, absl::ZeroDuration());
}

TEST(Metrics, CountThefts) {
  constexpr int kTasks = 10;
  std::atomic<int> ran{0};
  Runtime runtime = TwoWorkers();
  auto count = [&ran]() -> Co<> {
    ++ran;
    co_return;
  };
  // All but the last one, which waits in the slot, are for the other worker.
  auto body = [&]() -> Co<> {
    for (int i = 0; i < kTasks; ++i) Spawn(count).Detach();
    while (ran < kTasks - 1) std::this_thread::yield();
    co_return;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOk());
  uint64_t steals = 0;
  uint64_t operations = 0;
  for (const scheduler::WorkerMetrics& worker : runtime.metrics().workers) {
    steals += worker.steals;
    operations += worker.steal_operations;
  }
  EXPECT_EQ(steals, kTasks - 1u);
  EXPECT_GE(operations, 1u);
  EXPECT_LE(operations, steals);
}

TEST(Metrics, CountTasksThatDoNotFit) {
  Runtime runtime = TwoWorkers();
  absl::Notification begun;
  std::atomic<bool> end{false};
  auto stuck = [&]() -> Co<> {
    begun.Notify();
    while (!end) std::this_thread::yield();
    co_return;
  };
  // The other worker steals nothing meanwhile.
  JoinHandle<void> other = runtime.Spawn(stuck);
  begun.WaitForNotification();
  auto body = [&]() -> Co<> {
    for (int i = 0; i < 300; ++i) Spawn(Nothing()).Detach();
    // Gives up what is not shared because there is no room for more.
    BlockInPlace([&end] { end = true; });
    co_return;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOk());
  EXPECT_THAT(runtime.BlockOn(std::move(other)), IsOk());
  uint64_t overflows = 0;
  for (const scheduler::WorkerMetrics& worker : runtime.metrics().workers) {
    overflows += worker.overflows;
  }
  // Half of a queue of 256, and the one too many; once more for each worker
  // that takes them and is left again.
  EXPECT_GE(overflows, 129u);
}

TEST(Metrics, ThereIsNoHistogramUnlessItIsAskedFor) {
  Runtime runtime = CurrentThread();
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(YieldThrice())), IsOk());
  EXPECT_THAT(runtime.metrics().workers[0].poll_times, IsEmpty());
}

TEST(Metrics, AHistogramHasEachPollInItsBucket) {
  Builder builder = Builder::CurrentThread();
  Runtime runtime = Build(builder.PollTimeHistogram(true));
  auto slow = []() -> Co<> {
    const Clock clock;
    const Instant end = clock.Now() + absl::Milliseconds(2);
    while (clock.Now() < end) {
    }
    co_return;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(YieldThrice())), IsOk());
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(slow)), IsOk());
  const scheduler::WorkerMetrics worker = runtime.metrics().workers[0];
  uint64_t polls = 0;
  absl::Duration from = -absl::InfiniteDuration();
  for (const scheduler::PollTimeBucket& bucket : worker.poll_times) {
    EXPECT_GT(bucket.from, from);
    from = bucket.from;
    polls += bucket.polls;
  }
  EXPECT_EQ(polls, worker.polls);
  ASSERT_FALSE(worker.poll_times.empty());
  // The slow one: from at least half as long.
  EXPECT_GT(worker.poll_times.back().from, absl::Microseconds(900));
  EXPECT_GT(worker.poll_times.back().polls, 0u);
}

TEST(Metrics, MayBeReadWhenTheRuntimeHasGone) {
  std::optional<Runtime> runtime = TwoWorkers();
  const Handle handle = runtime->handle();
  EXPECT_THAT(runtime->BlockOn(runtime->Spawn(YieldThrice())), IsOk());
  auto never = []() -> Co<> { co_await Sleep(absl::InfiniteDuration()); };
  runtime->Spawn(never).Detach();
  runtime.reset();
  const RuntimeMetrics metrics = handle.metrics();
  ASSERT_THAT(metrics.workers, SizeIs(2));
  EXPECT_GE(metrics.workers[0].polls + metrics.workers[1].polls, 4u);
  EXPECT_EQ(metrics.alive_tasks, 0u);
  EXPECT_EQ(metrics.blocking.threads, 0u);
}

// Who reads disturbs nobody, and is disturbed by nobody: for TSan.
TEST(Metrics, MayBeReadAtAnyTime) {
  Runtime runtime = TwoWorkers();
  std::atomic<bool> done{false};
  std::thread reader([&] {
    uint64_t last = 0;
    while (!done) {
      const RuntimeMetrics metrics = runtime.metrics();
      const uint64_t polls =
          metrics.workers[0].polls + metrics.workers[1].polls;
      EXPECT_GE(polls, last);
      last = polls;
    }
  });
  for (int i = 0; i < 200; ++i) {
    ASSERT_THAT(runtime.BlockOn(runtime.Spawn(YieldThrice())), IsOk());
  }
  done = true;
  reader.join();
}

}  // namespace
}  // namespace rouse

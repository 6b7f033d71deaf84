// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests the counters of a runtime.

#include "rouse/runtime/metrics.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/cycle_clock.h"
#include "rouse/future/co.h"
#include "rouse/future/consume_budget.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/yield.h"
#include "rouse/net/unix_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/block_in_place.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/metrics.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

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
// Has no watchdog, because a watchdog moves tasks.
Runtime TwoWorkers() {
  Builder builder = Builder::MultiThread();
  builder.WorkerThreads(2).LongPollBound(absl::InfiniteDuration());
  return Build(builder);
}

Co<> Nothing() { co_return; }
Co<> YieldThrice() {
  for (int i = 0; i < 3; ++i) co_await Yield();
}

TEST(Metrics, AreZeroAtFirst) {
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
    // Each sleep has expired, and takes a unit.
    for (uint32_t i = 0; i < 2 * kBudgetPerPoll + 1; ++i) {
      co_await Sleep(absl::ZeroDuration());
    }
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOk());
  const RuntimeMetrics metrics = runtime.metrics();
  EXPECT_EQ(metrics.forced_yields, 2u);
  EXPECT_EQ(metrics.workers[0].forced_yields, 2u);
}

TEST(Metrics, CountBlockingThreadsAndQueuedCalls) {
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

TEST(Metrics, CountLiveAndQueuedTasks) {
  Runtime runtime = CurrentThread();
  runtime.Spawn(Nothing()).Detach();
  runtime.Spawn(Nothing()).Detach();
  EXPECT_EQ(runtime.metrics().alive_tasks, 2u);
  EXPECT_EQ(runtime.metrics().inject_queue_depth, 2u);
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(Nothing())), IsOk());
  EXPECT_EQ(runtime.metrics().alive_tasks, 0u);
  EXPECT_EQ(runtime.metrics().inject_queue_depth, 0u);
}

TEST(Metrics, CountTasksInAStealableQueue) {
  Runtime runtime = CurrentThread();
  auto body = [&runtime]() -> Co<size_t> {
    for (int i = 0; i < 5; ++i) Spawn(Nothing()).Detach();
    co_return runtime.metrics().workers[0].local_queue_depth;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)),
              absl_testing::IsOkAndHolds(5u));
  EXPECT_EQ(runtime.metrics().inject_queue_depth, 0u);
}

TEST(Metrics, CountTasksSpawnedOnWorkersAndFromOutside) {
  for (const bool multi_thread : {false, true}) {
    Runtime runtime = multi_thread ? TwoWorkers() : CurrentThread();
    EXPECT_EQ(runtime.metrics().spawned_tasks, 0u);
    auto body = []() -> Co<> {
      std::vector<JoinHandle<void>> children;
      for (int i = 0; i < 5; ++i) children.push_back(Spawn(Nothing()));
      for (JoinHandle<void>& child : children) (void)co_await child;
    };
    for (int i = 0; i < 3; ++i) {
      EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOk());
    }
    const RuntimeMetrics metrics = runtime.metrics();
    EXPECT_EQ(metrics.spawned_tasks, 18u);
    EXPECT_EQ(metrics.remote_schedules, 3u);
    // Workers have queued the other tasks: spawned tasks, and the tasks that
    // await them, when they are woken.
    EXPECT_GE(metrics.local_schedules, 15u);
    if (!multi_thread) {
      EXPECT_EQ(metrics.local_schedules, 18u);
    }
  }
}

TEST(Metrics, CountQueuedTasksAsScheduled) {
  Runtime runtime = CurrentThread();
  auto body = [&runtime]() -> Co<uint64_t> {
    for (int i = 0; i < 5; ++i) Spawn(Nothing()).Detach();
    co_return runtime.metrics().local_schedules;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)),
              absl_testing::IsOkAndHolds(5u));
}

TEST(Metrics, CountSourcesAndTheirEvents) {
  Runtime runtime = CurrentThread();
  EXPECT_EQ(runtime.metrics().reactor.sources, 0u);
  auto body = [&runtime]() -> Co<> {
    auto pair = UnixStream::Pair();
    EXPECT_THAT(pair, IsOk());
    auto& [one, other] = *pair;
    EXPECT_EQ(runtime.metrics().reactor.sources, 2u);
    EXPECT_EQ(runtime.metrics().reactor.registrations, 2u);
    const absl::StatusOr<size_t> written = co_await one.Write("x");
    EXPECT_THAT(written, absl_testing::IsOkAndHolds(1u));
    char byte;
    const absl::StatusOr<size_t> read =
        co_await other.Read(absl::MakeSpan(&byte, 1));
    EXPECT_THAT(read, absl_testing::IsOkAndHolds(1u));
  };
  runtime.BlockOn(body());
  const reactor::Metrics metrics = runtime.metrics().reactor;
  EXPECT_EQ(metrics.sources, 0u);
  EXPECT_EQ(metrics.registrations, 2u);
  EXPECT_GE(metrics.ready_events, 1u);
}

TEST(Metrics, TheHistogramOfPollTimesCanBeFiner) {
  Builder builder = Builder::CurrentThread();
  Runtime runtime = Build(builder.PollTimeHistogram(
      {.shortest = absl::Microseconds(1), .linear_steps = 4}));
  auto body = []() -> Co<> {
    for (int i = 0; i < 100; ++i) co_await Yield();
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOk());
  uint64_t polls = 0;
  absl::Duration before = -absl::Nanoseconds(1);
  const RuntimeMetrics metrics = runtime.metrics();
  for (const scheduler::PollTimeBucket& bucket :
       metrics.workers[0].poll_times) {
    EXPECT_GT(bucket.from, before);
    EXPECT_TRUE(before < absl::ZeroDuration() ||
                bucket.from >= absl::Nanoseconds(500));
    // Each bucket spans a quarter of its power of two.
    if (before >= absl::Microseconds(2)) {
      EXPECT_LE(bucket.from, 1.3 * before);
    }
    before = bucket.from;
    polls += bucket.polls;
  }
  EXPECT_EQ(polls, 101u);
  EXPECT_THAT(
      Builder::CurrentThread().PollTimeHistogram({.linear_steps = 3}).Build(),
      absl_testing::StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(Metrics, CountParks) {
  Runtime runtime = CurrentThread();
  auto sleep = []() -> Co<> { co_await Sleep(absl::Milliseconds(1)); };
  runtime.BlockOn(sleep);
  const scheduler::WorkerMetrics worker = runtime.metrics().workers[0];
  EXPECT_GT(worker.parks, 0u);
  // The main future is not a task, so no task was polled from one park to the
  // next.
  EXPECT_EQ(worker.noop_parks, worker.parks - 1);
}

TEST(Metrics, MeasureBusyTime) {
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

TEST(Metrics, CountSteals) {
  constexpr int kTasks = 10;
  std::atomic<int> ran{0};
  Runtime runtime = TwoWorkers();
  auto count = [&ran]() -> Co<> {
    ++ran;
    co_return;
  };
  // All tasks except the last, which waits in the LIFO slot, are for the other
  // worker; even the last is, if the poll lasts long.
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
  EXPECT_GE(steals, kTasks - 1u);
  EXPECT_LE(steals, kTasks + 0u);
  EXPECT_GE(operations, 1u);
  EXPECT_LE(operations, steals);
}

TEST(Metrics, CountOverflowingTasks) {
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
    // Gives up the tasks that are private because the stealable queue is full.
    BlockInPlace([&end] { end = true; });
    co_return;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOk());
  EXPECT_THAT(runtime.BlockOn(std::move(other)), IsOk());
  uint64_t overflows = 0;
  for (const scheduler::WorkerMetrics& worker : runtime.metrics().workers) {
    overflows += worker.overflows;
  }
  // Half of a queue of 256 tasks and the one that does not fit overflow; once
  // more for each worker that takes the tasks and is left again.
  EXPECT_GE(overflows, 129u);
}

TEST(Metrics, HaveNoHistogramUnlessEnabled) {
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
  // The bucket of the slow poll begins at half of its length or more.
  EXPECT_GT(worker.poll_times.back().from, absl::Microseconds(900));
  EXPECT_GT(worker.poll_times.back().polls, 0u);
}

// Returns how many polls are in `buckets`.
uint64_t CountOf(const std::vector<scheduler::PollTimeBucket>& buckets) {
  uint64_t polls = 0;
  for (const scheduler::PollTimeBucket& bucket : buckets) polls += bucket.polls;
  return polls;
}

// Occupies the thread for at least `time`, by the clock that measures polls.
void Compute(absl::Duration time) {
  const uint64_t start = CycleClock::Now();
  while (CycleClock::ToDuration(CycleClock::Now() - start) < time) {
  }
}

TEST(ScheduleLatency, IsNotCountedUnlessEnabled) {
  Runtime runtime = CurrentThread();
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(YieldThrice())), IsOk());
  EXPECT_THAT(runtime.metrics().workers[0].schedule_latencies, IsEmpty());
}

// Each poll counts, whatever has put the task into its queue.
TEST(ScheduleLatency, EachPollCounts) {
  for (const bool multi_thread : {false, true}) {
    Builder builder =
        multi_thread ? Builder::MultiThread() : Builder::CurrentThread();
    if (multi_thread) builder.WorkerThreads(2);
    Runtime runtime = Build(builder.ScheduleLatencyHistogram(true));
    // A task that is woken by a thread outside, and by another task.
    AtomicWaker waker;
    std::atomic<int> wakes{0};
    auto wait = [&waker, &wakes](int count) {
      return PollFn([&waker, &wakes, count](Context& cx) -> PollResult<void> {
        waker.Register(cx.waker());
        if (wakes >= count) return {};
        return kPending;
      });
    };
    const auto wake = [&waker, &wakes] {
      ++wakes;
      waker.Wake();
    };
    auto waiting = [&wait]() -> Co<> {
      co_await wait(1);
      co_await wait(2);
    };
    // A task that is woken during its poll.
    auto wakes_itself = []() -> Co<> {
      bool polled = false;
      auto twice = [&polled](Context& cx) -> PollResult<void> {
        if (std::exchange(polled, true)) return {};
        cx.waker().WakeByRef();
        return kPending;
      };
      co_await PollFn(twice);
    };
    auto all = [&]() -> Co<> {
      JoinHandle<void> child = Spawn(wakes_itself);
      (void)co_await child;
      wake();
      for (int i = 0; i < 1000; ++i) co_await ConsumeBudget();
      if (multi_thread) BlockInPlace([] {});
      co_await Yield();
    };
    JoinHandle<void> task = runtime.Spawn(waiting);
    wake();
    EXPECT_THAT(runtime.BlockOn(runtime.Spawn(all)), IsOk());
    EXPECT_THAT(runtime.BlockOn(std::move(task)), IsOk());
    const RuntimeMetrics metrics = runtime.metrics();
    EXPECT_GT(metrics.forced_yields, 0u);
    for (const scheduler::WorkerMetrics& worker : metrics.workers) {
      EXPECT_EQ(CountOf(worker.schedule_latencies), worker.polls);
      EXPECT_THAT(worker.poll_times, IsEmpty());
    }
  }
}

// The time counts from the spawn, the yield, or the wake of a task; each of the
// three is followed by a long poll.
TEST(ScheduleLatency, IsTheTimeThatATaskWaits) {
  constexpr absl::Duration kTime = absl::Milliseconds(4);
  Builder builder = Builder::CurrentThread();
  Runtime runtime = Build(builder.ScheduleLatencyHistogram(
      {.shortest = kTime / 2, .longest = kTime}));
  auto long_poll = [kTime]() -> Co<> {
    Compute(kTime);
    co_return;
  };
  auto body = [&]() -> Co<> {
    AtomicWaker waker;
    bool woken = false;
    auto wait = [&waker, &woken](Context& cx) -> PollResult<void> {
      waker.Register(cx.waker());
      if (woken) return {};
      return kPending;
    };
    auto waiting = [&wait]() -> Co<> { co_await PollFn(wait); };
    JoinHandle<void> spawned = Spawn(Nothing());
    Compute(kTime);
    (void)co_await spawned;
    Spawn(long_poll).Detach();
    co_await Yield();
    JoinHandle<void> task = Spawn(waiting);
    co_await Yield();
    woken = true;
    waker.Wake();
    Compute(kTime);
    (void)co_await task;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOk());
  const std::vector<scheduler::PollTimeBucket> latencies =
      runtime.metrics().workers[0].schedule_latencies;
  ASSERT_FALSE(latencies.empty());
  EXPECT_GE(latencies.back().from, kTime / 2);
  // There are more such polls if the system takes the processor away.
  EXPECT_GE(latencies.back().polls, 3u);
}

TEST(ScheduleLatency, TheHistogramCanBeFiner) {
  EXPECT_THAT(
      Builder::CurrentThread()
          .ScheduleLatencyHistogram({.linear_steps = 3})
          .Build(),
      absl_testing::StatusIs(absl::StatusCode::kInvalidArgument,
                             testing::HasSubstr("ScheduleLatencyHistogram")));
}

TEST(Metrics, CanBeReadAfterTheRuntimeIsDestroyed) {
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

// A reader disturbs no other thread, and no other thread disturbs the reader;
// TSan checks that.
TEST(Metrics, CanBeReadAtAnyTime) {
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

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests tasks that do not return from their poll, and the work of other threads
// meanwhile. Each task is stuck until the event that it delays has happened:
// without the event, the test would hang.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/yield.h"
#include "rouse/net/unix_stream.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/runtime_fixture.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/runtime_scope.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::testing::Contains;
using ::testing::Not;

constexpr absl::Duration kBound = absl::Milliseconds(2);

Runtime MakeRuntime(size_t workers, absl::Duration bound = kBound,
                    std::string thread_name = "long") {
  absl::StatusOr<Runtime> runtime = Builder::MultiThread()
                                        .WorkerThreads(workers)
                                        .LongPollBound(bound)
                                        .ThreadName(std::move(thread_name))
                                        .Build();
  EXPECT_THAT(runtime, IsOk());
  return *std::move(runtime);
}

Runtime MakeRuntimeOn(std::shared_ptr<Clock> clock) {
  absl::StatusOr<Runtime> runtime = Builder::MultiThread()
                                        .WorkerThreads(1)
                                        .LongPollBound(kBound)
                                        .WithClock(std::move(clock))
                                        .Build();
  EXPECT_THAT(runtime, IsOk());
  return *std::move(runtime);
}

// A poll that lasts until `end`.
Co<> Stuck(absl::Notification* begun, const std::atomic<bool>* end) {
  begun->Notify();
  while (!*end) std::this_thread::yield();
  co_return;
}

Co<> Set(std::atomic<bool>* flag) {
  *flag = true;
  co_return;
}

Co<> SleepAndSet(std::atomic<bool>* flag) {
  co_await Sleep(absl::Milliseconds(1));
  *flag = true;
}

// Reads a byte that is sent as soon as the reader waits.
Co<> ReceiveAndSet(std::atomic<bool>* flag) {
  absl::StatusOr<std::pair<UnixStream, UnixStream>> pair = UnixStream::Pair();
  EXPECT_THAT(pair, IsOk());
  char byte = 0;
  // From now on, writing is possible without an event.
  EXPECT_THAT(co_await pair->second.Write("w"), IsOkAndHolds(1u));
  EXPECT_THAT(co_await pair->first.Read(absl::MakeSpan(&byte, 1)),
              IsOkAndHolds(1u));
  auto read = pair->first.Read(absl::MakeSpan(&byte, 1));
  auto write = pair->second.Write("x");
  bool sent = false;
  auto poll = [&](Context& cx) {
    auto result = read.Poll(cx);
    if (!std::exchange(sent, true)) {
      EXPECT_TRUE(result.IsPending());
      EXPECT_TRUE(write.Poll(cx).IsReady());
    }
    return result;
  };
  EXPECT_THAT(co_await PollFn(std::move(poll)), IsOkAndHolds(1u));
  EXPECT_EQ(byte, 'x');
  *flag = true;
}

// Tokio #4941, #8065.
TEST(LongPoll, AnotherWorkerRunsTheTaskInTheLifoSlot) {
  Runtime runtime = MakeRuntime(2);
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> ran{false};
    auto body = [&ran]() -> Co<> {
      Spawn(Set(&ran)).Detach();
      while (!ran) std::this_thread::yield();
      co_return;
    };
    ASSERT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOk());
  }
}

// The test must pass whichever worker was in the driver when the other worker
// got stuck.
TEST(LongPoll, ATimerOfAnotherTaskFires) {
  Runtime runtime = MakeRuntime(2);
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> slept{false};
    absl::Notification begun;
    JoinHandle<void> sleeper = runtime.Spawn(SleepAndSet(&slept));
    JoinHandle<void> stuck = runtime.Spawn(Stuck(&begun, &slept));
    ASSERT_THAT(runtime.BlockOn(std::move(stuck)), IsOk());
    ASSERT_THAT(runtime.BlockOn(std::move(sleeper)), IsOk());
  }
}

// Tokio #4730.
TEST(LongPoll, ASocketOfAnotherTaskIsRead) {
  Runtime runtime = MakeRuntime(2);
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> received{false};
    absl::Notification begun;
    JoinHandle<void> reader = runtime.Spawn(ReceiveAndSet(&received));
    JoinHandle<void> stuck = runtime.Spawn(Stuck(&begun, &received));
    ASSERT_THAT(runtime.BlockOn(std::move(stuck)), IsOk());
    ASSERT_THAT(runtime.BlockOn(std::move(reader)), IsOk());
  }
}

// No worker is left, so the watchdog drives.
TEST(LongPoll, ATimerFiresAlthoughAllWorkersAreStuck) {
  for (size_t workers : {1, 2}) {
    std::atomic<bool> slept{false};
    std::vector<absl::Notification> begun(workers);
    Runtime runtime = MakeRuntime(workers);
    for (absl::Notification& each : begun) {
      runtime.Spawn(Stuck(&each, &slept)).Detach();
    }
    for (absl::Notification& each : begun) each.WaitForNotification();
    runtime.BlockOn(SleepAndSet(&slept));
  }
}

// The worker does not reach an event by itself: other polls come first, and
// each can be as long as the bound.
TEST(LongPoll, ATimerFiresAmidManyShorterPolls) {
  std::atomic<bool> slept{false};
  absl::StatusOr<Runtime> runtime = Builder::MultiThread()
                                        .WorkerThreads(1)
                                        .LongPollBound(kBound)
                                        .EventInterval(UINT32_MAX)
                                        .Build();
  ASSERT_THAT(runtime, IsOk());
  auto busy = [&slept]() -> Co<> {
    while (!slept) co_await Yield();
  };
  JoinHandle<void> others = runtime->Spawn(busy);
  runtime->BlockOn(SleepAndSet(&slept));
  ASSERT_THAT(runtime->BlockOn(std::move(others)), IsOk());
}

// The bound must hold in one of many attempts, since the machine may have other
// work to do. The bound is long enough to hide small delays of the machine.
TEST(LongPoll, TheBoundIsKept) {
  constexpr absl::Duration kLongBound = absl::Milliseconds(40);
  constexpr absl::Duration kSleep = absl::Milliseconds(1);
  // A timer is late by at most a tick of one millisecond.
  const absl::Duration in_time = kSleep + absl::Milliseconds(1) + kLongBound;
  const Clock clock;
  absl::Duration took = absl::InfiniteDuration();
  for (int i = 0; took >= in_time; ++i) {
    std::atomic<bool> slept{false};
    absl::Notification begun;
    Runtime runtime = MakeRuntime(1, kLongBound);
    // Each attempt begins at another moment of the watchdog's cycle.
    absl::SleepFor(kLongBound / 20 * (i % 10));
    runtime.Spawn(Stuck(&begun, &slept)).Detach();
    begun.WaitForNotification();
    const Instant start = clock.Now();
    runtime.BlockOn(SleepAndSet(&slept));
    took = clock.Now() - start;
  }
}

// The shutdown waits for the watchdog as it waits for the workers. Wakers must
// therefore not block on the watchdog's thread either.
TEST(LongPoll, AWakerCalledByTheWatchdogMustNotBlock) {
  std::atomic<bool> end{false};
  std::atomic<bool> must_not_block{false};
  absl::Notification begun;
  const auto clock = std::make_shared<Clock>();
  Runtime runtime = MakeRuntimeOn(clock);
  clock->Pause();
  runtime.Spawn(Stuck(&begun, &end)).Detach();
  begun.WaitForNotification();
  const EnterGuard enter = runtime.Enter();
  Sleep sleep(absl::Hours(1));
  const Waker waker = Waker::FromCallable([&] {
    must_not_block = internal::RuntimeScope::MustNotBlock();
    end = true;
  });
  Context cx(waker);
  EXPECT_TRUE(sleep.Poll(cx).IsPending());
  clock->Advance(absl::Hours(1));
  while (!end) std::this_thread::yield();
  EXPECT_TRUE(must_not_block);
}

TEST(LongPoll, ASocketIsReadAlthoughAllWorkersAreStuck) {
  for (size_t workers : {1, 2}) {
    std::atomic<bool> received{false};
    std::vector<absl::Notification> begun(workers);
    Runtime runtime = MakeRuntime(workers);
    for (absl::Notification& each : begun) {
      runtime.Spawn(Stuck(&each, &received)).Detach();
    }
    for (absl::Notification& each : begun) each.WaitForNotification();
    runtime.BlockOn(ReceiveAndSet(&received));
  }
}

// A task that a timer wakes on the watchdog's thread waits for a worker.
TEST(LongPoll, ATaskWokenByTheWatchdogWaitsForAWorker) {
  const auto clock = std::make_shared<Clock>();
  Runtime runtime = MakeRuntimeOn(clock);
  clock->Pause();
  std::atomic<bool> begun{false};
  std::atomic<bool> slept{false};
  auto sleeper = [&]() -> Co<> {
    begun = true;
    co_await Sleep(absl::Hours(1));
    slept = true;
  };
  auto body = [&]() -> Co<bool> {
    JoinHandle<void> handle = Spawn(sleeper);
    while (!begun) co_await Yield();
    clock->Advance(absl::Hours(2));
    while (runtime.metrics().inject_queue_depth == 0) {
      std::this_thread::yield();
    }
    const bool has_run = slept;
    EXPECT_THAT(co_await handle, IsOk());
    co_return has_run;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOkAndHolds(false));
}

// Returns the names of this program's threads, for a moment including threads
// that have ended: each test therefore has its own names.
std::vector<std::string> ThreadNames() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(entry.path() / "comm");
    std::string name;
    std::getline(file, name);
    names.push_back(name);
  }
  return names;
}

TEST(LongPoll, AWatchdogThreadExists) {
  Runtime runtime = MakeRuntime(1, kBound, "watched");
  // The watchdog's thread sets its own name.
  while (!std::ranges::count(ThreadNames(), "watched-dog")) {
    std::this_thread::yield();
  }
}

TEST(LongPoll, NoWatchdogExistsWithoutABound) {
  Runtime runtime = MakeRuntime(1, absl::InfiniteDuration(), "unbound");
  while (!std::ranges::count(ThreadNames(), "unbound-0")) {
    std::this_thread::yield();
  }
  EXPECT_THAT(ThreadNames(), Not(Contains("unbound-dog")));
}

// A simulation does not depend on real time.
TEST(LongPoll, NoWatchdogExistsWithAPausedClock) {
  absl::StatusOr<Runtime> runtime = Builder::MultiThread()
                                        .WorkerThreads(1)
                                        .LongPollBound(kBound)
                                        .ThreadName("paused")
                                        .WithClock(AutoAdvancingClock())
                                        .Build();
  ASSERT_THAT(runtime, IsOk());
  while (!std::ranges::count(ThreadNames(), "paused-0")) {
    std::this_thread::yield();
  }
  EXPECT_THAT(ThreadNames(), Not(Contains("paused-dog")));
}

}  // namespace
}  // namespace rouse

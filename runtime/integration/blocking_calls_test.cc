// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the blocking calls of a runtime.

#include <pthread.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/runtime_fixture.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

constexpr absl::StatusCode kCancelled = absl::StatusCode::kCancelled;

Co<int> Add(int a, int b) { co_return a + b; }

using BlockingCallsTest = EitherRuntimeTest;
INSTANTIATE_TEST_SUITE_P(Kinds, BlockingCallsTest, ::testing::Bool(),
                         &KindOfRuntime);

TEST_P(BlockingCallsTest, StartsNoThreadBeforeItIsUsed) {
  Runtime runtime = MakeRuntime();
  EXPECT_EQ(runtime.BlockOn(Add(1, 2)), 3);
  EXPECT_EQ(runtime.metrics().blocking.threads, 0u);
}

TEST_P(BlockingCallsTest, ATaskAwaitsACall) {
  Runtime runtime = MakeRuntime();
  auto task = []() -> Co<bool> {
    const std::thread::id here = std::this_thread::get_id();
    auto call = [here] { return std::this_thread::get_id() != here; };
    absl::StatusOr<bool> elsewhere = co_await SpawnBlocking(call);
    co_return *elsewhere;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(task)), IsOkAndHolds(true));
}

TEST_P(BlockingCallsTest, AnyThreadCanSpawnACall) {
  Runtime runtime = MakeRuntime();
  EXPECT_THAT(runtime.BlockOn(runtime.SpawnBlocking([] { return 7; })),
              IsOkAndHolds(7));
  const Handle handle = runtime.handle();
  EXPECT_THAT(BlockOn(handle.SpawnBlocking([] { return 8; })), IsOkAndHolds(8));
}

TEST_P(BlockingCallsTest, ACallIsInsideTheRuntime) {
  Runtime runtime = MakeRuntime();
  std::optional<JoinHandle<int>> task;
  auto call = [&task] { task = Handle::Current().Spawn(Add(1, 2)); };
  auto main = [&]() -> Co<int> {
    absl::Status called = co_await SpawnBlocking(call);
    EXPECT_THAT(called, IsOk());
    absl::StatusOr<int> sum = co_await *task;
    co_return *sum;
  };
  EXPECT_EQ(runtime.BlockOn(main), 3);
}

TEST_P(BlockingCallsTest, ACallCanSpawnAnother) {
  Runtime runtime = MakeRuntime();
  auto call = [] { return BlockOn(SpawnBlocking([] { return 7; })); };
  EXPECT_THAT(runtime.BlockOn(runtime.SpawnBlocking(call)), IsOkAndHolds(7));
}

TEST_P(BlockingCallsTest, ACallCanBlockOnAFuture) {
  Runtime runtime = MakeRuntime();
  auto call = [&runtime] {
    auto inner = []() -> Co<int> {
      co_await Sleep(absl::Milliseconds(1));
      absl::StatusOr<int> sum = co_await Spawn(Add(1, 2));
      co_return *sum;
    };
    return runtime.BlockOn(inner);
  };
  EXPECT_THAT(runtime.BlockOn(runtime.SpawnBlocking(call)), IsOkAndHolds(3));
}

TEST_P(BlockingCallsTest, ItsThreadsAreNamedAfterTheRuntime) {
  absl::StatusOr<Runtime> runtime = MakeBuilder().ThreadName("shop").Build();
  ASSERT_THAT(runtime, IsOk());
  auto name = [] {
    char buffer[16];
    pthread_getname_np(pthread_self(), buffer, sizeof buffer);
    return std::string(buffer);
  };
  EXPECT_THAT(runtime->BlockOn(runtime->SpawnBlocking(name)),
              IsOkAndHolds("shop-blk-0"));
}

TEST_P(BlockingCallsTest, KeepsTheThreadLimit) {
  absl::StatusOr<Runtime> runtime = MakeBuilder().MaxBlockingThreads(1).Build();
  ASSERT_THAT(runtime, IsOk());
  absl::Notification begun;
  absl::Notification end;
  auto call = [&] {
    begun.Notify();
    end.WaitForNotification();
  };
  runtime->SpawnBlocking(call).Detach();
  begun.WaitForNotification();
  JoinHandle<int> second = runtime->SpawnBlocking([] { return 7; });
  EXPECT_EQ(runtime->metrics().blocking.threads, 1u);
  EXPECT_EQ(runtime->metrics().blocking.queue_depth, 1u);
  end.Notify();
  EXPECT_THAT(runtime->BlockOn(std::move(second)), IsOkAndHolds(7));
}

TEST_P(BlockingCallsTest, RefusesALimitOfZeroThreads) {
  EXPECT_THAT(MakeBuilder().MaxBlockingThreads(0).Build(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("MaxBlockingThreads(0)")));
}

TEST_P(BlockingCallsTest, IdleThreadsExitAfterTheKeepAlive) {
  absl::StatusOr<Runtime> runtime =
      MakeBuilder().ThreadKeepAlive(absl::ZeroDuration()).Build();
  ASSERT_THAT(runtime, IsOk());
  EXPECT_THAT(runtime->BlockOn(runtime->SpawnBlocking([] {})), IsOk());
  while (runtime->metrics().blocking.threads > 0) {
    std::this_thread::yield();
  }
}

TEST_P(BlockingCallsTest, AnAutoAdvancingClockWaitsForCalls) {
  const std::shared_ptr<Clock> clock = AutoAdvancingClock();
  absl::StatusOr<Runtime> runtime = MakeBuilder().WithClock(clock).Build();
  ASSERT_THAT(runtime, IsOk());
  const Instant start = clock->Now();
  auto main = [&]() -> Co<> {
    JoinHandle<void> sleeper =
        Spawn([]() -> Co<> { co_await Sleep(absl::Hours(1)); });
    // Runs long enough for a clock that is not held to advance.
    auto call = [&clock] {
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();
      return clock->Now();
    };
    absl::StatusOr<Instant> during = co_await SpawnBlocking(call);
    EXPECT_EQ(*during, start);
    absl::Status slept = co_await sleeper;
    EXPECT_THAT(slept, IsOk());
    EXPECT_EQ(clock->Now(), start + absl::Hours(1));
  };
  runtime->BlockOn(main);
}

TEST_P(BlockingCallsTest, DestructionWaitsForRunningCallsAndCancelsTheRest) {
  std::optional<Runtime> runtime =
      MakeBuilder().MaxBlockingThreads(1).Build().value();
  absl::Notification begun;
  absl::Notification closed;
  std::atomic<bool> ended = false;
  runtime
      ->SpawnBlocking([&] {
        begun.Notify();
        closed.WaitForNotification();
        ended = true;
      })
      .Detach();
  begun.WaitForNotification();
  JoinHandle<void> waiting = runtime->SpawnBlocking([] {});
  std::atomic<bool> saved = false;
  runtime->handle().SpawnMandatoryBlocking([&saved] { saved = true; }).Detach();
  const Handle handle = runtime->handle();
  std::thread destroying([&runtime] { runtime.reset(); });
  EXPECT_THAT(BlockOn(std::move(waiting)), StatusIs(kCancelled));
  // No further call is accepted.
  EXPECT_THAT(BlockOn(handle.SpawnBlocking([] {})), StatusIs(kCancelled));
  EXPECT_FALSE(ended);
  closed.Notify();
  destroying.join();
  EXPECT_TRUE(ended);
  EXPECT_TRUE(saved);
}

TEST_P(BlockingCallsTest, ShutdownBackgroundWaitsForNoCall) {
  Runtime runtime = MakeRuntime();
  auto end = std::make_shared<absl::Notification>();
  JoinHandle<int> call = runtime.SpawnBlocking([end] {
    end->WaitForNotification();
    // The runtime was destroyed, and its handle reports that.
    absl::Status task =
        BlockOn(Handle::Current().Spawn([]() -> Co<> { co_return; }));
    EXPECT_THAT(task, StatusIs(kCancelled));
    return 7;
  });
  while (runtime.metrics().blocking.queue_depth > 0) {
    std::this_thread::yield();
  }
  std::move(runtime).ShutdownBackground();
  end->Notify();
  EXPECT_THAT(BlockOn(std::move(call)), IsOkAndHolds(7));
}

TEST_P(BlockingCallsTest, ShutdownTimeoutReturnsWhetherCallsHaveEnded) {
  Runtime slow = MakeRuntime();
  absl::Notification end;
  JoinHandle<void> call =
      slow.SpawnBlocking([&end] { end.WaitForNotification(); });
  while (slow.metrics().blocking.queue_depth > 0) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(std::move(slow).ShutdownTimeout(absl::Milliseconds(1)));
  end.Notify();
  EXPECT_THAT(BlockOn(std::move(call)), IsOk());

  Runtime quick = MakeRuntime();
  EXPECT_THAT(quick.BlockOn(quick.SpawnBlocking([] {})), IsOk());
  EXPECT_TRUE(std::move(quick).ShutdownTimeout(absl::Hours(1)));
}

TEST_P(BlockingCallsTest, ItsOwnCallCanDestroyTheRuntime) {
  auto runtime = std::make_unique<Runtime>(MakeRuntime());
  Runtime* const raw = runtime.get();
  JoinHandle<int> call =
      raw->SpawnBlocking([runtime = std::move(runtime)]() mutable {
        runtime.reset();
        return 7;
      });
  EXPECT_THAT(BlockOn(std::move(call)), IsOkAndHolds(7));
}

TEST_P(BlockingCallsTest, ASleepOfACallEndsWithTheRuntime) {
  std::optional<Runtime> runtime(MakeRuntime());
  absl::Notification begun;
  JoinHandle<void> call = runtime->SpawnBlocking([&begun] {
    begun.Notify();
    BlockOn(Sleep(absl::Hours(1)));
  });
  begun.WaitForNotification();
  runtime.reset();
  EXPECT_TRUE(call.IsFinished());
}

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests a runtime on a system that starts no more threads.

#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <optional>
#include <thread>

#include "absl/base/config.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/block_in_place.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/failing_calls.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

constexpr char kNoFilters[] = "no filters of system calls here";

// Runs `body` where only `threads` threads can be started. `before_failing()`
// is called before a thread cannot be started. Returns false if `body` could
// not be run.
bool WithThreads(
    int threads, absl::FunctionRef<void()> body,
    absl::FunctionRef<void()> before_failing = [] {}) {
  const auto fails = [&] {
    if (threads-- > 0) return false;
    before_failing();
    return true;
  };
  return reactor::WithCallsThatMayFail({SYS_clone, SYS_clone3}, EAGAIN, fails,
                                       body);
}

size_t CountDescriptors() {
  using Iterator = std::filesystem::directory_iterator;
  const auto count = std::distance(Iterator("/proc/self/fd"), Iterator());
  return static_cast<size_t>(count);
}

Co<int> Seven() { co_return 7; }

// The watchdog, if there is one, is the first thread; the workers follow.
TEST(NoThreads, BuildFailsIfAThreadCannotStartAndLeavesNothingBehind) {
  constexpr int kWorkers = 3;
  for (const absl::Duration bound :
       {absl::Milliseconds(10), absl::InfiniteDuration()}) {
    const int others = bound == absl::InfiniteDuration() ? 0 : 1;
    for (int threads = 0; threads <= others + kWorkers; ++threads) {
      std::atomic<int> begun{0};
      std::atomic<int> ended{0};
      Builder builder = Builder::MultiThread();
      builder.WorkerThreads(kWorkers)
          .LongPollBound(bound)
          .OnThreadStart([&begun] { ++begun; })
          .OnThreadStop([&ended] { ++ended; });
      auto build = [&] {
        const size_t descriptors = CountDescriptors();
        absl::StatusOr<Runtime> runtime = builder.Build();
        if (threads == others + kWorkers) {
          ASSERT_THAT(runtime, IsOk());
          EXPECT_THAT(runtime->BlockOn(runtime->Spawn(Seven())),
                      IsOkAndHolds(7));
          return;
        }
        EXPECT_THAT(runtime,
                    StatusIs(absl::StatusCode::kUnavailable,
                             HasSubstr("pthread_create for thread rouse-")));
        EXPECT_EQ(begun, threads < others ? 0 : threads - others);
        EXPECT_EQ(ended, begun);
        EXPECT_EQ(CountDescriptors(), descriptors);
      };
      if (!WithThreads(threads, build)) GTEST_SKIP() << kNoFilters;
      // The builder is usable as before.
      absl::StatusOr<Runtime> runtime = builder.Build();
      ASSERT_THAT(runtime, IsOk());
      EXPECT_THAT(runtime->BlockOn(runtime->Spawn(Seven())), IsOkAndHolds(7));
    }
  }
}

#ifndef ABSL_HAVE_ADDRESS_SANITIZER  // a thread that begins waits for the lock
                                     // that its pthread_create() holds
// Like any shutdown, this one waits for everything that has begun to run before
// the drivers are destroyed. Here a hook has begun, which sees that its sleep
// has not ended.
TEST(NoThreads, AFailedBuildWaitsForItsThreads) {
  absl::Notification parks;
  std::atomic<int> calls{0};
  std::atomic<bool> slept{false};
  auto hook = [&] {
    if (++calls > 1) return;
    Sleep sleep(absl::Hours(1));
    const Waker waker;
    Context cx(waker);
    slept = sleep.Poll(cx).IsReady();
    parks.Notify();
    // Waits long enough for the forbidden event.
    const Clock clock;
    const Instant end = clock.Now() + absl::Milliseconds(50);
    while (clock.Now() < end && !slept) {
      std::this_thread::yield();
      slept = sleep.Poll(cx).IsReady();
    }
  };
  Builder builder = Builder::MultiThread();
  builder.WorkerThreads(2)
      .LongPollBound(absl::InfiniteDuration())
      .OnThreadPark(hook);
  auto build = [&] {
    EXPECT_THAT(builder.Build(), StatusIs(absl::StatusCode::kUnavailable));
  };
  if (!WithThreads(1, build, [&parks] { parks.WaitForNotification(); })) {
    GTEST_SKIP() << kNoFilters;
  }
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(slept);
}
#endif

// The tasks are those of the blocked worker: no other thread can run them.
TEST(NoThreads, TasksWaitForABlockInPlaceWithoutAReplacement) {
  std::optional<std::thread::id> ran_on;
  std::thread::id blocked_on;
  bool ran_meanwhile = false;
  auto other = [&]() -> Co<> {
    ran_on = std::this_thread::get_id();
    co_return;
  };
  auto body = [&]() -> Co<> {
    for (int i = 0; i < 10; ++i) {
      ran_on.reset();
      JoinHandle<void> waits = Spawn(other);
      BlockInPlace([&] {
        blocked_on = std::this_thread::get_id();
        ran_meanwhile = ran_meanwhile || ran_on.has_value();
      });
      EXPECT_THAT(co_await waits, IsOk());
      EXPECT_EQ(ran_on, blocked_on);
    }
  };
  auto run = [&] {
    absl::StatusOr<Runtime> runtime =
        Builder::MultiThread()
            .WorkerThreads(1)
            .LongPollBound(absl::InfiniteDuration())
            .Build();
    ASSERT_THAT(runtime, IsOk());
    EXPECT_THAT(runtime->BlockOn(runtime->Spawn(body)), IsOk());
  };
  if (!WithThreads(1, run)) GTEST_SKIP() << kNoFilters;
  EXPECT_FALSE(ran_meanwhile);
}

TEST(NoThreads, OtherWorkersContinueBesideABlockInPlaceWithoutAReplacement) {
  absl::Notification queued;
  absl::Notification next;
  absl::Notification from_outside;
  auto notify = [](absl::Notification* notification) -> Co<> {
    notification->Notify();
    co_return;
  };
  auto run = [&] {
    absl::StatusOr<Runtime> runtime =
        Builder::MultiThread()
            .WorkerThreads(2)
            .LongPollBound(absl::InfiniteDuration())
            .Build();
    ASSERT_THAT(runtime, IsOk());
    auto body = [&]() -> Co<> {
      Spawn(notify(&queued)).Detach();
      Spawn(notify(&next)).Detach();
      BlockInPlace([&] {
        runtime->Spawn(notify(&from_outside)).Detach();
        queued.WaitForNotification();
        next.WaitForNotification();
        from_outside.WaitForNotification();
      });
      co_return;
    };
    EXPECT_THAT(runtime->BlockOn(runtime->Spawn(body)), IsOk());
    // Both workers are available again.
    EXPECT_THAT(runtime->BlockOn(runtime->Spawn(Seven())), IsOkAndHolds(7));
  };
  if (!WithThreads(2, run)) GTEST_SKIP() << kNoFilters;
}

// The worker that no other thread has taken over is ended by the thread that
// shuts down, so that the call's wait for the runtime ends.
TEST(NoThreads, ShutdownEndsABlockInPlaceWithoutAReplacement) {
  absl::Notification begun;
  absl::Status slept;
  auto run = [&] {
    std::optional<Runtime> runtime(*Builder::MultiThread()
                                        .WorkerThreads(1)
                                        .LongPollBound(absl::InfiniteDuration())
                                        .Build());
    auto body = [&, handle = runtime->handle()]() -> Co<> {
      BlockInPlace([&] {
        begun.Notify();
        slept = handle.BlockOn(Sleep(absl::Hours(1)));
      });
      co_return;
    };
    runtime->Spawn(body).Detach();
    begun.WaitForNotification();
    runtime.reset();
    EXPECT_THAT(slept, StatusIs(absl::StatusCode::kUnavailable));
  };
  if (!WithThreads(1, run)) GTEST_SKIP() << kNoFilters;
}

}  // namespace
}  // namespace rouse

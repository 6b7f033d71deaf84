// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests `BlockInPlace()` in a runtime.

#include "rouse/scheduler/block_in_place.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/barrier.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/runtime_fixture.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

Co<int> Add(int a, int b) { co_return a + b; }

Co<> Notify(absl::Notification* notification) {
  notification->Notify();
  co_return;
}

Runtime MakeRuntime(size_t workers) {
  absl::StatusOr<Runtime> runtime =
      Builder::MultiThread().WorkerThreads(workers).Build();
  EXPECT_THAT(runtime, IsOk());
  return *std::move(runtime);
}

TEST(BlockInPlace, ReturnsTheResultOfTheCall) {
  Runtime runtime = MakeRuntime(1);
  auto body = []() -> Co<int> {
    BlockInPlace([] {});
    auto unique = BlockInPlace([] { return std::make_unique<int>(7); });
    int& same = BlockInPlace([&unique]() -> int& { return *unique; });
    EXPECT_EQ(&same, unique.get());
    co_return *unique;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOkAndHolds(7));
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(BlockInPlace, PropagatesAnExceptionOfTheCall) {
  Runtime runtime = MakeRuntime(1);
  auto body = []() -> Co<int> {
    try {
      BlockInPlace([] { throw std::runtime_error("disk"); });
    } catch (const std::runtime_error&) {
      co_return 1;
    }
    co_return 2;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOkAndHolds(1));
}

TEST(BlockInPlace, InATaskOfACurrentThreadRuntimePanics) {
  absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
  ASSERT_THAT(runtime, IsOk());
  auto body = []() -> Co<int> { co_return BlockInPlace([] { return 1; }); };
  EXPECT_THAT(
      runtime->BlockOn(runtime->Spawn(body)),
      StatusIs(absl::StatusCode::kInternal, HasSubstr("use SpawnBlocking")));
  EXPECT_EQ(runtime->BlockOn(Add(1, 2)), 3);
}

// The call would keep the tasks waiting, which run on the same thread.
TEST(BlockInPlace, InTheMainFutureOfACurrentThreadRuntimePanics) {
  absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
  ASSERT_THAT(runtime, IsOk());
  auto main = []() -> Co<int> { co_return BlockInPlace([] { return 1; }); };
  EXPECT_PANIC(runtime->BlockOn(main),
               "BlockInPlace: a current-thread runtime");
  EXPECT_EQ(runtime->BlockOn(Add(1, 2)), 3);
}

#endif  // ABSL_HAVE_EXCEPTIONS

// The runtime has a single worker, so the tasks that run are this worker's.
TEST(BlockInPlace, OtherTasksOfTheWorkerRunDuringTheCall) {
  Runtime runtime = MakeRuntime(1);
  absl::Notification queued;
  absl::Notification next;
  auto body = [&]() -> Co<> {
    Spawn(Notify(&queued)).Detach();
    Spawn(Notify(&next)).Detach();  // tokio #6596: in the LIFO slot
    BlockInPlace([&] {
      queued.WaitForNotification();
      next.WaitForNotification();
    });
    co_return;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOk());
}

// Tokio #6999, #7216.
TEST(BlockInPlace, ATaskThatHasYieldedRunsDuringTheCall) {
  Runtime runtime = MakeRuntime(1);
  std::atomic<int> yields{0};
  std::atomic<bool> stop{false};
  auto yields_on = [&]() -> Co<> {
    while (!stop) {
      ++yields;
      co_await Yield();
    }
  };
  auto body = [&]() -> Co<> {
    JoinHandle<void> other = Spawn(yields_on);
    while (yields < 2) co_await Yield();
    BlockInPlace([&yields, goal = yields + 10] {
      while (yields < goal) std::this_thread::yield();
    });
    stop = true;
    EXPECT_THAT(co_await other, IsOk());
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOk());
}

TEST(BlockInPlace, TimersFireDuringTheCall) {
  Runtime runtime = MakeRuntime(1);
  absl::Notification slept;
  auto sleeper = [&slept]() -> Co<> {
    co_await Sleep(absl::Milliseconds(1));
    slept.Notify();
  };
  auto body = [&]() -> Co<> {
    Spawn(sleeper).Detach();
    BlockInPlace([&slept] { slept.WaitForNotification(); });
    co_return;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOk());
}

// Covers the task's behaviour after another thread has begun to run its worker.
TEST(BlockInPlace, TheTaskContinuesWithoutItsWorker) {
  Runtime runtime = MakeRuntime(1);
  absl::Notification ran;
  auto body = [&ran]() -> Co<int> {
    Spawn(Notify(&ran)).Detach();
    BlockInPlace([&ran] { ran.WaitForNotification(); });
    JoinHandle<int> sum = Spawn(Add(1, 2));
    co_await Yield();
    co_await Sleep(absl::Milliseconds(1));
    absl::StatusOr<int> result = co_await sum;
    co_return *result;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOkAndHolds(3));
  EXPECT_EQ(runtime.BlockOn(Add(3, 4)), 7);
}

// Tokio #5239, #5837.
TEST(BlockInPlace, CallsCanBeNested) {
  Runtime runtime = MakeRuntime(1);
  absl::Notification outside;
  absl::Notification inside;
  auto body = [&]() -> Co<int> {
    auto inner = [&] {
      runtime.Spawn(Notify(&inside)).Detach();
      inside.WaitForNotification();
      return 7;
    };
    auto outer = [&] {
      runtime.Spawn(Notify(&outside)).Detach();
      outside.WaitForNotification();
      return BlockInPlace(inner);
    };
    co_return BlockInPlace(outer);
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOkAndHolds(7));
  EXPECT_EQ(runtime.BlockOn(Add(3, 4)), 7);
}

// Covers both a worker that comes back and a worker that does not, as often as
// workers change threads.
TEST(BlockInPlace, CallsCanFollowOneAnother) {
  Runtime runtime = MakeRuntime(1);
  auto body = []() -> Co<int> {
    int sum = 0;
    for (int i = 0; i < 200; ++i) {
      BlockInPlace([&sum] { ++sum; });
      if (i % 4 == 0) co_await Yield();
    }
    co_return sum;
  };
  std::vector<JoinHandle<int>> handles;
  for (int i = 0; i < 4; ++i) handles.push_back(runtime.Spawn(body));
  for (JoinHandle<int>& handle : handles) {
    EXPECT_THAT(runtime.BlockOn(std::move(handle)), IsOkAndHolds(200));
  }
}

TEST(BlockInPlace, WorksInTheMainFuture) {
  Runtime runtime = MakeRuntime(1);
  absl::Notification ran;
  auto main = [&ran]() -> Co<int> {
    Spawn(Notify(&ran)).Detach();
    BlockInPlace([&ran] { ran.WaitForNotification(); });
    co_return 7;
  };
  EXPECT_EQ(runtime.BlockOn(main), 7);
}

TEST(BlockInPlace, WorksOutsideARuntime) {
  EXPECT_EQ(BlockInPlace([] { return 7; }), 7);
}

TEST(BlockInPlace, CanBlockOnAFutureOfAnyRuntime) {
  Runtime runtime = MakeRuntime(1);
  auto add = [](Runtime& runtime) {
    auto main = []() -> Co<int> {
      co_await Sleep(absl::Milliseconds(1));
      JoinHandle<int> sum = Spawn(Add(1, 2));
      absl::StatusOr<int> result = co_await sum;
      co_return *result;
    };
    return runtime.BlockOn(main);
  };
  auto body = [&]() -> Co<int> {
    absl::StatusOr<Runtime> other = Builder::CurrentThread().Build();
    int sum = BlockInPlace([&] { return add(runtime); });
    sum += BlockInPlace([&] { return add(*other); });
    // Another runtime can be destroyed inside, which waits for its tasks.
    BlockInPlace([&other] { other = absl::UnknownError("gone"); });
    co_return sum;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOkAndHolds(6));
}

TEST(BlockInPlace, TheCallIsInsideItsRuntime) {
  Runtime runtime = MakeRuntime(1);
  auto body = []() -> Co<bool> {
    co_return BlockInPlace([] { return Handle::TryCurrent().has_value(); });
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOkAndHolds(true));
}

TEST(BlockInPlace, TwoHundredConcurrentCalls) {
  constexpr int kTasks = 200;
  Runtime runtime = MakeRuntime(2);
  auto* const barrier = new absl::Barrier(kTasks);
  auto body = [barrier]() -> Co<> {
    BlockInPlace([barrier] {
      if (barrier->Block()) delete barrier;
    });
    co_await Yield();
  };
  std::vector<JoinHandle<void>> handles;
  for (int i = 0; i < kTasks; ++i) handles.push_back(runtime.Spawn(body));
  for (JoinHandle<void>& handle : handles) {
    EXPECT_THAT(runtime.BlockOn(std::move(handle)), IsOk());
  }
}

// The number of replacement threads is limited. A task that gets none waits,
// and then continues.
TEST(BlockInPlace, TasksWaitBeyondTheThreadLimit) {
  absl::StatusOr<Runtime> runtime =
      Builder::MultiThread().WorkerThreads(1).MaxBlockingThreads(1).Build();
  ASSERT_THAT(runtime, IsOk());
  std::atomic<int> blocked{0};
  absl::Notification go;
  auto body = [&]() -> Co<> {
    BlockInPlace([&] {
      ++blocked;
      go.WaitForNotification();
    });
    co_await Yield();
  };
  std::vector<JoinHandle<void>> handles;
  for (int i = 0; i < 8; ++i) handles.push_back(runtime->Spawn(body));
  // The worker's thread and the two replacement threads block.
  while (blocked < 3) std::this_thread::yield();
  EXPECT_EQ(blocked, 3);
  go.Notify();
  for (JoinHandle<void>& handle : handles) {
    EXPECT_THAT(runtime->BlockOn(std::move(handle)), IsOk());
  }
}

TEST(BlockInPlace, AnAutoAdvancingClockWaitsForTheCall) {
  const std::shared_ptr<Clock> clock = AutoAdvancingClock();
  absl::StatusOr<Runtime> runtime =
      Builder::MultiThread().WorkerThreads(1).WithClock(clock).Build();
  ASSERT_THAT(runtime, IsOk());
  const Instant start = clock->Now();
  absl::Notification ran;
  auto sleeper = [&ran]() -> Co<> {
    ran.Notify();
    co_await Sleep(absl::Hours(1));
  };
  auto body = [&]() -> Co<> {
    JoinHandle<void> other = Spawn(sleeper);
    // Waits long enough for a clock that is not held to advance.
    auto wait = [&ran] {
      ran.WaitForNotification();
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    };
    BlockInPlace(wait);
    // The poll continues without its worker.
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    EXPECT_EQ(clock->Now(), start);
    EXPECT_THAT(co_await other, IsOk());
    EXPECT_EQ(clock->Now(), start + absl::Hours(1));
  };
  EXPECT_THAT(runtime->BlockOn(runtime->Spawn(body)), IsOk());
}

// Is never ready, and records its destruction.
class Never {
 public:
  explicit Never(std::atomic<bool>* destroyed) : destroyed_(destroyed) {}
  Never(Never&& other) noexcept
      : destroyed_(std::exchange(other.destroyed_, nullptr)) {}
  ~Never() {
    if (destroyed_ != nullptr) *destroyed_ = true;
  }
  PollResult<void> Poll(Context&) { return kPending; }

 private:
  std::atomic<bool>* destroyed_;
};

TEST(BlockInPlace, ShutdownWaitsForTheCall) {
  std::optional<Runtime> runtime(MakeRuntime(1));
  absl::Notification begun;
  std::atomic<bool> other_destroyed{false};
  std::atomic<bool> ended{false};
  runtime->Spawn(Never(&other_destroyed)).Detach();
  auto body = [&]() -> Co<> {
    BlockInPlace([&] {
      begun.Notify();
      // The other tasks are destroyed at once.
      while (!other_destroyed) std::this_thread::yield();
    });
    ended = true;
    co_await Never(nullptr);
  };
  JoinHandle<void> handle = runtime->Spawn(body);
  begun.WaitForNotification();
  runtime.reset();
  EXPECT_TRUE(ended);
  const Waker waker;
  Context cx(waker);
  EXPECT_THAT(handle.Poll(cx).value(), StatusIs(absl::StatusCode::kCancelled));
}

// The worker's own thread has ended by the time of the call.
TEST(BlockInPlace, ShutdownWaitsForTheCallOfAReplacementThread) {
  std::optional<Runtime> runtime(MakeRuntime(1));
  absl::Notification taken_over;
  absl::Notification closing;
  std::atomic<bool> other_destroyed{false};
  auto gives_away = [&]() -> Co<> {
    BlockInPlace([&] { taken_over.WaitForNotification(); });
    co_return;
  };
  auto blocks = [&]() -> Co<> {
    taken_over.Notify();
    closing.WaitForNotification();
    BlockInPlace([&] {
      while (!other_destroyed) std::this_thread::yield();
    });
    co_return;
  };
  JoinHandle<void> first = runtime->Spawn(gives_away);
  runtime->Spawn(blocks).Detach();
  runtime->Spawn(Never(&other_destroyed)).Detach();
  EXPECT_THAT(runtime->BlockOn(std::move(first)), IsOk());
  std::thread destroying([&runtime] { runtime.reset(); });
  // Leaves time for the destructor to join the worker's thread.
  absl::SleepFor(absl::Milliseconds(50));
  closing.Notify();
  destroying.join();
  EXPECT_TRUE(other_destroyed);
}

// Calls in place are ended like blocking calls.
TEST(BlockInPlace, ShutdownEndsAWaitForATimer) {
  for (const absl::Duration bound :
       {absl::Milliseconds(10), absl::InfiniteDuration()}) {
    std::optional<Runtime> runtime(
        *Builder::MultiThread().WorkerThreads(2).LongPollBound(bound).Build());
    absl::Notification begun;
    absl::Status slept;
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
  }
}

// More threads block than can be replaced.
TEST(BlockInPlace, ShutdownEndsWaitsBeyondTheReplacementLimit) {
  for (const bool in_background : {false, true}) {
    constexpr int kCalls = 3;
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
    std::optional<Runtime> runtime(
        *Builder::MultiThread().WorkerThreads(1).MaxBlockingThreads(1).Build());
    const Handle handle = runtime->handle();
    auto body = [&]() -> Co<> {
      BlockInPlace([&] {
        ++begun;
        const absl::Status slept = handle.BlockOn(Sleep(absl::Hours(1)));
        EXPECT_THAT(slept, StatusIs(absl::StatusCode::kUnavailable));
        ++ended;
      });
      co_return;
    };
    for (int i = 0; i < kCalls; ++i) runtime->Spawn(body).Detach();
    while (begun < kCalls) std::this_thread::yield();
    if (in_background) {
      std::move(*runtime).ShutdownBackground();
      while (ended < kCalls) std::this_thread::yield();
    }
    runtime.reset();
    EXPECT_EQ(ended, kCalls);
  }
}

// Calls that end by themselves leave nothing behind for the replacement
// threads, which are all in use.
TEST(BlockInPlace, WithdrawnOffersDoNotAccumulate) {
  absl::Notification end;
  std::atomic<int> blocked{0};
  std::atomic<int> started{0};
  std::optional<Runtime> runtime(*Builder::MultiThread()
                                      .WorkerThreads(1)
                                      .MaxBlockingThreads(1)
                                      .OnThreadStart([&] { ++started; })
                                      .Build());
  auto blocks = [&]() -> Co<> {
    BlockInPlace([&] {
      ++blocked;
      end.WaitForNotification();
    });
    co_return;
  };
  // Blocks the worker's own thread, and one of the two replacement threads.
  for (int i = 1; i <= 2; ++i) {
    runtime->Spawn(blocks).Detach();
    while (blocked < i) std::this_thread::yield();
  }
  auto short_calls = []() -> Co<> {
    for (int i = 0; i < 100; ++i) BlockInPlace([] {});
    co_return;
  };
  EXPECT_THAT(runtime->BlockOn(runtime->Spawn(short_calls)), IsOk());
  std::thread destroying([&runtime] { runtime.reset(); });
  // Leaves time for the shutdown to start threads for waiting offers.
  absl::SleepFor(absl::Milliseconds(20));
  end.Notify();
  destroying.join();
  // Includes one more thread for the last offer.
  EXPECT_LE(started, 4);
}

// A blocking call's thread has no worker, and can call `BlockInPlace()`.
TEST(BlockInPlace, InABlockingCallOnlyCalls) {
  Runtime runtime = MakeRuntime(1);
  auto call = [] { return BlockInPlace([] { return 7; }); };
  EXPECT_THAT(runtime.BlockOn(runtime.SpawnBlocking(call)), IsOkAndHolds(7));
}

TEST(BlockInPlace, ACallCanSpawnDuringShutdown) {
  std::optional<Runtime> runtime(MakeRuntime(1));
  const Handle handle = runtime->handle();
  absl::Notification begun;
  std::atomic<bool> other_destroyed{false};
  runtime->Spawn(Never(&other_destroyed)).Detach();
  auto body = [&]() -> Co<> {
    BlockInPlace([&] {
      begun.Notify();
      while (!other_destroyed) std::this_thread::yield();
      handle.Spawn(Add(1, 2)).Detach();
    });
    Spawn(Add(1, 2)).Detach();
    co_await Yield();
  };
  JoinHandle<void> task = runtime->Spawn(body);
  begun.WaitForNotification();
  runtime.reset();
  EXPECT_TRUE(task.IsFinished());
  EXPECT_EQ(handle.alive_tasks(), 0u);
}

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests runtimes that are left to end by themselves. runtime/runtime_test.cc
// tests shutdowns that wait, and blocking_calls_test.cc tests the blocking
// calls in them.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/block_in_place.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;

constexpr absl::StatusCode kCancelled = absl::StatusCode::kCancelled;

// Notices the destruction of a runtime's options, which is after the
// destruction of the last of its handles.
class Destruction {
 public:
  // Returns a hook that owns the object whose destruction is noticed.
  std::function<void()> Hook() {
    auto owned = std::make_shared<int>();
    notified_ = owned;
    return [owned = std::move(owned)] {};
  }

  void Await() const {
    while (!notified_.expired()) std::this_thread::yield();
  }

 private:
  std::weak_ptr<int> notified_;
};

Runtime MakeRuntime(Destruction& destruction) {
  absl::StatusOr<Runtime> runtime = Builder::MultiThread()
                                        .WorkerThreads(2)
                                        .OnThreadPark(destruction.Hook())
                                        .Build();
  EXPECT_THAT(runtime, IsOk());
  return *std::move(runtime);
}

TEST(ShutdownTimeout, LeavesARunningPollBehind) {
  Destruction destruction;
  absl::Notification begun;
  absl::Notification end;
  Runtime runtime = MakeRuntime(destruction);
  std::optional<Handle> handle(runtime.handle());
  auto stuck = [&]() -> Co<int> {
    begun.Notify();
    end.WaitForNotification();
    co_return 7;
  };
  auto waiting = []() -> Co<> { co_await Sleep(absl::Hours(1)); };
  JoinHandle<int> last = runtime.Spawn(stuck);
  JoinHandle<void> sleeper = runtime.Spawn(waiting);
  begun.WaitForNotification();
  EXPECT_FALSE(std::move(runtime).ShutdownTimeout(absl::Milliseconds(1)));
  EXPECT_FALSE(last.IsFinished());
  EXPECT_THAT(BlockOn(handle->Spawn(waiting)), StatusIs(kCancelled));
  end.Notify();
  EXPECT_THAT(BlockOn(std::move(last)), IsOkAndHolds(7));
  EXPECT_THAT(BlockOn(std::move(sleeper)), StatusIs(kCancelled));
  while (handle->alive_tasks() > 0) std::this_thread::yield();
  handle.reset();
  destruction.Await();
}

TEST(ShutdownTimeout, ReturnsTrueIfAllThreadsHaveExited) {
  Destruction destruction;
  Runtime runtime = MakeRuntime(destruction);
  auto waiting = []() -> Co<> { co_await Sleep(absl::Hours(1)); };
  JoinHandle<void> sleeper = runtime.Spawn(waiting);
  EXPECT_TRUE(std::move(runtime).ShutdownTimeout(absl::Hours(1)));
  EXPECT_TRUE(sleeper.IsFinished());
}

TEST(ShutdownTimeout, LeavesABlockInPlaceCallBehind) {
  Destruction destruction;
  absl::Notification begun;
  absl::Notification end;
  Runtime runtime = MakeRuntime(destruction);
  auto stuck = [&]() -> Co<> {
    BlockInPlace([&] {
      begun.Notify();
      end.WaitForNotification();
    });
    co_return;
  };
  JoinHandle<void> call = runtime.Spawn(stuck);
  begun.WaitForNotification();
  EXPECT_FALSE(std::move(runtime).ShutdownTimeout(absl::Milliseconds(1)));
  end.Notify();
  EXPECT_THAT(BlockOn(std::move(call)), IsOk());
  destruction.Await();
}

// The workers end the timers, although no thread waits for the workers.
TEST(ShutdownBackground, EndsWaitsInBlockInPlace) {
  Destruction destruction;
  absl::Notification begun;
  Runtime runtime = MakeRuntime(destruction);
  auto stuck = [&]() -> Co<absl::Status> {
    absl::Status slept;
    BlockInPlace([&] {
      begun.Notify();
      slept = BlockOn(Sleep(absl::Hours(1)));
    });
    co_return slept;
  };
  JoinHandle<absl::Status> call = runtime.Spawn(stuck);
  begun.WaitForNotification();
  std::move(runtime).ShutdownBackground();
  EXPECT_THAT(BlockOn(std::move(call)),
              StatusIs(absl::StatusCode::kUnavailable));
  destruction.Await();
}

TEST(ShutdownBackground, EndsTasksOnTheThreadsOfTheRuntime) {
  // Records the thread on which it is destroyed.
  struct Noting {
    ~Noting() { *where = std::this_thread::get_id(); }
    std::atomic<std::thread::id>* where;
  };
  Destruction destruction;
  std::atomic<std::thread::id> where;
  std::atomic<bool> polled = false;
  Runtime runtime = MakeRuntime(destruction);
  auto waiting = [&]() -> Co<> {
    const Noting noting{&where};
    polled = true;
    co_await Sleep(absl::Hours(1));
  };
  runtime.Spawn(waiting).Detach();
  while (!polled) std::this_thread::yield();
  std::move(runtime).ShutdownBackground();
  destruction.Await();
  EXPECT_NE(where, std::thread::id());
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST(ShutdownBackground, ATaskCanShutDownItsOwnRuntime) {
  Destruction destruction;
  std::optional<Runtime> runtime;
  bool went_on = false;
  absl::Notification spawned;
  runtime.emplace(MakeRuntime(destruction));
  auto last_owner = [&]() -> Co<> {
    // The runtime must exist until `Spawn()` returns.
    spawned.WaitForNotification();
    std::move(*runtime).ShutdownBackground();
    // The task is polled to the end of this poll.
    co_await Yield();
    went_on = true;
  };
  JoinHandle<void> task = runtime->Spawn(last_owner);
  spawned.Notify();
  EXPECT_THAT(BlockOn(std::move(task)), StatusIs(kCancelled));
  destruction.Await();
  EXPECT_FALSE(went_on);
}

TEST(ShutdownBackground, ABlockInPlaceCallCanShutDownItsOwnRuntime) {
  Destruction destruction;
  std::optional<Runtime> runtime;
  absl::Notification spawned;
  runtime.emplace(MakeRuntime(destruction));
  auto last_owner = [&]() -> Co<> {
    spawned.WaitForNotification();
    BlockInPlace([&] { std::move(*runtime).ShutdownBackground(); });
    co_return;
  };
  JoinHandle<void> task = runtime->Spawn(last_owner);
  spawned.Notify();
  EXPECT_THAT(BlockOn(std::move(task)), IsOk());
  destruction.Await();
}

// The main future then continues without the runtime.
TEST(ShutdownBackground, AMainFutureCanShutDownItsOwnRuntime) {
  std::atomic<int> stopped = 0;
  absl::StatusOr<Runtime> runtime = Builder::MultiThread()
                                        .WorkerThreads(2)
                                        .OnThreadStop([&] { ++stopped; })
                                        .Build();
  ASSERT_THAT(runtime, IsOk());
  auto main = [&]() -> Co<absl::Status> {
    std::move(*runtime).ShutdownBackground();
    while (stopped < 2) std::this_thread::yield();
    co_return co_await Sleep(absl::Hours(1));
  };
  EXPECT_THAT(runtime->BlockOn(main), StatusIs(absl::StatusCode::kUnavailable));
}

#ifdef ABSL_HAVE_EXCEPTIONS
// The watchdog can end neither itself nor the driver that it is in.
TEST(ShutdownBackground, AWakerCalledByTheWatchdogCanShutDownTheRuntime) {
  Destruction destruction;
  absl::Notification worker_ended;
  absl::Notification shut_down;
  const auto clock = std::make_shared<Clock>();
  absl::StatusOr<Runtime> runtime =
      Builder::MultiThread()
          .WorkerThreads(1)
          .WithClock(clock)
          .OnUnhandledException(UnhandledException::kShutdownRuntime)
          .OnThreadStop([&] {
            if (!worker_ended.HasBeenNotified()) worker_ended.Notify();
          })
          .OnThreadPark(destruction.Hook())
          .Build();
  ASSERT_THAT(runtime, IsOk());
  clock->Pause();
  auto throws = []() -> Co<> {
    throw std::runtime_error("broken");
    co_return;
  };
  auto never = []() -> Co<> { co_await Sleep(absl::InfiniteDuration()); };
  runtime->Spawn(throws).Detach();
  EXPECT_PANIC(runtime->BlockOn(never), "ended with an exception: broken");
  // From now on only the watchdog checks for events.
  worker_ended.WaitForNotification();
  std::optional<EnterGuard> enter(std::in_place, runtime->handle());
  std::optional<Sleep> sleep(std::in_place, absl::Hours(1));
  const Waker waker = Waker::FromCallable([&] {
    std::move(*runtime).ShutdownBackground();
    shut_down.Notify();
  });
  Context cx(waker);
  ASSERT_TRUE(sleep->Poll(cx).IsPending());
  clock->Advance(absl::Hours(1));
  shut_down.WaitForNotification();
  sleep.reset();
  enter.reset();
  destruction.Await();
}

TEST(ShutdownBackground, ATaskMustNotShutDownACurrentThreadRuntime) {
  absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
  ASSERT_THAT(runtime, IsOk());
  auto task = [&]() -> Co<> {
    EXPECT_PANIC(std::move(*runtime).ShutdownBackground(),
                 "by one of its own tasks");
    co_return;
  };
  EXPECT_THAT(runtime->BlockOn(runtime->Spawn(task)), IsOk());
}
#endif

}  // namespace
}  // namespace rouse

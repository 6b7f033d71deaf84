// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/watchdog.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/event_count.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/scheduler/worker.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::scheduler {
namespace {

using ::absl_testing::IsOk;

// A driver on a futex that records the calls.
class NotingDriver {
 public:
  using Unparker = ThreadParker::Unparker;

  Unparker unparker() { return parker_.unparker(); }
  void Park() {
    if (!parked.HasBeenNotified()) parked.Notify();
    parker_.Park();
  }
  void ParkFor(absl::Duration limit) {
    EXPECT_EQ(limit, absl::ZeroDuration());
    ++polls;
  }
  void Shutdown() {}

  absl::Notification parked;
  std::atomic<int> polls{0};

 private:
  ThreadParker parker_;
};

// The test's thread acts as the workers, none of which begins a poll: to the
// watchdog, all workers that are not asleep are stuck.
class WatchdogTest : public ::testing::Test {
 protected:
  // No worker with tasks checks for events.
  static scheduler::Options Options() {
    return {.workers = 2, .event_interval = UINT32_MAX};
  }

  ~WatchdogTest() override {
    scheduler_->Close();
    if (thread_.joinable()) thread_.join();
    watchdog_ = nullptr;
    for (task::Header* task : rescued_) queues().Of(0).Push(task);
    scheduler_->CancelAll();
    EXPECT_EQ(scheduler_->alive_tasks(), 0u);
    scheduler_->Unref();
  }

  void Start(absl::Duration bound = absl::Milliseconds(1)) {
    absl::StatusOr<std::unique_ptr<Watchdog>> watchdog =
        Watchdog::Start(*scheduler_, bound, "dog");
    ASSERT_THAT(watchdog, IsOk());
    watchdog_ = *std::move(watchdog);
  }

  // Leaves a task in the LIFO slot of `worker`.
  void PushNext(size_t worker) {
    auto nothing = []() -> Co<> { co_return; };
    scheduler_->Spawn(nothing).Detach();
    queues().Of(worker).PushNext(queues().Of(worker).PopGlobal());
  }

  // Waits until the watchdog has checked, and found `worker` stuck.
  void AwaitCheck(size_t worker) {
    PushNext(worker);
    while (queues().global_depth() == 0) std::this_thread::yield();
    EXPECT_EQ(queues().Of(worker).PopNext(), nullptr);
    // Hidden from the watchdog: in a queue the task would be found stuck again.
    rescued_.push_back(queues().Of(worker).PopGlobal());
  }

  // The watchdog wakes a worker for a task that it has moved, but not at once:
  // the wake may come after the task has been taken, when `worker` sleeps
  // again.
  void SleepAgainIfWoken(size_t worker) {
    if (queues().idle().IsAsleep(worker)) return;
    queues().Of(worker).Awake();
    queues().Of(worker).EndSearching();
    ASSERT_TRUE(queues().Of(worker).Sleep());
  }

  Scheduler::Queues& queues() { return scheduler_->queues(); }

  NotingDriver driver_;
  Scheduler* scheduler_ = new Scheduler(
      std::make_unique<DriverRef<NotingDriver>>(driver_), Options());
  std::unique_ptr<Watchdog> watchdog_;
  std::thread thread_;
  std::vector<task::Header*> rescued_;  // to be cancelled at the end
};

TEST_F(WatchdogTest, EndsAtOnce) { Start(); }

// Tokio #4941.
TEST_F(WatchdogTest, TakesTheNextTaskFromAStuckWorker) {
  PushNext(0);
  PushNext(1);
  Start();
  while (queues().global_depth() < 2) std::this_thread::yield();
  EXPECT_EQ(queues().Of(0).PopNext(), nullptr);
  EXPECT_EQ(queues().Of(1).PopNext(), nullptr);
}

TEST_F(WatchdogTest, ChecksForEventsIfAllWorkersAreStuck) {
  Start();
  while (driver_.polls < 3) std::this_thread::yield();
  EXPECT_FALSE(driver_.parked.HasBeenNotified());
}

// A worker is not stuck, but has many polls to do before it checks for events.
TEST_F(WatchdogTest, ChecksForEventsIfNoWorkerDoes) {
  auto body = []() -> Co<> {
    for (;;) co_await Yield();
  };
  scheduler_->Spawn(body).Detach();
  thread_ = std::thread([this] { scheduler_->worker(0).Run(); });
  while (scheduler_->worker(0).tick() == 0) std::this_thread::yield();
  Start();
  while (driver_.polls < 3) std::this_thread::yield();
}

TEST_F(WatchdogTest, LeavesTheDriverToItsHolder) {
  ASSERT_TRUE(scheduler_->driver().TryHold());
  Start();
  for (int i = 0; i < 3; ++i) AwaitCheck(0);
  EXPECT_EQ(driver_.polls, 0);
  scheduler_->driver().Release();
}

// Tokio #4730. The worker sleeps while another thread holds the driver. Then
// the holder leaves the driver and gets stuck.
TEST_F(WatchdogTest, MakesASleepingWorkerParkInTheDriver) {
  ASSERT_TRUE(scheduler_->driver().TryHold());
  thread_ = std::thread([this] { scheduler_->worker(1).Run(); });
  while (!queues().idle().IsAsleep(1)) std::this_thread::yield();
  scheduler_->driver().Release();
  Start();
  driver_.parked.WaitForNotification();
}

// A worker that searches keeps others from being woken, and may be off its
// processor, or dispatch events that wake none of the scheduler's tasks.
TEST_F(WatchdogTest, WakesAWorkerForATaskThatWaits) {
  // Otherwise the watchdog would wake the sleeping worker, to check for events.
  ASSERT_TRUE(scheduler_->driver().TryHold());
  FastRand rand(0);
  ASSERT_EQ(queues().Of(0).Steal(rand), nullptr);
  ASSERT_TRUE(queues().Of(1).Sleep());
  auto nothing = []() -> Co<> { co_return; };
  scheduler_->Spawn(nothing).Detach();
  ASSERT_TRUE(queues().idle().IsAsleep(1));
  Start();
  while (queues().idle().IsAsleep(1)) std::this_thread::yield();
  scheduler_->driver().Release();
}

// The watchdog sleeps after some checks in vain, and would stay asleep if it
// were not woken.
TEST_F(WatchdogTest, IsWokenByAWakingWorker) {
  // Otherwise the watchdog would wake the sleeping worker, to check for events.
  ASSERT_TRUE(scheduler_->driver().TryHold());
  ASSERT_TRUE(queues().Of(1).Sleep());
  Start();
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(queues().Of(0).Sleep());
    // Early, the watchdog still checks; late, it sleeps, or is about to sleep.
    const bool late = i % 2 == 0;
    while (late && !scheduler_->awake_event().IsAwaited()) {
      SleepAgainIfWoken(0);
      SleepAgainIfWoken(1);
      std::this_thread::yield();
    }
    queues().Of(0).Awake();
    queues().Of(0).EndSearching();
    scheduler_->awake_event().Notify();
    // This worker of the two is stuck.
    PushNext(0);
    while (queues().global_depth() == 0) std::this_thread::yield();
    queues().Of(0).PopNext();
    rescued_.push_back(queues().Of(0).PopGlobal());
    // The other worker is woken for the task.
    SleepAgainIfWoken(1);
  }
  scheduler_->driver().Release();
}

// The wake and the end of the watchdog may coincide.
TEST_F(WatchdogTest, EndsAtOnceAfterAWake) {
  ASSERT_TRUE(queues().Of(0).Sleep());
  ASSERT_TRUE(queues().Of(1).Sleep());
  constexpr absl::Duration kBound = absl::Minutes(2);
  Start(kBound);
  EventCount& event = scheduler_->awake_event();
  while (!event.IsAwaited()) {
    // Makes the watchdog check now, and not after half the bound.
    event.PrepareWait();
    event.Notify();
    // Until the watchdog has checked. When it is awaited, it must be parked,
    // without a token.
    absl::SleepFor(absl::Milliseconds(1));
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  event.Notify();
  watchdog_ = nullptr;
  EXPECT_LT(absl::FromChrono(Clock::now() - start), kBound / 4);
}

// A worker in another event loop was asleep for a moment, in which the watchdog
// may have begun to wait.
TEST(WatchdogWaitTest, AWorkerThatFindsATaskInsteadOfWaitingNotifies) {
  Scheduler* scheduler = nullptr;
  const ThreadParker watchdog;
  const auto before_park = [&scheduler] {
    scheduler->Spawn([]() -> Co<> { co_return; }).Detach();
    scheduler->awake_event().PrepareWait();
  };
  NotingDriver driver;
  scheduler =
      new Scheduler(std::make_unique<DriverRef<NotingDriver>>(driver),
                    {.workers = 1, .hooks = {.before_park = before_park}});
  scheduler->awake_event().SetWaiter(watchdog.unparker());
  EXPECT_EQ(scheduler->worker(0).BeginWait(), absl::ZeroDuration());
  EXPECT_FALSE(scheduler->awake_event().IsAwaited());
  scheduler->Close();
  scheduler->CancelAll();
  scheduler->Unref();
}

}  // namespace
}  // namespace rouse::scheduler

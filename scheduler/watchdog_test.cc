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
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/scheduler/awake_bell.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/scheduler/worker.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::scheduler {
namespace {

using ::absl_testing::IsOk;

// A driver on a futex that notes who comes.
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

// The test's thread is the workers, none of which begins a poll: as far as the
// watchdog sees, those that are not asleep are stuck.
class WatchdogTest : public ::testing::Test {
 protected:
  // No worker comes to look for events while it has tasks.
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

  // Leaves a task in the slot of `worker`.
  void PushNext(size_t worker) {
    auto nothing = []() -> Co<> { co_return; };
    scheduler_->Spawn(nothing).Detach();
    queues().Of(worker).PushNext(queues().Of(worker).PopGlobal());
  }

  // Until the watchdog has looked, and found `worker` stuck.
  void AwaitLook(size_t worker) {
    PushNext(worker);
    while (queues().global_depth() == 0) std::this_thread::yield();
    EXPECT_EQ(queues().Of(worker).PopNext(), nullptr);
    // Out of its sight: in a queue it would be found stuck there again.
    rescued_.push_back(queues().Of(worker).PopGlobal());
  }

  // The watchdog wakes somebody for a task that it has moved, but not at once:
  // that may come when the task has gone, and `worker` sleeps again.
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

TEST_F(WatchdogTest, LooksForEventsIfAllWorkersAreStuck) {
  Start();
  while (driver_.polls < 3) std::this_thread::yield();
  EXPECT_FALSE(driver_.parked.HasBeenNotified());
}

// A worker that is not stuck, but has polls to do before it looks for events.
TEST_F(WatchdogTest, LooksForEventsIfNoWorkerDoes) {
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
  for (int i = 0; i < 3; ++i) AwaitLook(0);
  EXPECT_EQ(driver_.polls, 0);
  scheduler_->driver().Release();
}

// Tokio #4730. The worker sleeps beside the driver, whose holder leaves it and
// gets stuck.
TEST_F(WatchdogTest, HasASleeperParkInTheDriver) {
  ASSERT_TRUE(scheduler_->driver().TryHold());
  thread_ = std::thread([this] { scheduler_->worker(1).Run(); });
  while (!queues().idle().IsAsleep(1)) std::this_thread::yield();
  scheduler_->driver().Release();
  Start();
  driver_.parked.WaitForNotification();
}

// It sleeps after some looks in vain; not to be woken, it would stay so.
TEST_F(WatchdogTest, IsWokenByAWorkerThatAwakes) {
  // Else it would wake the one that sleeps, to look for events.
  ASSERT_TRUE(scheduler_->driver().TryHold());
  ASSERT_TRUE(queues().Of(1).Sleep());
  Start();
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(queues().Of(0).Sleep());
    // While it still looks; and when it sleeps, or is about to.
    const bool late = i % 2 == 0;
    while (late && !scheduler_->awake_bell().IsAwaited()) {
      SleepAgainIfWoken(0);
      SleepAgainIfWoken(1);
      std::this_thread::yield();
    }
    queues().Of(0).Awake();
    queues().Of(0).EndSearching();
    scheduler_->awake_bell().Ring();
    // Which of the two is stuck.
    PushNext(0);
    while (queues().global_depth() == 0) std::this_thread::yield();
    queues().Of(0).PopNext();
    rescued_.push_back(queues().Of(0).PopGlobal());
    // The other one is woken for the task.
    SleepAgainIfWoken(1);
  }
  scheduler_->driver().Release();
}

// What wakes it and what ends it may come as one.
TEST_F(WatchdogTest, EndsAtOnceAlthoughItWasJustWoken) {
  ASSERT_TRUE(queues().Of(0).Sleep());
  ASSERT_TRUE(queues().Of(1).Sleep());
  constexpr absl::Duration kBound = absl::Minutes(2);
  Start(kBound);
  AwakeBell& bell = scheduler_->awake_bell();
  while (!bell.IsAwaited()) {
    // Not after half the bound, but now it looks.
    bell.Await();
    bell.Ring();
    // Until it has; to be parked, without a token, when it is awaited.
    absl::SleepFor(absl::Milliseconds(1));
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  bell.Ring();
  watchdog_ = nullptr;
  EXPECT_LT(absl::FromChrono(Clock::now() - start), kBound / 4);
}

}  // namespace
}  // namespace rouse::scheduler

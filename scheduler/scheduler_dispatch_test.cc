// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A worker that handles events for long, or that is held up after it has found
// a task, does not delay tasks that others can run.

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/worker.h"
#include "rouse/testing/internal/parking_driver.h"
#include "rouse/timer/clock.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::scheduler {
namespace {

using rouse::testing::internal::ParkingDriver;

// A driver whose first park wakes a task, and then handles another event until
// the task has run.
class LongDispatch final : public ParkingDriver {
 public:
  struct Control {
    std::optional<Waker> waker;
    absl::Notification has_woken;
    absl::Notification has_run;
  };

  explicit LongDispatch(Control* control) : control_(control) {}

  void Park() override {
    if (control_->has_woken.HasBeenNotified()) return ParkingDriver::Park();
    control_->waker->WakeByRef();
    control_->has_woken.Notify();
    control_->has_run.WaitForNotificationWithTimeout(absl::Seconds(30));
  }

 private:
  Control* const control_;
};

// The worker in the driver is awake from when the driver wakes a task: a worker
// that searches then finds the task.
TEST(SchedulerDispatchTest, ATaskWokenByALongDispatchRunsOnAnotherWorker) {
  LongDispatch::Control control;
  auto* const scheduler =
      new Scheduler(std::make_unique<LongDispatch>(&control), {.workers = 2});
  absl::Notification other_is_busy;
  scheduler
      ->Spawn([&]() -> Co<> {
        other_is_busy.Notify();
        control.has_woken.WaitForNotification();
        co_return;
      })
      .Detach();
  std::thread other([scheduler] { scheduler->worker(1).Run(); });
  other_is_busy.WaitForNotification();
  scheduler
      ->Spawn(PollFn([&control](Context& cx) -> PollResult<void> {
        if (control.waker.has_value()) {
          control.has_run.Notify();
          return {};
        }
        control.waker = cx.waker().Clone();
        return kPending;
      }))
      .Detach();
  std::thread in_driver([scheduler] { scheduler->worker(0).Run(); });
  EXPECT_TRUE(
      control.has_run.WaitForNotificationWithTimeout(absl::Seconds(30)));
  scheduler->Close();
  other.join();
  in_driver.join();
  control.waker.reset();
  scheduler->CancelAll();
  scheduler->Unref();
}

// Like the test above, for a worker that was woken for another task before the
// dispatch woke its own: the woken worker no longer searches, and lets another
// worker take the other task.
TEST(SchedulerDispatchTest,
     ATaskInjectedDuringALongDispatchRunsOnAnotherWorker) {
  struct Control {
    std::optional<Waker> waker;
    absl::Notification has_parked;
    absl::Notification has_run;
    bool was_run_in_time = false;
  };
  // A driver whose first park ends with an unpark, after which it wakes a task
  // and then handles another event until the other task has run.
  class Driver final : public ParkingDriver {
   public:
    explicit Driver(Control* control) : control_(control) {}

    void Park() override {
      if (control_->has_parked.HasBeenNotified()) return ParkingDriver::Park();
      control_->has_parked.Notify();
      ParkingDriver::Park();
      control_->waker->WakeByRef();
      control_->was_run_in_time =
          control_->has_run.WaitForNotificationWithTimeout(absl::Seconds(30));
    }

   private:
    Control* const control_;
  };
  Control control;
  auto* const scheduler =
      new Scheduler(std::make_unique<Driver>(&control), {.workers = 2});
  scheduler
      ->Spawn(PollFn([&control](Context& cx) -> PollResult<void> {
        if (control.waker.has_value()) return {};
        control.waker = cx.waker().Clone();
        return kPending;
      }))
      .Detach();
  std::thread in_driver([scheduler] { scheduler->worker(0).Run(); });
  control.has_parked.WaitForNotification();
  std::thread other([scheduler] { scheduler->worker(1).Run(); });
  while (scheduler->queues().idle().asleep() < 2) std::this_thread::yield();
  scheduler
      ->Spawn([&control]() -> Co<> {
        control.has_run.Notify();
        co_return;
      })
      .Detach();
  control.has_run.WaitForNotification();
  scheduler->Close();
  other.join();
  in_driver.join();
  EXPECT_TRUE(control.was_run_in_time);
  control.waker.reset();
  scheduler->CancelAll();
  scheduler->Unref();
}

// A worker searches in vain, and finds a task when it is about to park. While
// it searched, no other worker was woken for the task. The hook that is then
// called may take long: another worker is woken now.
TEST(SchedulerDispatchTest, ATaskDoesNotWaitForAHookAfterAFailedSleep) {
  struct Control {
    absl::Notification has_parked;
    absl::Notification goes_on;
    absl::Notification has_run;
    Scheduler* scheduler = nullptr;
    // The thread of the worker that finds the task.
    std::atomic<std::thread::id> checking{};
    bool was_delayed = false;
  };
  // A driver whose first park ends when the test says so. A task is spawned
  // elsewhere during the next check for events, after the worker's search.
  class Driver final : public ParkingDriver {
   public:
    explicit Driver(Control* control) : control_(control) {}

    void Park() override {
      if (control_->has_parked.HasBeenNotified()) return ParkingDriver::Park();
      control_->has_parked.Notify();
      control_->goes_on.WaitForNotification();
    }
    void ParkFor(absl::Duration) override {
      if (!control_->goes_on.HasBeenNotified() ||
          control_->checking.load() != std::thread::id()) {
        return;
      }
      control_->checking = std::this_thread::get_id();
      std::thread([this] {
        control_->scheduler
            ->Spawn([control = control_]() -> Co<> {
              control->has_run.Notify();
              co_return;
            })
            .Detach();
      }).join();
    }

   private:
    Control* const control_;
  };
  Control control;
  Options options = {.workers = 2};
  // With such a clock, a worker checks for events before it parks.
  options.clock = std::make_shared<Clock>();
  options.clock->Pause();
  options.clock->SetAutoAdvance(true);
  options.hooks.after_unpark = [&control] {
    if (control.checking.load() != std::this_thread::get_id()) return;
    if (!control.has_run.WaitForNotificationWithTimeout(absl::Seconds(30))) {
      control.was_delayed = true;
    }
  };
  auto* const scheduler =
      new Scheduler(std::make_unique<Driver>(&control), std::move(options));
  control.scheduler = scheduler;
  std::thread in_driver([scheduler] { scheduler->worker(0).Run(); });
  control.has_parked.WaitForNotification();
  std::thread other([scheduler] { scheduler->worker(1).Run(); });
  while (scheduler->queues().idle().asleep() < 2) std::this_thread::yield();
  control.goes_on.Notify();
  control.has_run.WaitForNotification();
  scheduler->Close();
  other.join();
  in_driver.join();
  EXPECT_FALSE(control.was_delayed);
  scheduler->CancelAll();
  scheduler->Unref();
}

}  // namespace
}  // namespace rouse::scheduler

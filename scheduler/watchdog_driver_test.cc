// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <thread>

#include "absl/status/status_matchers.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/watchdog.h"
#include "rouse/scheduler/worker.h"
#include "rouse/testing/internal/parking_driver.h"

namespace rouse::scheduler {
namespace {

using rouse::testing::internal::ParkingDriver;

// Events in the driver, and a check for events that lasts until it is notified
// to end.
struct Events {
  absl::Notification looking;
  absl::Notification end_look;
  absl::Notification parked;
};

class SlowDriver final : public ParkingDriver {
 public:
  explicit SlowDriver(Events* events) : events_(events) {}

  void Park() override {
    if (!events_->parked.HasBeenNotified()) events_->parked.Notify();
    ParkingDriver::Park();
  }
  void ParkFor(absl::Duration) override {
    if (events_->looking.HasBeenNotified()) return;
    events_->looking.Notify();
    events_->end_look.WaitForNotification();
  }

 private:
  Events* const events_;
};

TEST(WatchdogTest, ASleepingWorkerGetsTheDriverFromTheWatchdog) {
  Events events;
  auto* const scheduler = new Scheduler(std::make_unique<SlowDriver>(&events));
  auto watchdog = Watchdog::Start(*scheduler, absl::Milliseconds(1), "dog");
  ASSERT_THAT(watchdog, absl_testing::IsOk());
  // A poll so long that the watchdog checks for events.
  auto stuck = [&events]() -> Co<> {
    events.looking.WaitForNotification();
    co_return;
  };
  scheduler->Spawn(stuck).Detach();
  std::thread thread([scheduler] { scheduler->worker(0).Run(); });
  events.looking.WaitForNotification();
  while (scheduler->queues().idle().asleep() == 0) std::this_thread::yield();
  // By then the worker has nearly always found the driver held.
  absl::SleepFor(absl::Milliseconds(1));
  events.end_look.Notify();
  EXPECT_TRUE(events.parked.WaitForNotificationWithTimeout(absl::Seconds(30)));
  scheduler->Close();
  thread.join();
  *watchdog = nullptr;
  scheduler->CancelAll();
  scheduler->Unref();
}

// A driver that is unparked like others until `has_dispatch`. From then on, an
// unpark finds the worker in a dispatch, which wakes tasks of other schedulers
// until it is notified to end.
class BusyDriver final : public ParkingDriver {
 public:
  BusyDriver(Events* events, absl::Notification* has_dispatch)
      : events_(events), has_dispatch_(has_dispatch) {}

  void Park() override {
    if (!events_->parked.HasBeenNotified()) events_->parked.Notify();
    ParkingDriver::Park();
    if (has_dispatch_->HasBeenNotified()) {
      events_->end_look.WaitForNotification();
    }
  }

 private:
  Events* const events_;
  absl::Notification* const has_dispatch_;
};

// The worker in the driver is woken for the task, and so is the watchdog.
TEST(WatchdogTest, ATaskDoesNotWaitForTheEndOfADispatch) {
  Events events;
  absl::Notification has_dispatch;
  auto* const scheduler = new Scheduler(
      std::make_unique<BusyDriver>(&events, &has_dispatch), {.workers = 2});
  auto watchdog = Watchdog::Start(*scheduler, absl::Milliseconds(1), "dog");
  ASSERT_THAT(watchdog, absl_testing::IsOk());
  std::thread in_driver([scheduler] { scheduler->worker(0).Run(); });
  events.parked.WaitForNotification();
  std::thread other([scheduler] { scheduler->worker(1).Run(); });
  while (scheduler->queues().idle().asleep() < 2 ||
         !scheduler->awake_event().IsAwaited()) {
    std::this_thread::yield();
  }
  has_dispatch.Notify();
  absl::Notification has_run;
  auto body = [&has_run]() -> Co<> {
    has_run.Notify();
    co_return;
  };
  scheduler->Spawn(body).Detach();
  EXPECT_TRUE(has_run.WaitForNotificationWithTimeout(absl::Seconds(30)));
  events.end_look.Notify();
  scheduler->Close();
  in_driver.join();
  other.join();
  *watchdog = nullptr;
  scheduler->CancelAll();
  scheduler->Unref();
}

}  // namespace
}  // namespace rouse::scheduler

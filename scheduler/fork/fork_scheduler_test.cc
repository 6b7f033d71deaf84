// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests forks on schedulers whose drivers do unusual things.

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

#include "absl/base/config.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/scheduler/fork/fork.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/worker.h"
#include "rouse/testing/internal/parking_driver.h"
#include "rouse/testing/poll_once.h"

namespace rouse::scheduler {
namespace {

using rouse::testing::internal::ParkingDriver;

#ifdef ABSL_HAVE_EXCEPTIONS

struct Control {
  std::atomic<bool> is_parked = false;
  std::atomic<bool> throws = false;
  absl::Notification has_begun;
  std::atomic<int> begins = 0;
};

// A driver that throws after it has unparked the worker, once the woken worker
// has begun the child.
class ThrowingDriver final : public ParkingDriver {
 public:
  explicit ThrowingDriver(Control* control) : control_(control) {}

  void Park() override {
    control_->is_parked = true;
    ParkingDriver::Park();
    control_->is_parked = false;
  }
  void Unpark() const override {
    ParkingDriver::Unpark();
    if (!control_->throws.exchange(false)) return;
    control_->has_begun.WaitForNotification();
    throw std::runtime_error("thrown after the push");
  }

 private:
  Control* const control_;
};

TEST(ForkScheduler, AChildBeginsOnceAlthoughItsPushThrows) {
  Control control;
  auto* const scheduler =
      new Scheduler(std::make_unique<ThrowingDriver>(&control), {.workers = 2});
  absl::Notification may_end;
  absl::Notification done;
  auto first = [&]() -> Co<> {
    may_end.Notify();
    co_return;
  };
  auto given = [&]() -> Co<> {
    ++control.begins;
    control.has_begun.Notify();
    may_end.WaitForNotification();
    co_return;
  };
  auto task = [&]() -> Co<> {
    // The other worker is in the driver, to be unparked there.
    while (!control.is_parked) std::this_thread::yield();
    control.throws = true;
    co_await Fork(first, given);
    done.Notify();
  };
  scheduler->Spawn(task).Detach();
  std::thread one([scheduler] { scheduler->worker(0).Run(); });
  std::thread other([scheduler] { scheduler->worker(1).Run(); });
  done.WaitForNotification();
  EXPECT_EQ(control.begins, 1);
  EXPECT_FALSE(control.throws);
  scheduler->Close();
  one.join();
  other.join();
  scheduler->CancelAll();
  scheduler->Unref();
}

#endif  // ABSL_HAVE_EXCEPTIONS

// A worker in the driver is marked as asleep, and others pass over its queues.
TEST(ForkScheduler, OthersTakeAChildGivenAwayInTheDriver) {
  struct Shared {
    absl::Notification other_is_busy;
    absl::Notification first_has_begun;
    absl::Notification child_has_run;
    bool was_in_time = false;
  };
  // A driver whose first park polls a fork, as a waker might do.
  class Driver final : public ParkingDriver {
   public:
    explicit Driver(Shared* shared) : shared_(shared) {}

    void Park() override {
      if (shared_->first_has_begun.HasBeenNotified()) {
        return ParkingDriver::Park();
      }
      auto first = [this]() -> Co<> {
        // The other child has been given away.
        shared_->first_has_begun.Notify();
        shared_->was_in_time =
            shared_->child_has_run.WaitForNotificationWithTimeout(
                absl::Seconds(30));
        co_return;
      };
      auto given = [this]() -> Co<> {
        shared_->child_has_run.Notify();
        co_return;
      };
      auto fork = Fork(first, given);
      while (PollOnce(fork).IsPending()) std::this_thread::yield();
    }

   private:
    Shared* const shared_;
  };
  Shared shared;
  auto* const scheduler =
      new Scheduler(std::make_unique<Driver>(&shared), {.workers = 2});
  scheduler
      ->Spawn([&]() -> Co<> {
        shared.other_is_busy.Notify();
        shared.first_has_begun.WaitForNotification();
        co_return;
      })
      .Detach();
  std::thread other([scheduler] { scheduler->worker(1).Run(); });
  shared.other_is_busy.WaitForNotification();
  std::thread in_driver([scheduler] { scheduler->worker(0).Run(); });
  shared.child_has_run.WaitForNotification();
  scheduler->Close();
  other.join();
  in_driver.join();
  EXPECT_TRUE(shared.was_in_time);
  scheduler->CancelAll();
  scheduler->Unref();
}

}  // namespace
}  // namespace rouse::scheduler

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A scheduler when memory is lacking.

#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/event_count.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/scheduler/worker.h"
#include "rouse/testing/failing_allocations.h"
#include "rouse/timer/clock.h"
#include "rouse/waker/thread_parker.h"

#ifdef ROUSE_CAN_FAIL_ALLOCATIONS

namespace rouse::scheduler {
namespace {

struct Control {
  std::function<void()> park;
  bool is_unparked = false;
};

// A driver that calls a function when a worker parks in it.
class TestDriver final : public AnyDriver {
 public:
  explicit TestDriver(Control* control) : control_(control) {}

  void Park() override { control_->park(); }
  void ParkFor(absl::Duration) override {}
  absl::Duration PrepareToWait() override { return absl::ZeroDuration(); }
  void Shutdown() override {}
  void Unpark() const override { control_->is_unparked = true; }

 private:
  Control* const control_;
};

// A scheduler with an auto-advancing clock, which workers hold while they are
// awake, and a worker that parks once, and finds `task_` afterwards.
class SchedulerMemoryTest : public testing::Test {
 protected:
  SchedulerMemoryTest() {
    auto clock = std::make_shared<Clock>();
    clock->Pause();
    clock->SetAutoAdvance(true);
    scheduler_ = new Scheduler(std::make_unique<TestDriver>(&control_),
                               {.clock = clock});
    scheduler_
        ->Spawn([this]() -> Co<> {
          has_run_ = true;
          co_return;
        })
        .Detach();
    // Hidden until the worker is in the driver.
    task_ = scheduler_->queues().Of(0).PopGlobal();
  }
  ~SchedulerMemoryTest() override {
    scheduler_->Close();
    scheduler_->CancelAll();
    scheduler_->Unref();
  }

  // Runs the worker, which calls `park` in the driver.
  void Run(std::function<void()> park) {
    control_.park = std::move(park);
    scheduler_->worker(0).RunUntil([this] { return has_run_; });
  }

  Control control_;
  Scheduler* scheduler_;
  task::Header* task_;
  bool has_run_ = false;
};

// The driver queues a task. The worker is marked as awake, and holds the clock.
TEST_F(SchedulerMemoryTest, AWorkerIsWokenInItsDriverWithoutMemory) {
  ThreadParker watchdog;
  EventCount& event = scheduler_->awake_event();
  event.SetWaiter(watchdog.unparker());
  bool was_notified = false;
  Run([&] {
    event.PrepareWait();
    const FailingAllocation failing(0);
    Worker::Current()->Schedule(task_);
    was_notified = !event.IsAwaited();
    EXPECT_FALSE(failing.has_failed());
  });
  EXPECT_TRUE(was_notified);
}

// Otherwise the worker would sleep on, and count as awake.
TEST_F(SchedulerMemoryTest, AWorkerIsUnparkedWithoutMemory) {
  Run([this] {
    std::thread([this] {
      const FailingAllocation failing(0);
      scheduler_->Submit(task_);
      EXPECT_FALSE(failing.has_failed());
    }).join();
    EXPECT_TRUE(control_.is_unparked);
  });
}

}  // namespace
}  // namespace rouse::scheduler

#endif

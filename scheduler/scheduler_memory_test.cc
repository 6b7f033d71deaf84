// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A scheduler when memory is lacking.

#include <memory>
#include <new>

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
  task::Header* task = nullptr;
  bool has_failed = false;
  bool was_notified = false;
};

// A driver that queues a task while it is parked in, first in vain for lack of
// memory.
class FailingDriver final : public AnyDriver {
 public:
  explicit FailingDriver(Control* control) : control_(control) {}

  void Park() override {
    Worker& worker = *Worker::Current();
    EventCount& event = worker.scheduler().awake_event();
    event.PrepareWait();
    {
      const FailingAllocation failing(0);
      try {
        worker.Schedule(control_->task);
      } catch (const std::bad_alloc&) {
        control_->has_failed = true;
      }
    }
    control_->was_notified = !event.IsAwaited();
    worker.Schedule(control_->task);
  }
  void ParkFor(absl::Duration) override {}
  void Shutdown() override {}
  void Unpark() const override {}

 private:
  Control* const control_;
};

// The worker is marked as awake, whether or not it could hold the clock.
TEST(SchedulerMemory, AWorkerThatCannotHoldTheClockWakesTheWatchdog) {
  Control control;
  auto clock = std::make_shared<Clock>();
  clock->Pause();
  clock->SetAutoAdvance(true);
  auto* const scheduler = new Scheduler(
      std::make_unique<FailingDriver>(&control), {.clock = clock});
  ThreadParker watchdog;
  scheduler->awake_event().SetWaiter(watchdog.unparker());
  bool has_run = false;
  scheduler
      ->Spawn([&has_run]() -> Co<> {
        has_run = true;
        co_return;
      })
      .Detach();
  // Hidden until the worker is in the driver.
  control.task = scheduler->queues().Of(0).PopGlobal();
  scheduler->worker(0).RunUntil([&has_run] { return has_run; });
  EXPECT_TRUE(control.has_failed);
  EXPECT_TRUE(control.was_notified);
  scheduler->Close();
  scheduler->CancelAll();
  scheduler->Unref();
}

}  // namespace
}  // namespace rouse::scheduler

#endif

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/watchdog.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/memory/memory.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/base/thread.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/worker.h"
#include "rouse/timer/clock.h"

namespace rouse::scheduler {

absl::StatusOr<std::unique_ptr<Watchdog>> Watchdog::Start(
    Scheduler& scheduler, absl::Duration bound, const std::string& name,
    std::function<std::shared_ptr<void>()> scope) {
  std::unique_ptr<Watchdog> watchdog =
      absl::WrapUnique(new Watchdog(scheduler, bound));
  scheduler.awake_event().SetWaiter(watchdog->parker_.unparker());
  absl::StatusOr<Thread> thread =
      Thread::Start(name, [self = watchdog.get(), scope = std::move(scope)] {
        const std::shared_ptr<void> here = scope ? scope() : nullptr;
        self->Run();
      });
  if (!thread.ok()) return thread.status();
  watchdog->thread_ = *std::move(thread);
  return watchdog;
}

Watchdog::Watchdog(Scheduler& scheduler, absl::Duration bound)
    : scheduler_(scheduler),
      period_(bound / 2),
      ticks_(scheduler.worker_count(), 0),
      progress_(scheduler.worker_count(), 0),
      found_(scheduler.worker_count(), false) {}

Watchdog::~Watchdog() {
  // Relaxed: the thread is joined. The unpark makes the store visible.
  stop_.store(true, std::memory_order_relaxed);
  parker_.unparker().Unpark();
}

void Watchdog::Run() {
  int quiet = 0;
  while (!stop_.load(std::memory_order_relaxed)) {
    if (Check()) {
      quiet = 0;
    } else if (++quiet >= kQuietChecks) {
      quiet = 0;
      SleepUntilAWorkerIsAwake();
      // The wake may have been for the stop as well.
      if (stop_.load(std::memory_order_relaxed)) return;
    }
    parker_.ParkFor(period_);
  }
}

bool Watchdog::Check() {
  // From when the watchdog takes a task out of a LIFO slot, or a worker from
  // the sleeping ones, to when the worker has a hold.
  std::optional<Clock::AutoAdvanceHold> hold;
  Clock* const clock = scheduler_.options().clock.get();
  if (clock != nullptr && clock->HasAutoAdvance()) hold.emplace(*clock);
  bool awake = false;
  for (size_t i = 0; i < ticks_.size(); ++i) {
    if (scheduler_.queues().idle().IsAsleep(i)) continue;
    awake = true;
    Worker& worker = scheduler_.worker(i);
    const uint64_t tick = worker.tick();
    if (std::exchange(ticks_[i], tick) == tick) scheduler_.queues().Rescue(i);
    const uint64_t progress = worker.progress();
    if (std::exchange(progress_[i], progress) != progress) {
      found_[i] = false;
    } else if (tick != 0 && !found_[i]) {
      found_[i] = worker.OnFoundInPoll(period_);
    }
  }
  SeeToTasks();
  if (awake && scheduler_.driver().turns() == turns_) SeeToEvents();
  // The watchdog's own turn does not count.
  turns_ = scheduler_.driver().turns();
  return awake;
}

void Watchdog::SeeToTasks() {
  const bool has_work = scheduler_.queues().HasWork();
  // Despite the search of a worker that may be in the driver.
  if (std::exchange(had_work_, has_work) && has_work) {
    scheduler_.queues().WakeAny();
  }
}

void Watchdog::SeeToEvents() {
  SharedDriver& driver = scheduler_.driver();
  if (driver.IsHeld()) return;
  // The woken worker finds nothing to do, and will park in the driver.
  if (scheduler_.queues().WakeAny()) return;
  if (!driver.TryHold()) return;
  const absl::Cleanup release = [this, &driver] {
    driver.Release();
    // A worker that has gone to sleep in the meantime did not get the driver.
    // It must try again, or no thread would be in the driver.
    scheduler_.queues().WakeAny();
  };
  driver->ParkFor(absl::ZeroDuration());
}

void Watchdog::SleepUntilAWorkerIsAwake() {
  scheduler_.awake_event().PrepareWait();
  if (scheduler_.queues().idle().asleep() == ticks_.size()) parker_.Park();
}

}  // namespace rouse::scheduler

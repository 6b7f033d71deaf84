// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A worker with an auto-advancing clock goes to sleep while a task comes for
// it. If time passes before the task has run, the model fails.

#include <atomic>

#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/scheduler/queue/idle.h"
#include "rouse/scheduler/worker_clock.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::scheduler {
namespace {

using model::Require;
using model::Thread;

// Acts as a driver that parks with nothing due for a while: it checks for
// events, and checks again if a hold has ended in the meantime.
void AdvanceAsADriver(Clock& clock) {
  const Instant next = clock.Now() + absl::Milliseconds(1);
  for (int looks = 0; looks < 2; ++looks) {
    clock.EndCheck(clock.BeginCheck());
    if (clock.AutoAdvanceTo(next)) return;
  }
}

// A worker, and a queue of one task, as `Scheduler` has them.
class World {
 public:
  World() {
    clock_.Pause();
    clock_.SetAutoAdvance(true);
  }

  // Submits the task from outside.
  void Submit() {
    const Clock::AutoAdvanceHold hold(clock_);
    submitted_at_.Write() = clock_.Now();
    // Sequentially consistent, like the queues: see idle.h.
    queued_.store(true, std::memory_order_seq_cst);
    if (!idle_.Wake().has_value()) return;
    worker_clock_.Hold();
    parker_.unparker().Unpark();
  }

  // Does what the worker does until it has run the task.
  void Work() {
    worker_clock_.Begin();
    while (!TryRun()) {
      if (Sleep()) Park();
    }
    worker_clock_.End();
  }

  bool HasRun() const { return has_run_.Read(); }
  Clock& clock() { return clock_; }

 private:
  bool TryRun() {
    if (!queued_.exchange(false, std::memory_order_seq_cst)) return false;
    Require(clock_.Now() == submitted_at_.Read());
    has_run_.Write() = true;
    return true;
  }

  bool Sleep() {
    static_cast<void>(idle_.Sleep(0, /*was_searching=*/false));
    if (!queued_.load(std::memory_order_seq_cst)) return true;
    Awake();
    return false;
  }

  // After a wake, the worker searches, and checks the queue at once.
  void Awake() {
    if (idle_.Awake(0)) static_cast<void>(idle_.EndSearching(0));
  }

  void Park() {
    worker_clock_.Release(idle_, 0, /*checked=*/true);
    AdvanceAsADriver(clock_);
    parker_.Park();
    Awake();
    worker_clock_.Hold();
  }

  Clock clock_;
  Idle idle_{1};
  WorkerClock worker_clock_{&clock_};
  ThreadParker parker_;
  Atomic<bool> queued_{false};
  Cell<Instant> submitted_at_{Instant()};
  Cell<bool> has_run_{false};
};

MODEL_TEST(WorkerClock, IsHeldUntilATaskHasRun, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  World world;
  Thread other([&] { world.Submit(); });
  world.Work();
  other.Join();
  Require(world.HasRun());
  // No thread holds the clock any more.
  const Instant now = world.clock().Now();
  AdvanceAsADriver(world.clock());
  Require(world.clock().Now() > now);
}

// The clock is held even before the worker has slept for the first time, and
// while another worker parks in the driver.
MODEL_TEST(WorkerClock, IsHeldBeforeTheFirstSleepOfAWorker,
           .spurious_failures = 0) {
  Clock clock;
  clock.Pause();
  clock.SetAutoAdvance(true);
  WorkerClock worker_clock(&clock);
  Thread driver([&] { AdvanceAsADriver(clock); });
  worker_clock.Begin();
  const Instant now = clock.Now();
  driver.Join();
  Require(clock.Now() == now);
  worker_clock.End();
}

// A thread that has taken the worker from the sleeping ones may come when no
// thread runs the worker any more: then the clock is not held forever.
MODEL_TEST(WorkerClock, IsNotHeldForAWorkerWithoutAThread,
           .spurious_failures = 0) {
  Clock clock;
  clock.Pause();
  clock.SetAutoAdvance(true);
  WorkerClock worker_clock(&clock);
  worker_clock.Begin();
  Thread late([&] { worker_clock.Hold(); });
  worker_clock.End();
  late.Join();
  const Instant now = clock.Now();
  AdvanceAsADriver(clock);
  Require(clock.Now() > now);
}

// A parked worker lets the clock advance, and holds the clock afterwards.
MODEL_TEST(WorkerClock, IsNotHeldDuringAPark, .spurious_failures = 0) {
  Clock clock;
  clock.Pause();
  clock.SetAutoAdvance(true);
  Idle idle(1);
  WorkerClock worker_clock(&clock);
  worker_clock.Begin();
  for (int parks = 0; parks < 2; ++parks) {
    static_cast<void>(idle.Sleep(0, /*was_searching=*/false));
    worker_clock.Release(idle, 0, /*checked=*/true);
    const Instant parked = clock.Now();
    AdvanceAsADriver(clock);
    Require(clock.Now() > parked);
    if (idle.Awake(0)) static_cast<void>(idle.EndSearching(0));
    worker_clock.Hold();
    const Instant awake = clock.Now();
    AdvanceAsADriver(clock);
    Require(clock.Now() == awake);
  }
  worker_clock.End();
}

MODEL_MUTANTS(WorkerClock, "scheduler/worker_clock.",
              "WorkerClock::TakeHold at worker_clock.h:115: store skipped: the "
              "next park takes the lock in vain");

}  // namespace
}  // namespace rouse::scheduler

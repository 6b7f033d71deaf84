// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: worker_clock.h
// -----------------------------------------------------------------------------
//
// How a worker keeps a clock that advances by itself from doing so while there
// is something to run. Internal to the scheduler.
//
//   who                     does
//   a thread that queues a  holds the clock itself; pushes the task, takes a
//   task                    worker from the sleeping ones (Idle::Wake()), calls
//                           that worker's Hold(), unparks it, and only then
//                           ends its own hold
//   the worker              Idle::Sleep(), looks at the queues, Release(),
//                           parks; then Idle::Awake(), Hold()
//
// The invariant is that a worker has a hold while a thread runs it, unless it
// is among the sleeping ones and has nothing to do. Release() ends the hold
// only if the worker is still asleep, and looks under the lock: either it finds
// that somebody has taken the worker, and the hold stays; or the Hold() of
// whoever takes it comes later, and takes another.

#ifndef ROUSE_SCHEDULER_WORKER_CLOCK_H_
#define ROUSE_SCHEDULER_WORKER_CLOCK_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/scheduler/queue/idle.h"
#include "rouse/timer/clock.h"

namespace rouse::scheduler {

// WorkerClock
//
// One worker's. `Hold()` is for any thread, the rest for the one that runs the
// worker. Does nothing with a clock that does not advance by itself.
class WorkerClock {
 public:
  // `clock`, which may be null, outlives this.
  explicit WorkerClock(Clock* clock) : clock_(clock) {}
  WorkerClock(const WorkerClock&) = delete;
  WorkerClock& operator=(const WorkerClock&) = delete;

  // Null if there is none.
  Clock* clock() const { return clock_; }

  // The worker is run by a thread from now on.
  void Begin() {
    {
      const ThreadMutexLock lock(&mu_);
      is_run_ = true;
    }
    Hold();
  }

  // The worker is not run any more.
  void End() {
    // Ends when the lock is free.
    std::unique_ptr<Clock::AutoAdvanceHold> hold;
    const ThreadMutexLock lock(&mu_);
    is_run_ = false;
    hold = std::move(hold_);
  }

  // Until the worker is idle again the clock does not advance by itself.
  void Hold() {
    if (clock_ == nullptr || !clock_->HasAutoAdvance()) return;
    const ThreadMutexLock lock(&mu_);
    // Whoever wakes a worker may come so late that no thread runs it any more.
    if (!is_run_ || hold_ != nullptr) return;
    hold_ = std::make_unique<Clock::AutoAdvanceHold>(*clock_);
  }

  // The worker, number `worker` of `idle`, is asleep, and about to park.
  // `looked`: it has looked for events after all else that it did.
  void Release(const Idle& idle, size_t worker, bool looked) {
    if (clock_ == nullptr) return;
    // Ends when the lock is free.
    std::unique_ptr<Clock::AutoAdvanceHold> hold;
    const ThreadMutexLock lock(&mu_);
    // Whoever has woken the worker meanwhile relies on it.
    if (idle.IsAsleep(worker)) {
      hold = std::move(hold_);
      if (looked && hold != nullptr) hold->SetLooked();
    }
  }

 private:
  Clock* const clock_;
  ThreadMutex mu_;
  // Whether a thread runs the worker.
  bool is_run_ ABSL_GUARDED_BY(mu_) = false;
  std::unique_ptr<Clock::AutoAdvanceHold> hold_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_WORKER_CLOCK_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: worker_clock.h
// -----------------------------------------------------------------------------
//
// A `WorkerClock` keeps an auto-advancing clock from advancing while there is
// something to run. Internal to the scheduler.
//
//   thread                  actions
//   a thread that queues a  holds the clock itself; pushes the task, takes a
//   task                    worker from the sleeping ones (Idle::Wake()), calls
//                           that worker's Hold(), unparks it, and only then
//                           ends its own hold
//   the worker              Idle::Sleep(), checks the queues, Release(), parks;
//                           then Idle::Awake(), Hold()
//
// The invariant: a worker has a hold while a thread runs it, unless the worker
// is among the sleeping ones and has nothing to do. Release() ends the hold
// only if the worker is still asleep, and checks this under the lock. If
// another thread has taken the worker before, Release() notices, and the hold
// stays. If another thread takes the worker afterwards, that thread's Hold()
// comes later, and takes another hold.

#ifndef ROUSE_SCHEDULER_WORKER_CLOCK_H_
#define ROUSE_SCHEDULER_WORKER_CLOCK_H_

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/scheduler/queue/idle.h"
#include "rouse/timer/clock.h"

namespace rouse::scheduler {

// WorkerClock
//
// Belongs to one worker. `Hold()` can be called by any thread, the other
// functions only by the thread that runs the worker. Does nothing if the clock
// does not auto-advance.
class WorkerClock {
 public:
  // REQUIRES: `clock`, which may be null, outlives this object.
  explicit WorkerClock(Clock* clock) : clock_(clock) {}
  WorkerClock(const WorkerClock&) = delete;
  WorkerClock& operator=(const WorkerClock&) = delete;

  // Returns the clock, or null.
  Clock* clock() const { return clock_; }

  // Marks the worker as run by a thread, and holds the clock.
  void Begin() {
    {
      const ThreadMutexLock lock(&mu_);
      is_run_ = true;
    }
    Hold();
  }

  // Marks the worker as no longer run, and ends the hold.
  void End() {
    // Destroyed after the lock has been released.
    std::optional<Clock::AutoAdvanceHold> hold;
    const ThreadMutexLock lock(&mu_);
    is_run_ = false;
    hold = TakeHold();
  }

  // Keeps the clock from auto-advancing until the worker is idle again. Does
  // not allocate, and does not throw: a woken worker must be unparked after
  // this.
  void Hold() noexcept {
    if (clock_ != nullptr && clock_->HasAutoAdvance()) HoldNow();
  }

  // Ends the hold of the worker, which has the index `worker` in `idle`,
  // because it is asleep and about to park. `checked` says whether the worker
  // has checked for events after everything else it did.
  void Release(const Idle& idle, size_t worker, bool checked) {
    // Relaxed: the worker has made the hold itself, or was unparked since by
    // the thread that has made it. A thread whose hold is missed here has woken
    // the worker in the meantime, and relies on the hold.
    if (!has_hold_.load(std::memory_order_relaxed)) return;
    // Destroyed after the lock has been released.
    std::optional<Clock::AutoAdvanceHold> hold;
    const ThreadMutexLock lock(&mu_);
    // A thread that has woken the worker in the meantime relies on the hold.
    if (idle.IsAsleep(worker)) {
      hold = TakeHold();
      if (checked && hold.has_value()) hold->SetChecked();
    }
  }

 private:
  ABSL_ATTRIBUTE_NOINLINE void HoldNow() noexcept {
    const ThreadMutexLock lock(&mu_);
    // A thread may wake a worker so late that no thread runs the worker any
    // more.
    if (!is_run_ || hold_.has_value()) return;
    hold_.emplace(*clock_);
    // Relaxed: the unpark of the worker orders the store before `Release()`.
    has_hold_.store(true, std::memory_order_relaxed);
  }

  std::optional<Clock::AutoAdvanceHold> TakeHold()
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // Relaxed: at worst, the next park takes the lock in vain.
    has_hold_.store(false, std::memory_order_relaxed);
    return std::exchange(hold_, std::nullopt);
  }

  Clock* const clock_;
  ThreadMutex mu_;
  // True while a thread runs the worker.
  bool is_run_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<Clock::AutoAdvanceHold> hold_ ABSL_GUARDED_BY(mu_);
  // True if `hold_` has a value. Written under the lock. A worker whose clock
  // does not auto-advance parks without taking the lock.
  Atomic<bool> has_hold_{false};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_WORKER_CLOCK_H_

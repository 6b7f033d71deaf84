// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: event_count.h
// -----------------------------------------------------------------------------
//
// An `EventCount` lets a thread sleep until a condition, which is stored
// elsewhere, may have changed. Here, the watchdog sleeps while all workers do:
// a worker that awakes wakes the watchdog, and so does a thread that wakes a
// worker. Internal to the scheduler.
//
//   thread      first action             then
//   watchdog    PrepareWait()            checks whether all workers are asleep
//                                        (Idle::asleep()), and parks if so
//   a worker    is no longer asleep      Notify()
//               (Idle::Awake())
//   a waking    takes a sleeping worker  Notify()
//   thread      (Idle::Wake())
//
// All of these are sequentially consistent: either the watchdog finds the
// worker awake, or the thread on the worker's side finds the watchdog waiting.
// A woken worker may notify late, because it does so after a dispatch in the
// driver.
//
// The algorithm is known as an event count. Because a single thread waits, and
// that thread's parker keeps an unpark until the next park, a flag takes the
// place of the count.

#ifndef ROUSE_SCHEDULER_EVENT_COUNT_H_
#define ROUSE_SCHEDULER_EVENT_COUNT_H_

#include <atomic>
#include <optional>
#include <utility>

#include "absl/base/optimization.h"
#include "rouse/base/atomic.h"
#include "rouse/base/mutable_step.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::scheduler {

// EventCount
//
// `PrepareWait()` is for the waiting thread. `Notify()` and `IsAwaited()` can
// be called by any thread.
class EventCount {
 public:
  EventCount() = default;
  EventCount(const EventCount&) = delete;
  EventCount& operator=(const EventCount&) = delete;

  // Sets the unparker of the thread that `Notify()` unparks. Must be called
  // before any worker runs, and only if there is a watchdog.
  void SetWaiter(ThreadParker::Unparker waiter) { waiter_ = std::move(waiter); }

  // Called by the watchdog: the next `Notify()` unparks it.
  void PrepareWait() { awaited_.store(true, std::memory_order_seq_cst); }

  // Returns whether there was no `Notify()` since `PrepareWait()`. The result
  // may be out of date when the call returns.
  bool IsAwaited() const { return awaited_.load(std::memory_order_relaxed); }

  // Called when a worker is no longer asleep. Costs a load unless the watchdog
  // waits.
  void Notify() {
    if (ABSL_PREDICT_TRUE(!awaited_.load(std::memory_order_seq_cst))) return;
    // Relaxed, and not atomic with the load: a worker that clears the flag of a
    // `PrepareWait()` unparks the watchdog afterwards, which then checks again.
    ROUSE_MUTABLE_ORDER(awaited_.store(false, std::memory_order_relaxed),
                        waiter_->Unpark());
  }

 private:
  std::optional<ThreadParker::Unparker> waiter_;
  Atomic<bool> awaited_{false};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_EVENT_COUNT_H_

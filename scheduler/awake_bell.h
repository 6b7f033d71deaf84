// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: awake_bell.h
// -----------------------------------------------------------------------------
//
// An `AwakeBell` lets the watchdog sleep while all workers do: a worker that
// awakes wakes the watchdog. Internal to the scheduler.
//
//   thread      first action             then
//   watchdog    Await()                  checks whether all workers are asleep
//                                        (Idle::asleep()), and parks if so
//   a worker    is no longer asleep      Ring()
//               (Idle::Awake())
//
// All four are sequentially consistent: either the watchdog finds the worker
// awake, or the worker finds the watchdog waiting.

#ifndef ROUSE_SCHEDULER_AWAKE_BELL_H_
#define ROUSE_SCHEDULER_AWAKE_BELL_H_

#include <atomic>
#include <optional>
#include <utility>

#include "absl/base/optimization.h"
#include "rouse/base/atomic.h"
#include "rouse/base/mutable_step.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::scheduler {

class AwakeBell {
 public:
  AwakeBell() = default;
  AwakeBell(const AwakeBell&) = delete;
  AwakeBell& operator=(const AwakeBell&) = delete;

  // Sets the unparker of the thread that `Ring()` unparks. Must be called
  // before any worker runs, and only if there is a watchdog.
  void SetWatcher(ThreadParker::Unparker watcher) {
    watcher_ = std::move(watcher);
  }

  // Called by the watchdog: the next `Ring()` unparks it.
  void Await() { awaited_.store(true, std::memory_order_seq_cst); }

  // Returns whether there was no `Ring()` since `Await()`. The result may be
  // out of date when the call returns.
  bool IsAwaited() const { return awaited_.load(std::memory_order_relaxed); }

  // Called by a worker. Costs a load unless the watchdog waits.
  void Ring() {
    if (ABSL_PREDICT_TRUE(!awaited_.load(std::memory_order_seq_cst))) return;
    // Relaxed, and not atomic with the load: a worker that clears an Await()
    // unparks the watchdog afterwards, which then checks again.
    ROUSE_MUTABLE_ORDER(awaited_.store(false, std::memory_order_relaxed),
                        watcher_->Unpark());
  }

 private:
  std::optional<ThreadParker::Unparker> watcher_;
  Atomic<bool> awaited_{false};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_AWAKE_BELL_H_

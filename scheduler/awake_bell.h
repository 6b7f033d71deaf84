// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: awake_bell.h
// -----------------------------------------------------------------------------
//
// How the watchdog sleeps while all workers do: a worker that awakes wakes it.
// Internal to the scheduler.
//
//   who         does                 then
//   watchdog    Await()              looks whether all workers are asleep
//                                    (Idle::asleep()), and parks if so
//   a worker    is not asleep any    Ring()
//               more (Idle::Awake())
//
// All four are sequentially consistent: either the watchdog finds the worker
// awake, or the worker finds that it is awaited.

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

  // Whom `Ring()` unparks. To be called before any worker runs, and only if
  // there is a watchdog.
  void SetWatcher(ThreadParker::Unparker watcher) {
    watcher_ = std::move(watcher);
  }

  // For the watchdog: the next `Ring()` is for it.
  void Await() { awaited_.store(true, std::memory_order_seq_cst); }

  // Whether there was no `Ring()` since. Out of date by the time it returns.
  bool IsAwaited() const { return awaited_.load(std::memory_order_relaxed); }

  // For a worker. A load unless it is awaited.
  void Ring() {
    if (ABSL_PREDICT_TRUE(!awaited_.load(std::memory_order_seq_cst))) return;
    // Relaxed, and not one step with the look: whoever takes an Await() away
    // unparks afterwards, and the watchdog looks again.
    ROUSE_MUTABLE_ORDER(awaited_.store(false, std::memory_order_relaxed),
                        watcher_->Unpark());
  }

 private:
  std::optional<ThreadParker::Unparker> watcher_;
  Atomic<bool> awaited_{false};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_AWAKE_BELL_H_

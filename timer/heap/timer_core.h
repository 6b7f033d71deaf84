// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: timer_core.h
// -----------------------------------------------------------------------------
//
// For this folder: the state that a `Timer`, its handles and its delays share.
// The core outlives the timer for as long as a handle or a delay is left. The
// handle or delay then finds the core's list sealed.

#ifndef ROUSE_TIMER_HEAP_TIMER_CORE_H_
#define ROUSE_TIMER_HEAP_TIMER_CORE_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/arc_list.h"
#include "rouse/timer/heap/ref_counted.h"
#include "rouse/timer/heap/scheduled_timer.h"
#include "rouse/waker/atomic_waker.h"

namespace rouse::heap::internal {

// TimerCore
//
// Thread-safe.
class TimerCore : public RefCounted<TimerCore> {
 public:
  // `gone` is the status of delays when there is no timer.
  TimerCore(std::shared_ptr<Clock> clock, absl::Status gone)
      : clock_(std::move(clock)), gone_(std::move(gone)) {}

  // Makes the timer check `node`. If the timer no longer exists, invalidates
  // `node` and returns false.
  bool Push(const Ref<ScheduledTimer>& node) {
    switch (changed_.Push(node)) {
      case PushResult::kPushed:
        waker_.Wake();
        return true;
      case PushResult::kAlreadyEnqueued:
        // The earlier push has woken the timer, which has not checked the node
        // yet.
        return true;
      case PushResult::kSealed:
        break;
    }
    node->Invalidate();
    return false;
  }

  // Like `Push()`, but for a cancelled node, and does not wake the timer. The
  // timer checks the node when another node comes, and at the deadline of the
  // node at the latest.
  void PushCancelled(const Ref<ScheduledTimer>& node) {
    static_cast<void>(changed_.Push(node));
  }

  ArcList<ScheduledTimer>& changed() { return changed_; }
  // Returns the waker of the code that drives the timer.
  AtomicWaker& waker() { return waker_; }

  const std::shared_ptr<Clock>& clock() const { return clock_; }
  const absl::Status& gone() const { return gone_; }

 private:
  ArcList<ScheduledTimer> changed_;
  AtomicWaker waker_;
  const std::shared_ptr<Clock> clock_;
  const absl::Status gone_;
};

}  // namespace rouse::heap::internal

#endif  // ROUSE_TIMER_HEAP_TIMER_CORE_H_

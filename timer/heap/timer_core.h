// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: timer_core.h
// -----------------------------------------------------------------------------
//
// For this folder: what a `Timer`, its handles and its delays share. It
// outlives the timer for as long as one of the others is left, and so is what
// they find sealed then.

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
  // `gone`: what delays are told when there is no timer.
  TimerCore(std::shared_ptr<Clock> clock, absl::Status gone)
      : clock_(std::move(clock)), gone_(std::move(gone)) {}

  // Has the timer look at `node`. Where there is no timer any more, the node is
  // invalid; false then.
  bool Push(const Ref<ScheduledTimer>& node) {
    switch (changed_.Push(node)) {
      case PushResult::kPushed:
        waker_.Wake();
        return true;
      case PushResult::kAlreadyEnqueued:
        // Whoever pushed it has woken the timer, which has not looked yet.
        return true;
      case PushResult::kSealed:
        break;
    }
    node->Invalidate();
    return false;
  }

  // The same for a node that was cancelled. Does not wake the timer: it looks
  // when another node comes, and at the node's deadline at the latest.
  void PushCancelled(const Ref<ScheduledTimer>& node) {
    static_cast<void>(changed_.Push(node));
  }

  ArcList<ScheduledTimer>& changed() { return changed_; }
  // Of whoever drives the timer.
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

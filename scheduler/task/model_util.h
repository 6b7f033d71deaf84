// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: model_util.h
// -----------------------------------------------------------------------------
//
// Utilities for models of tasks: an event, and a future that waits for the
// event.

#ifndef ROUSE_SCHEDULER_TASK_MODEL_UTIL_H_
#define ROUSE_SCHEDULER_TASK_MODEL_UTIL_H_

#include <atomic>
#include <utility>

#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::task {

// An event for which one task waits. Orders nothing except through the waker.
struct Event {
  void Signal() {
    open.store(true, std::memory_order_relaxed);
    waker.Wake();
  }

  AtomicWaker waker;
  Atomic<bool> open{false};
};

// A future of 7, which is ready when the event has been signalled. Polls and
// the destruction must not race: each is a write to `uses`.
class Wait {
 public:
  Wait(Event& event, rouse::Cell<int>& uses) : event_(&event), uses_(&uses) {}
  Wait(Wait&& other) noexcept
      : event_(std::exchange(other.event_, nullptr)), uses_(other.uses_) {}
  Wait& operator=(Wait&&) = delete;
  ~Wait() {
    if (event_ != nullptr) ++uses_->Write();
  }

  PollResult<int> Poll(Context& cx) {
    ++uses_->Write();
    event_->waker.Register(cx.waker());
    if (!event_->open.load(std::memory_order_relaxed)) return kPending;
    return 7;
  }

 protected:
  int uses() const { return uses_->Read(); }

 private:
  Event* event_;
  rouse::Cell<int>* uses_;
};

}  // namespace rouse::task

#endif  // ROUSE_SCHEDULER_TASK_MODEL_UTIL_H_

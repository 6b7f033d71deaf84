// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: model_event_queue.h
// -----------------------------------------------------------------------------
//
// What stands in for epoll in a model of a `Core`: see event_queue.h.

#ifndef ROUSE_REACTOR_POLL_MODEL_EVENT_QUEUE_H_
#define ROUSE_REACTOR_POLL_MODEL_EVENT_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/futex.h"
#include "rouse/reactor/poll/events.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/token.h"

namespace rouse::reactor::internal {

// ModelEventQueue
//
// Nothing ever happens but interrupts. These are as the kernel's: one that
// comes while nobody waits ends the next wait, several may become one, a wait
// may end for no reason, and one with a limit at any time. Nothing here orders
// memory: what the kernel's locks may order, a core must not count on.
//
// A negative descriptor is refused.
class ModelEventQueue {
 public:
  static absl::StatusOr<ModelEventQueue> Open(Token /*interrupt*/) {
    return ModelEventQueue();
  }

  absl::Status Register(int fd, Token /*token*/, Interest /*interest*/) const {
    if (fd >= 0) return absl::OkStatus();
    return absl::FailedPreconditionError("no descriptor");
  }
  absl::Status Deregister(int /*fd*/) const { return absl::OkStatus(); }

  absl::Status Wait(Events& events, absl::Duration max_wait) {
    // Races with a wait that nothing has put before or behind this one.
    ++state_->waits.Write();
    events.Clear();
    if (max_wait > absl::ZeroDuration()) {
      FutexWait(state_->interrupted, 0, max_wait);
    }
    // Whether this has ended the wait, or has come too late to.
    state_->interrupted.exchange(0, std::memory_order_relaxed);
    return absl::OkStatus();
  }

  // Nobody can wait for it but by the following.
  int fd() const { return -1; }

  // As another event loop waits for the queue's descriptor.
  void WaitUntilReadable() const {
    FutexWait(state_->interrupted, 0, absl::InfiniteDuration());
  }

  absl::Status Interrupt() const {
    // Not a store, which might take effect before one that has been used up.
    state_->interrupted.exchange(1, std::memory_order_relaxed);
    FutexWakeOne(state_->interrupted);
    return absl::OkStatus();
  }

 private:
  struct State {
    Atomic<uint32_t> interrupted{0};
    Cell<int> waits{0};
  };

  ModelEventQueue() = default;

  std::unique_ptr<State> state_ = std::make_unique<State>();
};

}  // namespace rouse::reactor::internal

#endif  // ROUSE_REACTOR_POLL_MODEL_EVENT_QUEUE_H_

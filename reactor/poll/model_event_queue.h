// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: model_event_queue.h
// -----------------------------------------------------------------------------
//
// Replaces epoll in a model of a `Core`: see event_queue.h.

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
// Produces no events except interrupts. Interrupts behave like the kernel's: an
// interrupt without a waiting thread ends the next wait, several interrupts may
// merge into one, a wait may end without a reason, and a wait with a limit may
// end at any time. The class orders no memory: a core must not rely on an order
// that the kernel's locks might provide.
//
// Refuses negative descriptors.
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
    // Races with any wait that is not ordered before or after this one.
    ++state_->waits.Write();
    events.Clear();
    if (max_wait > absl::ZeroDuration()) {
      FutexWait(state_->interrupted, 0, max_wait);
    }
    // Clears the interrupt, whether it ended the wait or came too late.
    state_->interrupted.exchange(0, std::memory_order_relaxed);
    return absl::OkStatus();
  }

  // Returns -1: only `WaitUntilReadable()` can wait for the queue.
  int fd() const { return -1; }

  // Waits like another event loop that waits for the queue's descriptor.
  void WaitUntilReadable() const {
    FutexWait(state_->interrupted, 0, absl::InfiniteDuration());
  }

  absl::Status Interrupt() const {
    // A plain store might take effect before an earlier interrupt that has been
    // used up.
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

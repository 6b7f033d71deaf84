// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: event_queue.h
// -----------------------------------------------------------------------------
//
// For use in reactor/ only: everything that a `Core` needs from the operating
// system. In a `*_model` target, model_event_queue.h provides the class
// instead, so that the model checks the parking protocol of the unmodified
// core.

#ifndef ROUSE_REACTOR_POLL_EVENT_QUEUE_H_
#define ROUSE_REACTOR_POLL_EVENT_QUEUE_H_

#include "rouse/base/cxx20.h"

#ifdef ROUSE_MODEL
#include "rouse/reactor/poll/model_event_queue.h"
#else
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/reactor/poll/event_waker.h"
#include "rouse/reactor/poll/events.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/poller.h"
#include "rouse/reactor/poll/registry.h"
#include "rouse/reactor/poll/token.h"
#endif

namespace rouse::reactor::internal {

#ifdef ROUSE_MODEL
using EventQueue = ModelEventQueue;
#else

// EventQueue
//
// A poller with the waker that ends its wait. Movable. Thread-safe, except that
// only one thread at a time can wait.
class EventQueue {
 public:
  // Opens a queue. Interrupts are events with the token `interrupt`. Errors are
  // those of `Poller::Create()` and `EventWaker::Create()`.
  static absl::StatusOr<EventQueue> Open(Token interrupt);

  const Registry& registry() const { return poller_.registry(); }

  // Register and deregister a descriptor, as described at `Registry`.
  absl::Status Register(int fd, Token token, Interest interest) const;
  absl::Status Deregister(int fd) const;

  // Waits for events, as described at `Poller::Poll()`.
  absl::Status Wait(Events& events, absl::Duration max_wait);

  // Ends the current wait or, if none is in progress, the next one, like
  // `EventWaker::Wake()`. A caller must not rely on any memory order.
  absl::Status Interrupt() const;

  // Returns the descriptor, as described at `Poller::fd()`.
  int fd() const { return poller_.fd(); }

 private:
  EventQueue(Poller poller, EventWaker waker);

  Poller poller_;
  EventWaker waker_;
};

#endif  // ROUSE_MODEL

}  // namespace rouse::reactor::internal

#endif  // ROUSE_REACTOR_POLL_EVENT_QUEUE_H_

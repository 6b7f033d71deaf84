// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: event_queue.h
// -----------------------------------------------------------------------------
//
// For reactor/ itself: all that a `Core` wants of the operating system. In a
// `*_model` target it is model_event_queue.h's, so that the protocol by which a
// core parks can be checked as it is.

#ifndef ROUSE_REACTOR_POLL_EVENT_QUEUE_H_
#define ROUSE_REACTOR_POLL_EVENT_QUEUE_H_

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
// A poller and the waker that ends its wait. Movable. Thread-safe, but that one
// thread at a time waits.
class EventQueue {
 public:
  // An interrupt is an event of `interrupt`. Errors as at `Poller::Create()`
  // and `EventWaker::Create()`.
  static absl::StatusOr<EventQueue> Open(Token interrupt);

  const Registry& registry() const { return poller_.registry(); }

  // As documented at `Registry`.
  absl::Status Register(int fd, Token token, Interest interest) const;
  absl::Status Deregister(int fd) const;

  // As documented at `Poller::Poll()`.
  absl::Status Wait(Events& events, absl::Duration max_wait);

  // Ends the wait of now, or else the next one. Orders no memory that a caller
  // may rely on. As documented at `EventWaker::Wake()`.
  absl::Status Interrupt() const;

  // As documented at `Poller::fd()`.
  int fd() const { return poller_.fd(); }

 private:
  EventQueue(Poller poller, EventWaker waker);

  Poller poller_;
  EventWaker waker_;
};

#endif  // ROUSE_MODEL

}  // namespace rouse::reactor::internal

#endif  // ROUSE_REACTOR_POLL_EVENT_QUEUE_H_

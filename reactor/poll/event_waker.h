// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: event_waker.h
// -----------------------------------------------------------------------------
//
// An `EventWaker` ends a `Poller::Poll()` from another thread:
//
//   constexpr Token kWake(0);
//   absl::StatusOr<EventWaker> waker =
//       EventWaker::Create(poller.registry(), kWake);
//   std::thread other([&] { ABSL_CHECK_OK(waker->Wake()); });
//   // Returns an event of kWake.
//   absl::Status status = poller.Poll(events, absl::InfiniteDuration());
//   other.join();

#ifndef ROUSE_REACTOR_POLL_EVENT_WAKER_H_
#define ROUSE_REACTOR_POLL_EVENT_WAKER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll/registry.h"
#include "rouse/reactor/poll/selector.h"
#include "rouse/reactor/poll/token.h"

namespace rouse::reactor {

// EventWaker
//
// An eventfd(2). Movable. A poller has at most one waker at a time: to
// distinguish several reasons for a wake, keep the reasons in memory.
class EventWaker {
 public:
  // Registers a waker under `token`.
  //
  //   AlreadyExists       the queue has a waker that is not destroyed yet
  //   ResourceExhausted   out of descriptors or memory; see also `Registry`
  //
  // On failure nothing is left open.
  static absl::StatusOr<EventWaker> Create(const Registry& registry,
                                           Token token);

  EventWaker(EventWaker&&) = default;
  EventWaker& operator=(EventWaker&& other) = delete;
  ~EventWaker();

  // Makes the current poll or, if none is in progress, the next one return an
  // event of the token; several calls may produce a single event. Writes before
  // the call are visible to the thread that gets the event. Thread-safe. Costs
  // a system call.
  absl::Status Wake() const;

  // Returns the eventfd, which the waker continues to own.
  int fd() const { return fd_.get(); }

 private:
  EventWaker(OwnedFd fd, std::shared_ptr<internal::Selector> selector);

  OwnedFd fd_;
  // Null if moved from. The selector records that it has a waker.
  std::shared_ptr<internal::Selector> selector_;
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_POLL_EVENT_WAKER_H_

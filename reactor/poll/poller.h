// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: poller.h
// -----------------------------------------------------------------------------
//
// A `Poller` waits for events of many descriptors at once. This is the bottom
// layer of the reactor, usable without it, by whoever has a loop of their own:
//
//   absl::StatusOr<Poller> poller = Poller::Create();
//   FdSource source(socket_fd);
//   absl::Status status = poller->registry().Register(
//       source, Token(1), Interest::kReadable);
//
//   Events events(128);
//   for (;;) {
//     absl::Status status = poller->Poll(events, absl::Seconds(1));
//     for (const Event& event : events) {
//       if (event.token() == Token(1) && event.IsReadable()) {
//         ... read until EAGAIN ...
//       }
//     }
//   }
//
// # Edges
//
// An event says that something has changed, once. Whoever hears of it goes on
// until the system call answers EAGAIN; the next event comes after that. An
// event may also come for no reason.
//
// Bytes of a TCP stream that are fewer than were asked for say the same as
// EAGAIN, unless there is an end, an error or out-of-band data, of which there
// is no other event. Nothing else does: a datagram is short of the buffer, a
// read of a Unix socket ends behind bytes that came with descriptors, and one
// of a pipe with a packet.

#ifndef ROUSE_REACTOR_POLL_POLLER_H_
#define ROUSE_REACTOR_POLL_POLLER_H_

#include <memory>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/reactor/poll/events.h"
#include "rouse/reactor/poll/registry.h"

namespace rouse::reactor {

// Poller
//
// Owns an event queue; movable. `Poll()` is for one thread at a time, the
// registry for all.
class Poller {
 public:
  // Fails as epoll_create1(2) does: out of descriptors is ResourceExhausted.
  static absl::StatusOr<Poller> Create();

  const Registry& registry() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return registry_;
  }

  // Replaces the content of `events` by what has happened since the last call,
  // first waiting for up to `timeout` until there is something. May return none
  // before the time is up: a signal ends the wait, and is no error.
  //
  // `timeout` is on the monotonic clock, rounded up to a nanosecond where the
  // kernel has epoll_pwait2 (5.11) and to a millisecond where not, so a short
  // wait is never none. Zero or less does not wait; `absl::InfiniteDuration()`
  // waits for as long as it takes.
  absl::Status Poll(Events& events, absl::Duration timeout);

  // Returns the descriptor of the event queue, which stays the poller's. It is
  // readable while `Poll()` would return events without waiting, so that
  // another event loop can wait for this one.
  int fd() const;

 private:
  explicit Poller(std::shared_ptr<internal::Selector> selector)
      : registry_(std::move(selector)) {}

  Registry registry_;
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_POLL_POLLER_H_

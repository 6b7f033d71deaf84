// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: poller.h
// -----------------------------------------------------------------------------
//
// A `Poller` waits for events of many descriptors at once. It is the bottom
// layer of the reactor, and can be used without the reactor by a program with
// its own loop:
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
// An event reports a change, once. The receiver of an event must continue until
// the system call fails with EAGAIN; the next event comes after that. An event
// may also come without a reason.
//
// On a TCP stream, a transfer of fewer bytes than requested means the same as
// EAGAIN, unless the stream has an end, an error or out-of-band data, for which
// no other event comes. On other sources a short transfer does not mean EAGAIN:
// a datagram can be shorter than the buffer, a read of a Unix socket ends after
// bytes that came with descriptors, and a read of a pipe ends with a packet.

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
// Owns an event queue; movable. One thread at a time can call `Poll()`; all
// threads can use the registry.
class Poller {
 public:
  // Makes a poller. Errors are those of epoll_create1(2): ResourceExhausted if
  // out of descriptors.
  static absl::StatusOr<Poller> Create();

  // Returns the registry, which lives as long as the poller and can be copied.
  const Registry& registry() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return registry_;
  }

  // Replaces the contents of `events` with the events since the last call. If
  // there are none, first waits for at most `timeout` until an event occurs.
  // May return without events before `timeout` has passed: a signal ends the
  // wait, and is not an error.
  //
  // `timeout` is on the monotonic clock. It is rounded up to a nanosecond if
  // the kernel has epoll_pwait2 (5.11), and to a millisecond if not, so a short
  // wait never becomes no wait. Zero or less does not wait;
  // `absl::InfiniteDuration()` waits without limit.
  absl::Status Poll(Events& events, absl::Duration timeout);

  // Returns the descriptor of the event queue, which the poller continues to
  // own. The descriptor is readable while `Poll()` would return events without
  // waiting, so another event loop can wait for this poller.
  int fd() const;

 private:
  explicit Poller(std::shared_ptr<internal::Selector> selector)
      : registry_(std::move(selector)) {}

  Registry registry_;
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_POLL_POLLER_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: park.h
// -----------------------------------------------------------------------------
//
// The contract by which drivers nest. A driver blocks the thread that has
// nothing to run, and wakes the tasks whose event comes. A timer driver parks
// the driver below it for no longer than its next deadline; the one at the
// bottom blocks in the operating system:
//
//   wheel::Driver<reactor::Reactor> ──▶ reactor::Reactor ──▶ epoll_wait
//   wheel::Driver<ThreadParker>     ──▶ ThreadParker     ──▶ futex

#ifndef ROUSE_WAKER_PARK_H_
#define ROUSE_WAKER_PARK_H_

#include <concepts>

#include "absl/time/time.h"

namespace rouse {

// Unpark
//
// A handle that ends a `Park()` from any thread, copyable, valid for as long as
// it lives, even after its driver has gone. An unpark that comes before the
// park is kept: the next park returns at once. Any number before one park count
// as one.
template <class U>
concept Unpark = std::copyable<U> && requires(const U& unparker) {
  { unparker.Unpark() } -> std::same_as<void>;
};

// Park
//
// `Park()` blocks until there is an unpark or an event, wakes whom the event
// concerns, and returns; it may also return for no reason. `ParkFor(d)` does so
// for `d` at the most; with a `d` of zero or less it looks for events and does
// not block. Both are called by one thread at a time.
//
// `Shutdown()` wakes all that waits for an event of this driver; they are told
// that it is gone. The driver below is shut down too.
template <class P>
concept Park =
    Unpark<typename P::Unparker> && requires(P& driver, absl::Duration limit) {
      { driver.unparker() } -> std::same_as<typename P::Unparker>;
      { driver.Park() } -> std::same_as<void>;
      { driver.ParkFor(limit) } -> std::same_as<void>;
      { driver.Shutdown() } -> std::same_as<void>;
    };

}  // namespace rouse

#endif  // ROUSE_WAKER_PARK_H_

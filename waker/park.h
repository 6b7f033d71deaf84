// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: park.h
// -----------------------------------------------------------------------------
//
// Defines the contract by which drivers nest. A driver blocks a thread with
// nothing to run, and wakes the tasks whose events occur. A timer driver parks
// the driver below for no longer than until its own next deadline. The driver
// at the bottom blocks in the operating system:
//
//   wheel::Driver<reactor::Reactor> ──▶ reactor::Reactor ──▶ epoll_wait
//   wheel::Driver<ThreadParker>     ──▶ ThreadParker     ──▶ futex

#ifndef ROUSE_WAKER_PARK_H_
#define ROUSE_WAKER_PARK_H_

#include "rouse/base/cxx20.h"

#include <concepts>

#include "absl/time/time.h"

namespace rouse {

// Unpark
//
// Satisfied by copyable handles that end a `Park()` from any thread. A handle
// remains valid even after its driver is destroyed. An unpark before the park
// is kept: the next park returns at once. Any number of unparks before one park
// count as one.
template <class U>
concept Unpark = std::copyable<U> && requires(const U& unparker) {
  { unparker.Unpark() } -> std::same_as<void>;
};

// Park
//
// `Park()` blocks until an unpark or an event, wakes the tasks that the event
// concerns, and returns. `Park()` may also return for no reason. `ParkFor(d)`
// does the same for at most `d`; if `d` is zero or less, `ParkFor(d)` polls for
// events and does not block. Only one thread at a time may call either
// function.
//
// `Shutdown()` wakes every waiter for an event of this driver, and the waiters
// learn that the driver has shut down. The driver below is shut down too.
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

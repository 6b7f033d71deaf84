// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: main_wake.h
// -----------------------------------------------------------------------------
//
// Internal to runtime/: whether the main future of a `BlockOn()` must be
// polled.
//
//   thread          steps
//   a waking thread Changes what the future waits for, then calls Wake(), which
//                   unparks the thread in `BlockOn()` if the future was not
//                   woken yet.
//   the thread in   Calls Take(). Polls if the result is true; otherwise parks.
//   `BlockOn()`
//
// No wake is lost. If Wake() finds the future woken, an earlier waker has
// unparked the thread, or will: the thread does not sleep before taking the
// earlier wake. Take() acquires the actions of both wakers, since all steps are
// read-modify-writes of a single word.

#ifndef ROUSE_RUNTIME_MAIN_WAKE_H_
#define ROUSE_RUNTIME_MAIN_WAKE_H_

#include <atomic>

#include "rouse/base/atomic.h"

namespace rouse::internal {

// MainWake
//
// Initially woken.
class MainWake {
 public:
  MainWake() = default;
  MainWake(const MainWake&) = delete;
  MainWake& operator=(const MainWake&) = delete;

  // Calls `unpark()` unless the future has been woken since the last `Take()`.
  // Can be called on any thread.
  template <class F>
  void Wake(F unpark) {
    // Release pairs with the acquire in Take().
    if (!woken_.exchange(true, std::memory_order_release)) unpark();
  }

  // Returns the flag that says whether `Take()` would return true.
  const Atomic<bool>& woken() const { return woken_; }

  // Returns whether the future has been woken since the last `Take()`. Called
  // only by the polling thread.
  bool Take() {
    // The load avoids the exchange. Relaxed: actions before an unpark are
    // visible after the park. Acquire pairs with the release in Wake().
    return woken_.load(std::memory_order_relaxed) &&
           woken_.exchange(false, std::memory_order_acquire);
  }

 private:
  Atomic<bool> woken_{true};
};

}  // namespace rouse::internal

#endif  // ROUSE_RUNTIME_MAIN_WAKE_H_

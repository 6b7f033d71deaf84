// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: main_wake.h
// -----------------------------------------------------------------------------
//
// For runtime/ itself: whether the main future of a `BlockOn()` is to be
// polled.
//
//   who             does
//   a waking thread changes what the future waits for, then calls Wake(), which
//                   unparks the thread in `BlockOn()` if it was not woken yet
//   the thread in   calls Take(): polls if that is true, and else parks
//   `BlockOn()`
//
// No wake is lost. A Wake() that finds the future woken leaves it to the one
// that has woken it, and that has unparked the thread, or will: so the thread
// does not sleep before it has taken that wake. Take() acquires what both have
// done, since all steps are read-modify-writes of one word.

#ifndef ROUSE_RUNTIME_MAIN_WAKE_H_
#define ROUSE_RUNTIME_MAIN_WAKE_H_

#include <atomic>

#include "rouse/base/atomic.h"

namespace rouse::internal {

// MainWake
//
// Woken at first.
class MainWake {
 public:
  MainWake() = default;
  MainWake(const MainWake&) = delete;
  MainWake& operator=(const MainWake&) = delete;

  // Calls `unpark()` unless the future has been woken since the last `Take()`.
  // Any thread.
  template <class F>
  void Wake(F unpark) {
    // Release pairs with the acquire of Take.
    if (!woken_.exchange(true, std::memory_order_release)) unpark();
  }

  // Whether it has been woken since the last time. The thread that polls.
  bool Take() {
    // The load spares the exchange. Relaxed: what comes before an unpark is
    // visible after the park. Acquire pairs with the release of Wake.
    return woken_.load(std::memory_order_relaxed) &&
           woken_.exchange(false, std::memory_order_acquire);
  }

 private:
  Atomic<bool> woken_{true};
};

}  // namespace rouse::internal

#endif  // ROUSE_RUNTIME_MAIN_WAKE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: next_wake.h
// -----------------------------------------------------------------------------
//
// For timer/ itself: `NextWake` is the tick until which a driver sleeps. A
// thread that inserts an entry uses `NextWake` to decide whether to wake the
// driver.

#ifndef ROUSE_TIMER_WHEEL_NEXT_WAKE_H_
#define ROUSE_TIMER_WHEEL_NEXT_WAKE_H_

#include <atomic>
#include <cstdint>

#include "rouse/base/atomic.h"
#include "rouse/timer/wheel/wheel.h"

namespace rouse::wheel::internal {

// NextWake
//
// # No deadline is slept through
//
// A driver with several shards, each with a lock, decides how long to sleep,
// while other threads insert:
//
//   driver                          thread that inserts for `tick`
//   ------                          ------------------------------
//   BeginDeciding()                 lock a shard
//   for each shard:                   insert
//     lock, read it, unlock         unlock
//   Decide(the earliest tick)       if MustUnpark(tick), unpark the driver
//   park
//   Clear()
//
// If the driver reads the shard after the insertion, the driver sees the entry.
// If the driver reads the shard before the insertion, the shard's lock orders
// BeginDeciding() before MustUnpark(). MustUnpark() therefore reads the value
// that BeginDeciding() has written, or a newer one:
//
//   kDeciding, or a tick after `tick`   The driver may sleep too long, and is
//                                       unparked. An unpark that comes before
//                                       the park is kept (see waker/park.h), so
//                                       none is lost between the two.
//   `tick`, or a tick before it         The driver wakes by itself in time.
//   kAwake                              The driver has woken, or is being
//                                       unparked, and decides again before it
//                                       sleeps again.
//
// One of the inserting threads sets kAwake, and that thread alone unparks the
// driver. The other threads rely on the unpark even if the first thread is
// preempted between the two steps. While the driver does not change its
// decision, an insertion only reads.
class NextWake {
 public:
  // Starts a decision. The member functions up to `Clear()` are for the driver,
  // one thread at a time. Relaxed: the shards' locks order everything.
  void BeginDeciding() { until_.store(kDeciding, std::memory_order_relaxed); }
  // Ends the decision. Returns false if the driver need not try to sleep,
  // because it has been unparked. If the unpark comes between the load and the
  // store, the park uses the unpark up.
  bool Decide(uint64_t tick) {
    if (until_.load(std::memory_order_relaxed) == kAwake) return false;
    until_.store(tick, std::memory_order_relaxed);
    return true;
  }
  void Clear() { until_.store(kAwake, std::memory_order_relaxed); }

  // Returns whether the caller must unpark the driver. To be called after the
  // insertion, without the lock.
  bool MustUnpark(uint64_t tick) {
    // Relaxed: see above for what orders the accesses.
    uint64_t until = until_.load(std::memory_order_relaxed);
    while (tick < until) {
      if (until_.compare_exchange_weak(until, kAwake, std::memory_order_relaxed,
                                       std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

 private:
  static constexpr uint64_t kAwake = 0;
  // Later than every tick that comes. An entry that never comes needs no
  // unpark.
  static constexpr uint64_t kDeciding = Wheel::kNever;

  Atomic<uint64_t> until_{kAwake};
};

}  // namespace rouse::wheel::internal

#endif  // ROUSE_TIMER_WHEEL_NEXT_WAKE_H_

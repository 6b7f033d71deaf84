// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: next_wake.h
// -----------------------------------------------------------------------------
//
// For timer/ itself: `NextWake` is the tick until which a driver sleeps, for
// those who insert an entry and must know whether to wake it.

#ifndef ROUSE_TIMER_WHEEL_NEXT_WAKE_H_
#define ROUSE_TIMER_WHEEL_NEXT_WAKE_H_

#include <atomic>
#include <cstdint>
#include <limits>

#include "rouse/base/atomic.h"

namespace rouse::wheel::internal {

// NextWake
//
// # No deadline is slept through
//
// A driver with several shards, each with a lock, decides how long to sleep,
// while other threads insert:
//
//   driver                          who inserts for `tick`
//   ------                          ----------------------
//   BeginDeciding()                 lock a shard
//   for each shard:                   insert
//     lock, look at it, unlock      unlock
//   Decide(the earliest tick)       if MustUnpark(tick), unpark the driver
//   park
//   Clear()
//
// Either the driver looks at the shard after the insertion, and sees the entry;
// or before it. Then the shard's lock orders BeginDeciding() before
// MustUnpark(), which so reads what BeginDeciding() has written or something
// newer:
//
//   kDeciding, or a tick after `tick`   the driver may sleep too long: it is
//                                       unparked. An unpark that comes before
//                                       the park is kept (see waker/park.h), so
//                                       none is lost between the two
//   `tick`, or one before it            it wakes by itself in time
//   kAwake                              it has been told to wake, or has woken;
//                                       it decides anew before it sleeps again
//
// One of those who insert sets kAwake, and it alone unparks the driver: should
// it be preempted between the two, the others rely on it all the same. While
// the driver does not change its mind, an insertion only reads.
class NextWake {
 public:
  // For the driver, one thread at a time. Nothing to order: the shards' locks
  // do.
  void BeginDeciding() { until_.store(kDeciding, std::memory_order_relaxed); }
  // False if it need not try to sleep: it has been unparked. If that comes
  // between the two steps, the park uses the unpark up.
  bool Decide(uint64_t tick) {
    if (until_.load(std::memory_order_relaxed) == kAwake) return false;
    until_.store(tick, std::memory_order_relaxed);
    return true;
  }
  void Clear() { until_.store(kAwake, std::memory_order_relaxed); }

  // Whether the caller must unpark the driver. To be called after the insertion
  // with the lock free.
  bool MustUnpark(uint64_t tick) {
    // Relaxed: see above for what orders it.
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
  // Later than every tick that an instant can have.
  static constexpr uint64_t kDeciding = std::numeric_limits<uint64_t>::max();

  Atomic<uint64_t> until_{kAwake};
};

}  // namespace rouse::wheel::internal

#endif  // ROUSE_TIMER_WHEEL_NEXT_WAKE_H_

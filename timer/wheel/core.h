// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: core.h
// -----------------------------------------------------------------------------
//
// For timer/ itself: the state that a driver, its handles and its registrations
// share. Users have `Driver` (driver.h), `Handle` (handle.h) and `Sleep`.

#ifndef ROUSE_TIMER_WHEEL_CORE_H_
#define ROUSE_TIMER_WHEEL_CORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/macros.h"
#include "absl/base/optimization.h"
#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/wheel/next_wake.h"
#include "rouse/timer/wheel/shard.h"
#include "rouse/timer/wheel/ticks.h"

namespace rouse::wheel::internal {

// Core
//
// Holds the shards of a driver, the driver's clock, and the way to wake the
// driver. Reference-counted: the driver, each handle and some registrations own
// a reference (see registration.h).
class Core {
 public:
  using Unpark = std::shared_ptr<const absl::AnyInvocable<void() const>>;

  // Makes a core with one reference, for the driver to own. A `Panic()` if
  // `resolution` is less than 64 µs or more than 1 s, or if `shards` is 0.
  static Core* New(std::shared_ptr<Clock> clock, absl::Duration resolution,
                   size_t shards, Unpark unpark);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void Ref(size_t count = 1) {
    // Relaxed: the caller has a reference, so the count cannot reach zero.
    references_.fetch_add(count, std::memory_order_relaxed);
  }
  void Unref(size_t count = 1) {
    // Release pairs with the acquire of the last `Unref()`: all uses come
    // before the delete.
    if (references_.fetch_sub(count, std::memory_order_acq_rel) == count) {
      delete this;
    }
  }

  Clock& clock() const { return *clock_; }
  const Ticks& ticks() const { return ticks_; }
  Shard& shard(size_t index) {
    ABSL_ASSERT(index < shards_.size());
    return *shards_[index];
  }
  // Returns a shard for a thread without a shard: the next shard at each call.
  Shard& NextShard();
  bool IsShutDown() { return shard(0).IsShutDown(); }

  // Wakes the driver if it sleeps beyond `tick`. Called after an insertion for
  // `tick`.
  void UnparkFor(uint64_t tick) {
    if (next_wake_.MustUnpark(tick)) (*unpark_)();
  }

  // Begin and end a park of the driver. Between the two calls the driver parks
  // for the duration that `BeginPark()` returns. The duration is at most
  // `limit`, and ends at or after the beginning of a tick, never shortly
  // before. `EndPark()` wakes all waiters whose deadline has come.
  absl::Duration BeginPark(absl::Duration limit);
  void EndPark();

  // Wakes all registrations, which become kShutDown. Later registrations become
  // kShutDown, too.
  void Shutdown();

 private:
  Core(std::shared_ptr<Clock> clock, const Ticks& ticks, size_t shards,
       Unpark unpark);
  ~Core() = default;

  // Return the least value of all shards, or `Wheel::kNever`.
  uint64_t NextExpiration();
  uint64_t NextTurn();

  const std::shared_ptr<Clock> clock_;
  const Ticks ticks_;
  const Unpark unpark_;
  std::vector<std::unique_ptr<Shard>> shards_;

  Atomic<size_t> references_{1};
  Atomic<size_t> next_shard_{0};
  // Read at every insertion, and rarely written.
  ABSL_CACHELINE_ALIGNED NextWake next_wake_;
};

// Returns the shard of the thread's current handle, or null if there is no
// current handle. That handle keeps the shard alive.
Shard* CurrentShard();

// Makes `shard` the current shard, and returns the previous one.
Shard* ExchangeCurrentShard(Shard* shard);

}  // namespace rouse::wheel::internal

#endif  // ROUSE_TIMER_WHEEL_CORE_H_

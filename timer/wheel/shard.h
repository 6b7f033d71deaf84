// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: shard.h
// -----------------------------------------------------------------------------
//
// For timer/ itself: a wheel with its lock. A driver has a shard for each
// worker, so that threads that sleep and cancel concurrently do not contend.

#ifndef ROUSE_TIMER_WHEEL_SHARD_H_
#define ROUSE_TIMER_WHEEL_SHARD_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/lock/spin_lock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/registration.h"
#include "rouse/timer/wheel/ticks.h"
#include "rouse/timer/wheel/wheel.h"
#include "rouse/waker/wake_list.h"
#include "rouse/waker/waker.h"

namespace rouse::wheel::internal {

class Core;

// Shard
//
// Thread-safe. A shard lives as long as its core.
class ABSL_CACHELINE_ALIGNED Shard {
 public:
  using State = Registration::State;

  // Collects registrations whose wait has ended. The batch is filled with the
  // lock held, and the wakers are called when the lock is free.
  class Batch {
   public:
    explicit Batch(Core& core) : core_(core) {}
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    ~Batch();

    // Calls the wakers. REQUIRES: no shard's lock is held.
    void Wake() { wakers_.WakeAll(); }

    // Returns whether the deadline of a registration in the batch had come.
    bool has_elapsed() const { return has_elapsed_; }

   private:
    friend class Shard;

    // Adds a registration. REQUIRES: `registration` is no longer linked, and
    // the batch is not full.
    void Add(Registration& registration, State state);
    bool IsFull() const { return wakers_.IsFull(); }
    void TakeReference();

    Core& core_;
    bool has_elapsed_ = false;
    size_t spare_references_ = 0;
    WakeList wakers_;
  };

  Shard(Core& core, const Ticks& ticks, uint64_t now)
      : core_(core), ticks_(ticks), wheel_(now) {}
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  Core& core() const { return core_; }

  // ---- For registrations; see registration.h. O(1), and no user code is
  // called.

  // Takes `waker` and sets the state if the result is kWaiting, and only then.
  State Insert(Registration& registration, uint64_t tick, Waker& waker);
  State ReplaceWaker(Registration& registration, Waker waker);
  void Remove(Registration& registration);
  // Makes the registration wait for `deadline`, at `tick`, instead. Returns
  // false if the registration no longer waits. If the registration is due
  // at once, puts its waker into `due`.
  bool Move(Registration& registration, Instant deadline, uint64_t tick,
            Waker& due);

  // ---- For the driver.

  // Return the wheel's value of the same name, see wheel.h.
  std::optional<uint64_t> NextExpiration();
  std::optional<uint64_t> NextTurn();

  // Ends the waits of all registrations that are due at the tick `now`. Calls
  // the wakers, except for the wakers that `batch` still holds. Then prepares
  // the next slots.
  void Fire(uint64_t now, Batch& batch);

  // Ends as many waits as `batch` has room for, and all later waits. Returns
  // false if there was no wait to end.
  bool ShutDownSome(Batch& batch);
  bool IsShutDown();

 private:
  Core& core_;
  const Ticks ticks_;

  SpinLock mu_;
  bool shut_down_ ABSL_GUARDED_BY(mu_) = false;
  Wheel wheel_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rouse::wheel::internal

#endif  // ROUSE_TIMER_WHEEL_SHARD_H_

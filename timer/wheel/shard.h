// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: shard.h
// -----------------------------------------------------------------------------
//
// For timer/ itself: a wheel with its lock. A driver has one for each worker,
// so that threads that sleep and cancel at once do not meet.

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
// Thread-safe. Lives as long as its core.
class ABSL_CACHELINE_ALIGNED Shard {
 public:
  using State = Registration::State;

  // Registrations whose wait has ended, with the lock held, and whose wakers
  // are called when it is free.
  class Batch {
   public:
    explicit Batch(Core& core) : core_(core) {}
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    ~Batch();

    // Calls the wakers. REQUIRES: no shard's lock is held.
    void Wake() { wakers_.WakeAll(); }

    // Whether there was one whose time had come.
    bool has_elapsed() const { return has_elapsed_; }

   private:
    friend class Shard;

    // REQUIRES: `registration` is not linked any more; there is room.
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

  // ---- For registrations, see there. O(1), and nobody's code is called.

  // Takes `waker` and sets the state if it returns kWaiting, and only then.
  State Insert(Registration& registration, uint64_t tick, Waker& waker);
  State ReplaceWaker(Registration& registration, Waker waker);
  void Remove(Registration& registration);
  // Lets it wait for `deadline`, at `tick`, instead. False if it does not wait
  // any more. If it is due at once, its waker is put into `due`.
  bool Move(Registration& registration, Instant deadline, uint64_t tick,
            Waker& due);

  // ---- For the driver.

  // As the wheel's, see wheel.h.
  std::optional<uint64_t> NextExpiration();
  std::optional<uint64_t> NextTurn();

  // Ends the waits for what is due at the tick `now`, and calls their wakers
  // but for those that `batch` still holds. Then prepares what is next.
  void Fire(uint64_t now, Batch& batch);

  // Ends as many waits as `batch` has room for, and all that come later; false
  // if there was none.
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

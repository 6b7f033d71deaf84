// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: slot.h
// -----------------------------------------------------------------------------
//
// The reactor's state for one registered source: the readiness and the waiters.

#ifndef ROUSE_REACTOR_SLOT_SLOT_H_
#define ROUSE_REACTOR_SLOT_SLOT_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/slot/readiness_word.h"
#include "rouse/reactor/slot/waiter.h"
#include "rouse/reactor/slot/wake_batch.h"
#include "rouse/waker/waker.h"

namespace rouse::reactor::internal {

// Slot
//
// One cache line. Slots stay in place and are not freed before the reactor, so
// an event can access a slot at any time. A slot serves one source after
// another. Each source has its own generation, which the source's token
// carries; an event with a generation other than the slot's belongs to a source
// that was deregistered.
//
// Thread-safe.
class alignas(64) Slot {
 public:
  Slot() = default;
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  // Returns the generation of the source that has the slot now, or will have it
  // next. For the owner of the slot: nothing to order.
  uint32_t generation() const {
    return generation_.load(std::memory_order_relaxed);
  }

  // Forward to `ReadinessWord`.
  uint64_t Load() const { return word_.Load(); }
  void Lower(Direction direction, uint64_t seen, Ready keep) {
    word_.Lower(direction, seen, keep);
  }

  // Arranges that an event for `direction` wakes `waker`, and returns 0. If the
  // edge is raised or the reactor is shut down, returns the readiness word
  // instead, which is not 0.
  //
  // With a `waiter`, replaces the previous wait of the same waiter; without,
  // replaces the previous waker of the direction.
  uint64_t Wait(Direction direction, const Waker& waker, Waiter* waiter) {
    if (waiter == nullptr) return WaitWithoutWaiter(direction, waker);
    return direction == Direction::kRead
               ? WaitFor<Direction::kRead>(waker, *waiter)
               : WaitFor<Direction::kWrite>(waker, *waiter);
  }

  // Removes `waiter` from the list if it still waits here.
  void Forget(Waiter& waiter);

  // Delivers an event of the source with `generation`. Adds the woken wakers to
  // `woken`, and calls wakers itself if there are more than fit.
  void Post(uint32_t generation, Ready ready, WakeBatch& woken);

  // Called when the reactor shuts down: wakes all waiters and prevents further
  // waits.
  void Shutdown(WakeBatch& woken);

  // Called when the source is deregistered: wakes all waiters and ends the
  // generation. Returns whether another generation exists; if not, the slot
  // must not be used again.
  bool Release(WakeBatch& woken);

 private:
  friend class SlotTable;

  template <Direction kDirection>
  uint64_t WaitFor(const Waker& waker, Waiter& waiter);
  uint64_t WaitWithoutWaiter(Direction direction, const Waker& waker);

  // Removes the waiters that an event of `ready` wakes. Whenever `woken` is
  // full, unlocks to wake them. Returns whether it unlocked, and therefore
  // whether new waiters may have come.
  //
  // REQUIRES: `woken` has room for one waker of each direction.
  bool TakeWaiters(Ready ready, WakeBatch& woken)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(word_);
  static void Take(Waiter* waiter, WakeBatch& woken);
  // Does what `TakeWaiters()` has left when `woken` was full.
  void TakeOtherWaiters(Ready ready, WakeBatch& woken)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(word_);

  ReadinessWord word_;
  // Changes under the lock, together with the ticks; read without the lock.
  Atomic<uint32_t> generation_{0};
  // Index of the next free slot; belongs to the table.
  uint32_t next_free_ = 0;
  Cell<IntrusiveList<Waiter>> waiters_ ABSL_GUARDED_BY(word_);
  // Wakers of polls without a waiter, by direction.
  Cell<Waker> wakers_[2] ABSL_GUARDED_BY(word_);
};

#ifndef ROUSE_MODEL
static_assert(sizeof(void*) != 8 || sizeof(Slot) == 64);
#endif

}  // namespace rouse::reactor::internal

#endif  // ROUSE_REACTOR_SLOT_SLOT_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: slot.h
// -----------------------------------------------------------------------------
//
// What the reactor keeps for one registered source: its readiness, and who
// waits for it.

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
// One cache line. Slots do not move and are not freed before the reactor is, so
// an event may look at a slot at any time. A slot serves one source after the
// other; each has a generation of its own, which the source's token carries,
// and an event whose generation is not the slot's is of a source that has gone.
//
// Thread-safe.
class alignas(64) Slot {
 public:
  Slot() = default;
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  // The generation of the source that has the slot now, or will have it next.
  // For who owns the slot: nothing to order.
  uint32_t generation() const {
    return generation_.load(std::memory_order_relaxed);
  }

  // See `ReadinessWord`.
  uint64_t Load() const { return word_.Load(); }
  void Lower(Direction direction, uint64_t seen, Ready keep) {
    word_.Lower(direction, seen, keep);
  }

  // Makes an event that concerns `direction` wake `waker`, or, if the edge is
  // raised or the reactor has gone, sets `word` and returns false.
  //
  // With a `waiter`, it takes the place of what the same waiter waited for
  // before; without, of the direction's previous waker.
  bool Wait(Direction direction, const Waker& waker, Waiter* waiter,
            uint64_t& word);

  // Takes `waiter` out, if it still waits here.
  void Forget(Waiter& waiter);

  // An event of the source with `generation`. Puts into `woken` whom it wakes,
  // and wakes those itself when there are more than fit.
  void Post(uint32_t generation, Ready ready, WakeBatch& woken);

  // The reactor goes: everyone who waits is woken, and nobody waits again.
  void Shutdown(WakeBatch& woken);

  // The source goes: everyone who waits is woken, and the generation ends.
  // Returns whether there is another generation; if not the slot has served its
  // time.
  bool Release(WakeBatch& woken);

 private:
  friend class SlotTable;

  // Takes out whom an event of `ready` wakes, and unlocks to wake them whenever
  // `woken` is full. Returns whether it has done that, and so whether others
  // may have come to wait.
  //
  // REQUIRES: `woken` has room for one for each direction.
  bool TakeWaiters(Ready ready, WakeBatch& woken)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(word_);

  ReadinessWord word_;
  // Changes under the lock, together with the ticks; read without it.
  Atomic<uint32_t> generation_{0};
  // The next free slot's index; belongs to the table.
  uint32_t next_free_ = 0;
  Cell<IntrusiveList<Waiter>> waiters_ ABSL_GUARDED_BY(word_);
  // Of who polls without a waiter, by direction.
  Cell<Waker> wakers_[2] ABSL_GUARDED_BY(word_);
};

#ifndef ROUSE_MODEL
static_assert(sizeof(void*) != 8 || sizeof(Slot) == 64);
#endif

}  // namespace rouse::reactor::internal

#endif  // ROUSE_REACTOR_SLOT_SLOT_H_

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
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/mutable_step.h"
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
  uint64_t Wait(Direction direction, const Waker& waker, Waiter* waiter);

  // Removes `waiter` from the list if it still waits here.
  void Forget(Waiter& waiter);

  // Delivers an event of the source with `generation`, and wakes the waiters.
  // `woken` keeps the exceptions of wakers. REQUIRES: `woken` has no wakers.
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

  // The tasks that wait for one direction.
  struct Line {
    // Waker of the latest poll without a `Waiter`.
    Waker latest;
    // The first waiter of the ring, or null.
    Waiter* first = nullptr;
  };

  // Returns whether an edge is raised, or no further edge will come.
  static bool IsSettled(uint64_t word, Direction direction) {
    return (word &
            (ReadinessWord::EdgeOf(direction) | ReadinessWord::kShutdown)) != 0;
  }
  static size_t IndexOf(Direction direction) {
    return static_cast<size_t>(direction);
  }

  // The cases of `Wait()` that are not inlined: a waiter that was waiting at
  // the last look, and no waiter.
  ABSL_ATTRIBUTE_NOINLINE uint64_t WaitAgain(Direction direction,
                                             const Waker& waker,
                                             Waiter& waiter);
  ABSL_ATTRIBUTE_NOINLINE uint64_t WaitWithoutWaiter(Direction direction,
                                                     const Waker& waker);
  // Unlocks, and drops the waker of a wait that need not begin. Returns `word`.
  ABSL_ATTRIBUTE_NOINLINE uint64_t UnlockAndDrop(uint64_t word,
                                                 const Waiter& waiter)
      ABSL_UNLOCK_FUNCTION(word_);

  // Moves the only waker of `line` to `waker`, which becomes a no-op waker if
  // no task waits. Returns false, and does nothing, if several tasks wait.
  static bool TakeOnly(Line& line, RawWaker& waker);
  // Ends the wait of a waiter that has left its ring. Returns its waker.
  static RawWaker Take(Waiter& waiter);

  // Removes the waiters that an event of `ready` wakes. Whenever `woken` is
  // full, unlocks to wake them. Returns whether it unlocked, and therefore
  // whether new waiters may have come.
  //
  // REQUIRES: `woken` has room for one waker of each direction.
  bool TakeWaiters(Ready ready, WakeBatch& woken)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(word_);
  // Does the rest of `Post()` if several tasks may wait.
  ABSL_ATTRIBUTE_NOINLINE void WakeSeveral(Ready ready, WakeBatch& woken)
      ABSL_UNLOCK_FUNCTION(word_);

  ReadinessWord word_;
  // Changes under the lock, together with the ticks; read without the lock.
  Atomic<uint32_t> generation_{0};
  // Index of the next free slot; belongs to the table.
  uint32_t next_free_ = 0;
  // The lines of both directions.
  Cell<Line> lines_[2] ABSL_GUARDED_BY(word_);
};

#ifndef ROUSE_MODEL
static_assert(sizeof(void*) != 8 || sizeof(Slot) == 64);
#endif

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

// The waker is cloned before the lock is taken, because that runs foreign code.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline uint64_t Slot::Wait(Direction direction,
                                                        const Waker& waker,
                                                        Waiter* waiter) {
  if (waiter == nullptr) return WaitWithoutWaiter(direction, waker);
  // Acquire pairs with the release by which the reactor gives up the waiter.
  if (ABSL_PREDICT_FALSE((waiter->state_.load(std::memory_order_acquire) &
                          Waiter::kQueued) != 0)) {
    return WaitAgain(direction, waker, *waiter);
  }
  waiter->waker_.Write() = waker.raw().vtable->clone(waker.raw().data);
  const uint64_t word = word_.Lock();
  if (ABSL_PREDICT_FALSE(MutableCondition(IsSettled(word, direction)))) {
    return UnlockAndDrop(word, *waiter);
  }
  waiter->Link(lines_[IndexOf(direction)].Write().first);
  // Relaxed: ordered by the lock.
  waiter->state_.store(Waiter::StateOf(this, direction),
                       std::memory_order_relaxed);
  word_.Unlock(word | ReadinessWord::WaitersOf(direction));
  return 0;
}

inline RawWaker Slot::Take(Waiter& waiter) {
  // Release pairs with the acquire of the waiter's owner, who owns the waiter
  // from there on: the waiter may be destroyed before the next line.
  RawWaker waker = {};
  ROUSE_MUTABLE_ORDER(
      waker = waiter.waker_.Read(),
      waiter.state_.store(
          waiter.state_.load(std::memory_order_relaxed) & ~Waiter::kQueued,
          std::memory_order_release));
  return waker;
}

inline bool Slot::TakeOnly(Line& line, RawWaker& waker) {
  Waiter* const first = line.first;
  if (first == nullptr) {
    waker = std::move(line.latest).Release();
    return true;
  }
  if (ABSL_PREDICT_FALSE(!line.latest.IsNoop() || !first->IsAlone())) {
    return false;
  }
  line.first = nullptr;
  waker = Take(*first);
  return true;
}

// This function is inlined into the loop over all events.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline void Slot::Post(uint32_t generation,
                                                    Ready ready,
                                                    WakeBatch& woken) {
  const auto is_current = [this, generation] {
    // Relaxed: ordered by the word, see `ReadinessWord::Post()`.
    return MutableCondition(generation_.load(std::memory_order_relaxed) ==
                            generation);
  };
  const uint64_t word = word_.Post(ready, is_current);
  if (word == 0) return;
  // No task waits for an edge that is raised, unless `ready` has raised it.
  const uint64_t waiting = word & ReadinessWord::WaitersOf(word);
  constexpr uint64_t kReaders = ReadinessWord::WaitersOf(Direction::kRead);
  constexpr uint64_t kWriters = ReadinessWord::WaitersOf(Direction::kWrite);
  RawWaker waker = {};
  if (ABSL_PREDICT_FALSE(
          waiting == (kReaders | kWriters) ||
          !TakeOnly(lines_[waiting / kWriters].Write(), waker))) {
    return WakeSeveral(ready, woken);
  }
  word_.Unlock(word & ~waiting);
  woken.Wake(waker);
}

}  // namespace rouse::reactor::internal

#endif  // ROUSE_REACTOR_SLOT_SLOT_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/waker/atomic_waker.h"

#include <atomic>
#include <cstdint>
#include <utility>

#include "rouse/base/exceptions.h"
#include "rouse/base/mutable_step.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

// The state is a lock on `waker_`, and a note left for its holder.
//
//   kWaiting              free. `waker_` may be taken by either side.
//   kRegistering          a registering thread holds the lock.
//   kWaking               a waking thread holds the lock.
//   kRegistering|kWaking  a registering thread holds it, and has been asked to
//                         wake in the stead of the one that asked.
//
//   kWaiting -> kRegistering -> kWaiting                 Register
//   kRegistering -> kRegistering|kWaking -> kWaiting     a Take meets a
//   Register kWaiting -> kWaking -> kWaiting                      Take
//
// Invariant: `waker_` is touched by the thread that moved the state away from
// kWaiting, and by no other until that thread has moved it back.
//
// No wake is lost. A Take that finds the lock held leaves kWaking behind:
//  - held by a Register: its unlock finds the bit and wakes;
//  - held by another Take: that one returns the waker, and whoever registers
//    meanwhile finds kWaking and is woken on the spot.
//
// Every step is a read-modify-write, so each continues the release sequences of
// the ones before it: an acquire of the state sees what every earlier Take
// released, also that of one which found the lock held and went away.
constexpr uint32_t kWaiting = 0;
constexpr uint32_t kRegistering = 1;
constexpr uint32_t kWaking = 2;

}  // namespace

void AtomicWaker::Register(const Waker& waker) {
  uint32_t state = kWaiting;
  // Acquire, also on failure, pairs with the releases of Take.
  if (!state_.compare_exchange_strong(state, kRegistering,
                                      std::memory_order_acquire,
                                      std::memory_order_acquire)) {
    // A wake is under way on the waker stored before: it may have come too late
    // for this caller's look, so it counts as this caller's.
    if (MutableCondition(state == kWaking)) waker.WakeByRef();
    // Otherwise another thread registers, and wins.
    return;
  }

  Waker replaced;  // dropped when the lock is free, since it may throw
  ROUSE_TRY {
    // Cloned under the lock, for only its holder can tell that no clone is
    // needed. Nobody ever waits for this lock: what `clone` calls may come back
    // to the cell, finds it held, and leaves its note.
    if (!waker_.Read().WillWake(waker)) {
      Waker clone = waker.Clone();
      replaced = std::exchange(waker_.Write(), std::move(clone));
    }
  }
  ROUSE_CATCH_ALL {
    // A Take that came meanwhile is owed a wake of the waker stored before.
    // What that throws is not for this caller.
    ROUSE_TRY { Unlock(); }
    ROUSE_CATCH_ALL {}
    ROUSE_RETHROW;
  }
  Unlock();
  replaced.Reset();
}

// Ends the critical section of Register. Does not touch the cell after it has
// begun to wake: the task woken may destroy it.
void AtomicWaker::Unlock() {
  uint32_t state = kRegistering;
  // Release pairs with the acquire of the next Take or Register, which reads
  // `waker_`. Relaxed on failure: the exchange below acquires.
  if (state_.compare_exchange_strong(state, kWaiting, std::memory_order_release,
                                     std::memory_order_relaxed)) {
    return;
  }
  // The state is kRegistering|kWaking and nobody else changes it: a Take came
  // and left the waking to this thread.
  Waker waker = std::move(waker_.Write());
  // Acquire pairs with the release of the Take that came, whose wake this is. A
  // store would cut the release sequences of the Takes that came.
  state_.exchange(kWaiting, std::memory_order_acq_rel);
  ROUSE_MUTABLE_CALL(std::move(waker).Wake());
}

Waker AtomicWaker::Take() {
  // Acquire pairs with the release of Register, which wrote `waker_`; release
  // with the acquire of a later Register. Done even where the cell looks empty:
  // it is what makes the caller's change visible to that Register.
  if (MutableCondition(state_.fetch_or(kWaking, std::memory_order_acq_rel) !=
                       kWaiting)) {
    return Waker();
  }
  Waker waker = std::move(waker_.Write());
  // Release as in Unlock. An exchange, not a store: a Take that came meanwhile
  // and failed released through this state, and the next Register must acquire
  // from it (tokio #7450).
  state_.exchange(kWaiting, std::memory_order_release);
  return waker;
}

void AtomicWaker::Wake() { Take().Wake(); }

}  // namespace rouse

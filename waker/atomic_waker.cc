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

// The state is a lock on `waker_`, and a note left for the lock's holder.
//
//   kWaiting              free. Either side may take `waker_`.
//   kRegistering          a registering thread holds the lock.
//   kWaking               a waking thread holds the lock.
//   kRegistering|kWaking  a registering thread holds the lock, and has been
//                         asked to wake on behalf of a waking thread.
//
//   kWaiting -> kRegistering -> kWaiting               Register
//   kWaiting -> kWaking -> kWaiting                    Take
//   kRegistering -> kRegistering|kWaking -> kWaiting   Take during a Register
//
// Invariant: `waker_` is touched only by the thread that moved the state away
// from kWaiting, until that thread has moved the state back.
//
// No wake is lost. A Take that finds the lock held leaves kWaking behind:
// - If a Register holds the lock, its unlock finds the bit and wakes.
// - If another Take holds the lock, that Take returns the waker, and a thread
//   that registers in the meantime finds kWaking and is woken on the spot.
//
// Every step is a read-modify-write, so each step continues the release
// sequences of the steps before. An acquire of the state therefore sees
// everything that every earlier Take released, including a Take that found the
// lock held and went away.
constexpr uint32_t kWaiting = 0;
constexpr uint32_t kRegistering = 1;
constexpr uint32_t kWaking = 2;

}  // namespace

void AtomicWaker::Register(const Waker& waker) {
  uint32_t state = kWaiting;
  // Acquire, even on failure, pairs with the releases of Take.
  if (!state_.compare_exchange_strong(state, kRegistering,
                                      std::memory_order_acquire,
                                      std::memory_order_acquire)) {
    // A wake of the previously stored waker is in progress. The wake may have
    // come too late for this caller's check, so it counts as a wake of this
    // caller.
    if (MutableCondition(state == kWaking)) waker.WakeByRef();
    // Otherwise another thread is registering, and wins.
    return;
  }

  Waker replaced;  // dropped when the lock is free, since the drop may throw
  ROUSE_TRY {
    // The clone is made under the lock, because only the lock's holder can tell
    // that no clone is needed. No thread ever waits for this lock: if `clone`
    // calls back to the cell, the call finds the lock held, and leaves its
    // note.
    if (!waker_.Read().WillWake(waker)) {
      Waker clone = waker.Clone();
      replaced = std::exchange(waker_.Write(), std::move(clone));
    }
  }
  ROUSE_CATCH_ALL {
    // A Take that came in the meantime is owed a wake of the previously stored
    // waker. An exception from this wake is not for this caller.
    ROUSE_TRY { Unlock(); }
    ROUSE_CATCH_ALL {}
    ROUSE_RETHROW;
  }
  Unlock();
  replaced.Reset();
}

// Ends the critical section of Register. Does not touch the cell after the wake
// has begun, because the woken task may destroy the cell.
void AtomicWaker::Unlock() {
  uint32_t state = kRegistering;
  // Release pairs with the acquire of the next Take or Register, which reads
  // `waker_`. Relaxed on failure: the exchange below acquires.
  if (state_.compare_exchange_strong(state, kWaiting, std::memory_order_release,
                                     std::memory_order_relaxed)) {
    return;
  }
  // The state is kRegistering|kWaking, and no other thread changes it: a Take
  // came and left the wake to this thread.
  Waker waker = std::move(waker_.Write());
  // Acquire pairs with the release of the Take that came, on whose behalf this
  // thread wakes. A store would cut the release sequences of the Takes that
  // came.
  state_.exchange(kWaiting, std::memory_order_acq_rel);
  ROUSE_MUTABLE_CALL(std::move(waker).Wake());
}

Waker AtomicWaker::Take() {
  // Acquire pairs with the release of Register, which wrote `waker_`. Release
  // pairs with the acquire of a later Register. The operation is needed even if
  // the cell looks empty, because it makes the caller's change visible to that
  // Register.
  if (MutableCondition(state_.fetch_or(kWaking, std::memory_order_acq_rel) !=
                       kWaiting)) {
    return Waker();
  }
  Waker waker = std::move(waker_.Write());
  // Release as in Unlock. This is an exchange and not a store: a Take that came
  // in the meantime and failed has released through this state, and the next
  // Register must acquire from that Take (tokio #7450).
  state_.exchange(kWaiting, std::memory_order_release);
  return waker;
}

void AtomicWaker::Wake() { Take().Wake(); }

}  // namespace rouse

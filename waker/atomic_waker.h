// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: atomic_waker.h
// -----------------------------------------------------------------------------
//
// `AtomicWaker` is a cell for one waker, between a task that waits and threads
// that wake it. The task may move to another waker while it is being woken.
//
//   class Flag {
//    public:
//     void Signal() {
//       set_.store(true, std::memory_order_relaxed);
//       waker_.Wake();
//     }
//     PollResult<void> Poll(Context& cx) {
//       if (set_.load(std::memory_order_relaxed)) return {};
//       waker_.Register(cx.waker());
//       // Looks again: a signal between the two would otherwise be lost.
//       if (set_.load(std::memory_order_relaxed)) return {};
//       return kPending;
//     }
//
//    private:
//     AtomicWaker waker_;
//     std::atomic<bool> set_ = false;
//   };
//
// The one that waits registers and then looks; the one that signals changes the
// state and then wakes. Whatever the interleaving, either the look sees the
// change or the waker is called.

#ifndef ROUSE_WAKER_ATOMIC_WAKER_H_
#define ROUSE_WAKER_ATOMIC_WAKER_H_

#include <cstdint>

#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/waker/waker.h"

namespace rouse {

// AtomicWaker
//
// # Memory order
//
// What a thread did before `Wake()` or `Take()` is visible to whoever returns
// from a later `Register()`, also where the cell was empty or locked and the
// call found no waker.
//
// # Exceptions
//
// A waker whose clone throws leaves the cell as it was; one whose drop throws
// has been replaced; one that throws when it is woken has been forgotten. The
// cell stays usable, and the call passes the exception on.
//
// # Lifetime
//
// The cell must outlive every call's use of it, and no call uses it once it has
// begun to wake. A signal whose change alone may end the task, and the cell
// with it, must therefore keep the cell alive until its `Wake()` returns.
class AtomicWaker {
 public:
  AtomicWaker() = default;
  AtomicWaker(const AtomicWaker&) = delete;
  AtomicWaker& operator=(const AtomicWaker&) = delete;

  // Makes `waker` the one that the next `Wake()` calls. A stored waker that
  // would wake the same task is kept, and nothing is cloned. If a `Wake()` runs
  // at the same time `waker` may be called from within.
  //
  // Two concurrent calls are safe for memory, but only one of the two wakers
  // is stored: there should be one task that waits.
  void Register(const Waker& waker);

  // Calls the stored waker, if there is one, and forgets it. Thread-safe.
  void Wake();

  // Removes and returns the stored waker, or the no-op waker, for the caller to
  // wake elsewhere. Thread-safe.
  Waker Take();

 private:
  void Unlock();

  // The protocol is in atomic_waker.cc.
  Atomic<uint32_t> state_{0};
  Cell<Waker> waker_;
};

}  // namespace rouse

#endif  // ROUSE_WAKER_ATOMIC_WAKER_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: atomic_waker.h
// -----------------------------------------------------------------------------
//
// `AtomicWaker` is a cell for one waker, between a waiting task and the threads
// that wake the task. The task may switch to another waker while a wake is in
// progress.
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
// The waiting task registers its waker and then checks the state. The
// signalling thread changes the state and then wakes. In every interleaving,
// either the check sees the change or the waker is called.

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
// Everything that a thread did before `Wake()` or `Take()` is visible to the
// thread that returns from a later `Register()`, even if the cell was empty or
// locked and the call found no waker.
//
// # Exceptions
//
// If the clone of a waker throws, the cell is unchanged. If the drop of a waker
// throws, the waker has been replaced. If a wake throws, the waker has been
// removed. The cell stays usable in each case, and the call passes the
// exception on.
//
// # Lifetime
//
// The cell must outlive every call's use of the cell, and a call does not use
// the cell after it has begun to wake. If a signal's state change alone can end
// the task, and destroy the cell with the task, the signalling thread must
// therefore keep the cell alive until `Wake()` returns.
class AtomicWaker {
 public:
  AtomicWaker() = default;
  AtomicWaker(const AtomicWaker&) = delete;
  AtomicWaker& operator=(const AtomicWaker&) = delete;

  // Makes the next `Wake()` call `waker`. A stored waker that would wake the
  // same task is kept, and nothing is cloned. If a `Wake()` runs concurrently,
  // `Register()` itself may call `waker`.
  //
  // Two concurrent calls are memory-safe, but only one of the two wakers is
  // stored: only one task should wait.
  void Register(const Waker& waker);

  // Calls the stored waker, if any, and removes it from the cell. Thread-safe.
  void Wake();

  // Removes and returns the stored waker, for the caller to wake elsewhere.
  // Returns the no-op waker if the cell is empty or locked. Thread-safe.
  Waker Take();

 private:
  void Unlock();

  // The protocol is in atomic_waker.cc.
  Atomic<uint32_t> state_{0};
  Cell<Waker> waker_;
};

}  // namespace rouse

#endif  // ROUSE_WAKER_ATOMIC_WAKER_H_

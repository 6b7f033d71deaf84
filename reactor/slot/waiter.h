// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: waiter.h
// -----------------------------------------------------------------------------
//
// A `Waiter` is one future's place among those that wait for one source. It is
// a member of the future, so that waiting allocates nothing and any number of
// futures can wait for the same source and direction:
//
//   class AcceptOne {
//     PollResult<absl::StatusOr<int>> Poll(Context& cx) {
//       ... registration_.PollReady(Direction::kRead, cx, &waiter_) ...
//     }
//     Waiter waiter_;
//   };

#ifndef ROUSE_REACTOR_SLOT_WAITER_H_
#define ROUSE_REACTOR_SLOT_WAITER_H_

#include <atomic>
#include <cstdint>

#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/reactor/ready.h"
#include "rouse/waker/waker.h"

namespace rouse::reactor {

namespace internal {
class Slot;
}

// Waiter
//
// Waits for one thing at a time, and may be used again for the next. Its
// destructor stops it waiting; only a wake that has already begun may come
// after that. Used by one thread at a time. It must not outlive the
// `Registration` it waits for.
class Waiter : private IntrusiveListNode<> {
 public:
  Waiter() = default;

  // So that a future can be moved before it is polled. Panics if `other` has
  // waited already: futures stay where they are once they were polled.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  Waiter(Waiter&& other);
  Waiter& operator=(Waiter&&) = delete;

  ~Waiter() {
    // Acquire pairs with the release by which the reactor let go of it.
    if ((state_.load(std::memory_order_acquire) & kQueued) != 0) Forget();
  }

 private:
  friend class internal::Slot;
  friend class IntrusiveList<Waiter>;

  // `state_` is the slot that it waits at or has waited at last, or 0, and in
  // the bits that a slot's alignment leaves free:
  static constexpr uintptr_t kQueued = 1;
  static constexpr uintptr_t kToWrite = 2;  // the direction

  static internal::Slot* SlotOf(uintptr_t state) {
    return reinterpret_cast<internal::Slot*>(state & ~(kQueued | kToWrite));
  }
  static Direction DirectionOf(uintptr_t state) {
    return (state & kToWrite) != 0 ? Direction::kWrite : Direction::kRead;
  }

  void Forget();

  // While `kQueued` is set all of this belongs to the lock of the slot, else to
  // the owner. The last that the reactor does with a waiter is to clear it.
  Cell<Waker> waker_;
  Atomic<uintptr_t> state_{0};
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_SLOT_WAITER_H_

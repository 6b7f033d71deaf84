// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: waiter.h
// -----------------------------------------------------------------------------
//
// A `Waiter` represents a future in the list of waiters of a source. The waiter
// is a member of the future, so waiting allocates nothing, and any number of
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
// Waits for one event at a time, and can be reused for the next. The destructor
// ends the wait; afterwards only a wake that has already begun can still
// arrive. Must be used by one thread at a time, and must not outlive the
// `Registration` at which it waits.
class Waiter : private IntrusiveListNode<> {
 public:
  Waiter() = default;

  // Allows a future to be moved before the first poll. Panics if `other` has
  // waited already, because a future must stay in place after it was polled.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  Waiter(Waiter&& other);
  Waiter& operator=(Waiter&&) = delete;

  ~Waiter() {
    // Acquire pairs with the release by which the reactor gives up the waiter.
    if ((state_.load(std::memory_order_acquire) & kQueued) != 0) Forget();
  }

 private:
  friend class internal::Slot;
  friend class IntrusiveList<Waiter>;

  // `state_` is the slot at which the waiter waits or has last waited, or 0.
  // The bits that are free because of a slot's alignment are:
  static constexpr uintptr_t kQueued = 1;
  static constexpr uintptr_t kToWrite = 2;  // set if the direction is `kWrite`

  static internal::Slot* SlotOf(uintptr_t state) {
    return reinterpret_cast<internal::Slot*>(state & ~(kQueued | kToWrite));
  }
  static Direction DirectionOf(uintptr_t state) {
    return (state & kToWrite) != 0 ? Direction::kWrite : Direction::kRead;
  }

  // Returns whether an event of `ready` wakes the waiter. The caller holds the
  // slot's lock.
  bool IsConcernedBy(Ready ready) const {
    // Relaxed: written under the lock.
    return !Concerning(DirectionOf(state_.load(std::memory_order_relaxed)),
                       ready)
                .IsEmpty();
  }

  void Forget();

  // While `kQueued` is set, all members belong to the holder of the slot's
  // lock, else to the owner. Clearing `kQueued` is the reactor's last access to
  // a waiter.
  //
  // Owns its reference only while `kQueued` is set.
  Cell<RawWaker> waker_;
  Atomic<uintptr_t> state_{0};
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_SLOT_WAITER_H_

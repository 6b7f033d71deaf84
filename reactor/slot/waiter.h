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
class Waiter {
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

  // `state_` is the slot at which the waiter waits or has last waited, or 0.
  // The bits that are free because of a slot's alignment are:
  static constexpr uintptr_t kQueued = 1;
  static constexpr uintptr_t kToWrite = 2;  // set if the direction is `kWrite`

  static internal::Slot* SlotOf(uintptr_t state) {
    return reinterpret_cast<internal::Slot*>(state & ~(kQueued | kToWrite));
  }
  // Returns the state of a waiter that waits at `slot`.
  static uintptr_t StateOf(internal::Slot* slot, Direction direction) {
    return reinterpret_cast<uintptr_t>(slot) | kQueued |
           (direction == Direction::kWrite ? kToWrite : 0);
  }
  static Direction DirectionOf(uintptr_t state) {
    return (state & kToWrite) != 0 ? Direction::kWrite : Direction::kRead;
  }

  void Forget();

  // Joins the ring of which `first` is the first waiter, or null if the ring is
  // empty. The waiter becomes the last.
  void Link(Waiter*& first) {
    next_ = previous_ = this;
    if (first == nullptr) {
      first = this;
    } else {
      first->LinkBefore(*this);
    }
  }

  // Puts the ring of `first` before this waiter, in whose ring it ends.
  void LinkBefore(Waiter& first) {
    Waiter* const last = first.previous_;
    first.previous_ = previous_;
    previous_->next_ = &first;
    last->next_ = this;
    previous_ = last;
  }

  // Leaves its ring, of which `first` may be the first waiter.
  void Unlink(Waiter*& first) {
    previous_->next_ = next_;
    next_->previous_ = previous_;
    if (first == this) first = IsAlone() ? nullptr : next_;
  }

  // Returns whether the waiter is the only one in its ring.
  bool IsAlone() const { return next_ == this; }

  // While `kQueued` is set, all members belong to the holder of the slot's
  // lock, else to the owner. Clearing `kQueued` is the reactor's last access to
  // a waiter.
  //
  // Owns its reference only while `kQueued` is set.
  Cell<RawWaker> waker_;
  // The neighbors in the ring. Not initialized before the first wait, because a
  // future is made for each read and most reads need not wait.
  Waiter* next_;
  Waiter* previous_;
  Atomic<uintptr_t> state_{0};
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_SLOT_WAITER_H_

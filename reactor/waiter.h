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

#ifndef ROUSE_REACTOR_WAITER_H_
#define ROUSE_REACTOR_WAITER_H_

#include "rouse/base/atomic.h"
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
// destructor stops it waiting; afterwards no waker is called on its account.
// Used by one thread at a time. It must not outlive the `Registration` it
// waits for.
class Waiter : private IntrusiveListNode<> {
 public:
  Waiter() = default;

  // So that a future can be moved before it is polled. Panics if `other` has
  // waited already: futures stay where they are once they were polled.
  Waiter(Waiter&& other);
  Waiter& operator=(Waiter&&) = delete;

  ~Waiter();

 private:
  friend class internal::Slot;
  friend class IntrusiveList<Waiter>;

  // All but `queued_` belong to the lock of `slot_` while `queued_`, else to
  // the owner. The last that the reactor does with a waiter is to clear
  // `queued_`.
  Waker waker_;
  internal::Slot* slot_ = nullptr;
  Direction direction_ = Direction::kRead;
  Atomic<bool> queued_{false};
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_WAITER_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: core.h
// -----------------------------------------------------------------------------
//
// Decides which copy of a `Shared` polls the future, and wakes the others.
// Internal to this folder.
//
// # States
//
// A lock guards two flags and the list of the copies that wait:
//
//   is_woken_   the future must be polled. True at first, and after each wake.
//   is_polled_  a copy polls the future.
//
// A copy that is polled registers its waker and then, under the same lock,
// takes the poll if the future is woken and no other copy polls it. Taking the
// poll clears `is_woken_` and sets `is_polled_`. The future is polled with the
// waker of the core, which belongs to no copy: a wake sets `is_woken_` and
// wakes all copies that wait. Whichever is polled first takes the next poll.
// Therefore a copy that was destroyed, or that its task does not poll, keeps no
// other copy from the output.
//
// The invariant, whenever the lock is free: if the future is woken and no copy
// polls it, then no copy waits, because each was woken after it had registered.
// Three steps could break the invariant:
//
// * A wake sets `is_woken_`, and therefore wakes all copies that wait.
// * A poll that was pending clears `is_polled_`. If a wake came during the
//   poll, other copies may have registered since the wake, and are woken.
// * A copy registers, and then takes the poll itself.
//
// # The output
//
// The copy that polls stores the output, and then sets `is_done_` and wakes all
// copies under the lock. `is_done_` stays set, so that a copy reads the output
// without the lock.
//
// # References
//
// `copies_` counts the copies. The last copy destroys the future and the
// output. `references_` counts the wakers of the future, and the copies as one.
// The last reference frees the memory. A waker that outlives all copies thus
// finds the lock, and a list without copies.
//
// # Memory orders
//
// | Release                 | Acquire               | Hands over             |
// |-------------------------|-----------------------|------------------------|
// | the lock                | the lock              | flags, list, wakers;   |
// |                         |                       | the future, to the     |
// |                         |                       | copy that polls next   |
// | `is_done_` in Finish    | `is_done_` in IsDone  | the output             |
// | `copies_` in DropCopy   | the last DropCopy     | every use of the       |
// |                         |                       | future and the output  |
// | `references_` in Unref  | the last Unref        | every use of the core  |

#ifndef ROUSE_FUTURE_SHARED_CORE_H_
#define ROUSE_FUTURE_SHARED_CORE_H_

#include "rouse/base/cxx20.h"

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

// SharedWaiter
//
// The place of a copy in the list of the copies that wait.
class SharedWaiter : public IntrusiveListNode<> {
 private:
  friend class SharedCore;

  Cell<Waker> waker_;  // under the lock of the core
};

// SharedCore
//
// The base of the object that the copies share. Thread-safe.
class SharedCore {
 public:
  // The next step of a copy.
  enum class Turn : uint8_t { kTake, kPoll, kWait };

  SharedCore(const SharedCore&) = delete;
  SharedCore& operator=(const SharedCore&) = delete;

  void AddCopy() {
    // Relaxed: the caller has a copy, so the count cannot reach zero.
    copies_.fetch_add(1, std::memory_order_relaxed);
  }
  // Ends the use by one copy, which does not wait.
  void DropCopy();

  // Returns a waker, for a `BorrowedWaker`.
  RawWaker raw_waker();

  // Returns whether the output is available, and stays so.
  bool IsDone() const {
    // Acquire pairs with the release of Finish: the output is visible.
    return is_done_.load(std::memory_order_acquire);
  }

  // Registers `waiter`, to be woken with `waker`, and returns what the copy
  // must do: take the output, poll the future or wait. Returns the waker of an
  // earlier call in `waker`, to be dropped. A copy that polls must call
  // `EndPoll()` or `Finish()`.
  Turn Join(SharedWaiter& waiter, Waker& waker);

  // Ends a poll of the future that was pending.
  void EndPoll();
  // Ends a poll by the copy of `waiter` that was ready: the output has been
  // stored. Wakes the other copies.
  void Finish(SharedWaiter& waiter);

  // Removes `waiter` from the list, and drops its waker.
  void Leave(SharedWaiter& waiter);
  // Puts `to`, which is new, in the place of `from`.
  void Replace(SharedWaiter& from, SharedWaiter& to);

 protected:
  // The caller has the first copy.
  SharedCore() = default;
  virtual ~SharedCore() = default;

  // Destroys the future and the output.
  virtual void DestroyContents() = 0;

 private:
  void Ref() {
    // Relaxed: the caller has a reference.
    references_.fetch_add(1, std::memory_order_relaxed);
  }
  void Unref();

  void Wake();
  // Wakes all copies that wait at the moment of the call. The caller has a
  // reference.
  void WakeWaiters() ABSL_UNLOCK_FUNCTION(mu_);

  Atomic<uint64_t> copies_{1};
  Atomic<uint64_t> references_{1};
  Atomic<bool> is_done_{false};
  BriefLock mu_;
  bool is_woken_ ABSL_GUARDED_BY(mu_) = true;
  bool is_polled_ ABSL_GUARDED_BY(mu_) = false;
  IntrusiveList<SharedWaiter> waiters_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rouse::internal

#endif  // ROUSE_FUTURE_SHARED_CORE_H_

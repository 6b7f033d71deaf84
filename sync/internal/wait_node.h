// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: wait_node.h
// -----------------------------------------------------------------------------
//
// A `WaitNode` is a future's place in a list of waiters, and holds the waker of
// the task that polls the future. One lock guards the list, the nodes in the
// list and the awaited state. Wakers are cloned, called and dropped outside of
// the lock. Internal to `sync/`.
//
//   PollResult<void> Poll(Context& cx) {
//     // These go without the lock.
//     Waker waker = node_.CloneIfNew(cx.waker());
//     Waker left;
//     const BriefLockHolder lock(event_.mu_);
//     if (event_.has_happened_) {
//       node_.Leave(left);
//       return {};
//     }
//     if (!node_.IsLinked()) event_.waiters_.PushBack(&node_);
//     node_.Register(waker);
//     return kPending;
//   }
//   ~WaitFuture() { node_.LeaveWith(event_.mu_); }
//
// `PendingWait` (see pending_wait.h) has the parts of such a future that do not
// depend on the event.
//
// A waiter may destroy the object with the lock when notified of an end, but
// not while the notifier still holds the lock. Therefore a future that has
// waited takes the lock once more before becoming ready: by then the notifier
// has released the lock.

#ifndef ROUSE_SYNC_INTERNAL_WAIT_NODE_H_
#define ROUSE_SYNC_INTERNAL_WAIT_NODE_H_

#include <atomic>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/first_exception.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/waker/wake_list.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

// WaitNode
//
// A primitive with more data for each waiter derives a class from `WaitNode`.
class WaitNode : public IntrusiveListNode<> {
 public:
  WaitNode() = default;

  // ---- For the owner.

  // Called without the lock. Returns a waker to register: a clone of `waker`,
  // or the no-op waker if `waker` was the last to be registered, so that
  // nothing must be done. May throw.
  Waker CloneIfNew(const Waker& waker) const {
    return IsRegistered(waker) ? Waker() : waker.Clone();
  }

  // Called under the lock. Registers `waker`. Returns the replaced waker in
  // `waker`, to be dropped without the lock.
  void Register(Waker& waker) {
    if (waker.IsNoop()) return;
    registered_ = waker.raw();
    std::swap(waker_.Write(), waker);
  }

  // Called under the lock. Leaves the list, if the node is in a list. Returns
  // the node's waker in `waker`, to be dropped without the lock. The node keeps
  // the previous content of `waker`. Therefore pass the no-op waker, rather
  // than a clone that is not needed now, unless the node is about to be
  // destroyed.
  void Leave(Waker& waker) {
    Unlink();
    registered_ = kNone;
    // Relaxed: no thread notifies a node that is in no list.
    is_notified_.store(false, std::memory_order_relaxed);
    std::swap(waker_.Write(), waker);
  }

  // Called without the lock, which is `mu`. Leaves the list as `Leave()` does,
  // and drops the node's waker.
  void LeaveWith(BriefLock& mu) ABSL_LOCKS_EXCLUDED(mu);

  // Called without the lock. If the node has been notified, leaves as `Leave()`
  // does and returns true: the notifier is done with the node. The notifier may
  // still hold the lock, so this is only for a lock that something else keeps
  // alive.
  bool LeaveIfNotified() {
    // Acquire pairs with the release of TakeWaker.
    if (!is_notified_.load(std::memory_order_acquire)) return false;
    registered_ = kNone;
    // Relaxed: no thread notifies a node that is in no list. For the same
    // reason the owner may write without the lock.
    is_notified_.store(false, std::memory_order_relaxed);
    return true;
  }

  // Called without the lock. Returns whether a waker has been registered since
  // the node last left. Registering the no-op waker does not count, although
  // the node may be linked: a destructor must not rely on this function.
  bool HasRegistered() const { return registered_.vtable != nullptr; }

  // ---- For the notifier.

  // Called under the lock, after the node has left the list. Returns the waker
  // of the node. This is the notifier's last access to the node. The node must
  // `Leave()` before it can wait again, because the owner still considers the
  // removed waker registered.
  Waker TakeWaker() {
    Waker waker = std::move(waker_.Write());
    // Release pairs with the acquire of LeaveIfNotified.
    is_notified_.store(true, std::memory_order_release);
    return waker;
  }

 private:
  static constexpr RawWaker kNone = {nullptr, nullptr};

  bool IsRegistered(const Waker& waker) const {
    return registered_.data == waker.raw().data &&
           registered_.vtable == waker.raw().vtable;
  }

  // Names the waker that was registered last. Used only by the owner, so that a
  // comparison needs no lock. Until the node is notified, `waker_` keeps the
  // named object alive.
  RawWaker registered_ = kNone;
  // Used under the lock while the node is in the list.
  Cell<Waker> waker_;
  // Set under the lock, reset by the owner.
  Atomic<bool> is_notified_{false};
};

// Takes all nodes in `waiters` at the moment of the call, calls
// `told(WaitNode*)` for each, and wakes the waiters in batches, without `mu`.
// Waiters that arrive in the meantime are not woken. A waiter that leaves
// early, before its turn, is not notified. If wakers throw, all are called
// nevertheless, and the first exception is rethrown.
//
// The caller holds `mu`, and the call releases `mu`. If there are more than
// `WakeList::kCapacity` waiters, the object that contains `mu` must outlive the
// call.
template <class Notified>
void WakeAll(BriefLock& mu, IntrusiveList<WaitNode>& waiters, Notified told)
    ABSL_UNLOCK_FUNCTION(mu) {
  IntrusiveList<WaitNode> these = std::move(waiters);
  FirstException first;
  WakeList woken;
  while (WaitNode* const node = these.PopFront()) {
    told(node);
    woken.Push(node->TakeWaker());
    if (!woken.IsFull() || these.IsEmpty()) continue;
    mu.Unlock();
    first.Catch([&woken] { woken.WakeAll(); });
    mu.Lock();
  }
  mu.Unlock();
  first.Catch([&woken] { woken.WakeAll(); });
  first.Rethrow();
}

}  // namespace rouse::internal

#endif  // ROUSE_SYNC_INTERNAL_WAIT_NODE_H_

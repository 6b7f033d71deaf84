// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: wait_node.h
// -----------------------------------------------------------------------------
//
// `WaitNode` is a future's place in a list of those that wait, and has the
// waker of the task that polls it. The list, the nodes that are in it and what
// they wait for are under one lock, outside of which wakers are cloned, called
// and dropped. Internal to `sync/`.
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
//   ~WaitFuture() {
//     Waker waker;
//     const BriefLockHolder lock(event_.mu_);
//     node_.Leave(waker);
//   }
//
// Who is told of an end must not destroy what the lock is part of while the
// teller still holds it. So a future that has waited takes the lock once more
// before it is ready: then the teller has let go.

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
// What is more to be known of a waiter is in a class derived from this one.
class WaitNode : public IntrusiveListNode<> {
 public:
  WaitNode() = default;

  // ---- For the owner.

  // Without the lock. A waker to register: a clone of `waker`, or the no-op
  // waker if that is the one which was registered last, and so nothing is to be
  // done. May throw.
  Waker CloneIfNew(const Waker& waker) const {
    return IsRegistered(waker) ? Waker() : waker.Clone();
  }

  // Under the lock. What is not needed any more comes back in `waker`, to be
  // dropped without the lock.
  void Register(Waker& waker) {
    if (waker.IsNoop()) return;
    registered_ = waker.raw();
    std::swap(waker_.Write(), waker);
  }

  // Under the lock: leaves the list, if it is in one. What it had comes back in
  // `waker`, as above. The node keeps what that was: pass the no-op waker, and
  // not a clone that is not needed now, unless the node is about to go.
  void Leave(Waker& waker) {
    Unlink();
    registered_ = kNone;
    // Relaxed: nobody tells a node that is in no list.
    is_notified_.store(false, std::memory_order_relaxed);
    std::swap(waker_.Write(), waker);
  }

  // Without the lock: does the same if the node has been told, and who did is
  // through with it. But that may have the lock still: only for a lock that is
  // kept by something else.
  bool LeaveIfNotified() {
    // Acquire pairs with the release of TakeWaker.
    if (!is_notified_.load(std::memory_order_acquire)) return false;
    registered_ = kNone;
    // Relaxed: as above. Written by the owner: it is in no list.
    is_notified_.store(false, std::memory_order_relaxed);
    return true;
  }

  // Without the lock: whether a waker has been registered since it last left.
  // Where that was the no-op waker it has not, though the node may be linked: a
  // destructor must not go by this.
  bool HasRegistered() const { return registered_.vtable != nullptr; }

  // ---- For who tells it.

  // Under the lock, when it has left the list. It has to `Leave()` before it
  // waits anew: the owner takes what is gone for registered. The last that is
  // done with the node.
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

  // Which waker was registered last. The owner's, so that no lock is needed to
  // compare. As long as nobody has told the node, `waker_` keeps what it names.
  RawWaker registered_ = kNone;
  // Under the lock while the node is in the list.
  Cell<Waker> waker_;
  // Set under the lock, reset by the owner.
  Atomic<bool> is_notified_{false};
};

// Takes all of `waiters` at this moment, calls `told(WaitNode*)` for each, and
// wakes them, several at a time, without `mu`. Those that come meanwhile are
// not woken. One that leaves before its turn is not told.
// If wakers throw, all are called, and the first exception comes out.
//
// `mu` is held before, and not after. What it is part of outlives the call if
// there are more than `WakeList::kCapacity` waiters.
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

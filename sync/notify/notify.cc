// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/notify/notify.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "rouse/base/lock/brief_lock.h"
#include "rouse/base/mutable_step.h"
#include "rouse/base/panic.h"
#include "rouse/sync/internal/pending_wait.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

bool Notify::NotifyWaiter(Notification how) {
  Waker waker;
  {
    const BriefLockHolder lock(mu_);
    internal::WaitNode* const node = how == Notification::kAsFirst
                                         ? waiters_.PopFront()
                                         : waiters_.PopBack();
    // No permit is left from in here: a future that takes the permit needs no
    // lock, and may destroy this object.
    if (node == nullptr) return false;
    static_cast<Waiter*>(node)->notification = how;
    waker = node->TakeWaker();
    // Relaxed: the state is kWaiting, so nobody else changes the word.
    if (waiters_.IsEmpty()) {
      StopWaiting(CallsOf(word_.load(std::memory_order_relaxed)));
    }
  }
  std::move(waker).Wake();
  return true;
}

void Notify::SlowNotifyWaiters() {
  mu_.Lock();
  // The waiters may have left meanwhile; then nobody joins before the lock is
  // free. Otherwise all of them are notified from the store on. Relaxed: the
  // state is kWaiting, so nobody else changes the word.
  if (MutableCondition(!CountCall())) {
    StopWaiting(CallsOf(word_.load(std::memory_order_relaxed)) + kCall);
  }
  internal::WakeAll(mu_, waiters_, [](internal::WaitNode*) {});
}

bool Notify::Join(Waiter& waiter, uint64_t calls, Waker& waker) {
  const BriefLockHolder lock(mu_);
  // Acquire pairs with the release of CountCall, which may have notified this
  // future, and with those of StorePermit, even if others have taken the
  // permit: a check after an Enable() must not see older data.
  uint64_t word = word_.load(std::memory_order_acquire);
  for (;;) {
    if (CallsOf(word) != calls) return true;
    if (StateOf(word) == kWaiting) break;
    const bool has_permit = StateOf(word) == kNotified;
    if (word_.compare_exchange_weak(
            word, calls | (has_permit ? kEmpty : kWaiting),
            std::memory_order_acquire, std::memory_order_acquire)) {
      if (has_permit) return true;
      break;
    }
  }
  waiters_.PushBack(&waiter);
  waiter.Register(waker);
  return false;
}

bool Notify::CheckAgain(Waiter& waiter, uint64_t calls, Waker& waker) {
  const BriefLockHolder lock(mu_);
  // Relaxed: a waiter that has joined is notified under the lock.
  if (waiter.notification == Notification::kNot &&
      MutableCondition(CallsOf(word_.load(std::memory_order_relaxed)) ==
                       calls)) {
    waiter.Register(waker);
    return false;
  }
  waiter.Leave(waker);
  return true;
}

void Notify::Leave(Waiter& waiter) {
  Notification notification;
  {
    Waker waker;
    const BriefLockHolder lock(mu_);
    notification = waiter.notification;
    waiter.Leave(waker);
    if (waiters_.IsEmpty()) {
      // Relaxed: if the state is kWaiting, nobody else changes the word. If it
      // is not, this waiter had already left the list (tokio #3652).
      const uint64_t word = word_.load(std::memory_order_relaxed);
      if (StateOf(word) == kWaiting) StopWaiting(CallsOf(word));
    }
  }
  if (notification != Notification::kNot)
    ROUSE_MUTABLE_CALL(Send(notification));
}

void Notify::NotifiedFuture::PanicMoved() {
  Panic(
      "Notify::Notified was moved after it was polled, enabled or moved from; "
      "move the future before its first poll or Enable()");
}

bool Notify::NotifiedFuture::IsNotified(Waker waker) {
  const uint64_t calls = CallsOf(made_at_);
  if (stage_ == Stage::kNew) std::construct_at(&waiter_);
  const bool notification = stage_ == Stage::kNew
                                ? notify_.Join(waiter_, calls, waker)
                                : notify_.CheckAgain(waiter_, calls, waker);
  if (notification) std::destroy_at(&waiter_);
  stage_ = notification ? Stage::kNotified : Stage::kWaiting;
  return notification;
}

void Notify::NotifiedFuture::Leave() {
  notify_.Leave(waiter_);
  std::destroy_at(&waiter_);
}

bool Notify::NotifiedFuture::Enable() {
  if (stage_ == Stage::kFinished) {
    Panic(
        "Notify::Notified was enabled after it completed; call Notified() "
        "again");
  }
  return stage_ == Stage::kNotified || IsNotified(Waker());
}

// Without budget, a permit that the future could take stays where it is, and a
// notification that the future has received stays its own. However, a future
// that must wait takes its place now.
PollResult<void> Notify::NotifiedFuture::PollSlowly(Context& cx) {
  if (stage_ == Stage::kFinished) {
    internal::PanicPolledAfterEnd("Notify::Notified");
  }
  if (!cx.HasBudget() &&
      (stage_ != Stage::kNew || notify_.IsReady(CallsOf(made_at_)))) {
    return YieldForBudget(cx);
  }
  if (stage_ != Stage::kNotified &&
      !IsNotified(stage_ == Stage::kNew ? cx.waker().Clone()
                                        : waiter_.CloneIfNew(cx.waker()))) {
    return kPending;
  }
  TakeUnitIfAny(cx);
  stage_ = Stage::kFinished;
  return {};
}

}  // namespace rouse

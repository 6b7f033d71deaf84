// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/shared/core.h"

#include <atomic>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "rouse/base/first_exception.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/base/mutable_step.h"
#include "rouse/waker/wake_list.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

void SharedCore::DropCopy() {
  // Release pairs with the acquire of the last drop: every use of the future
  // and the output comes before their destruction.
  if (copies_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // Dropped even if a destructor throws.
  const absl::Cleanup unref = [this] { Unref(); };
  DestroyContents();
}

void SharedCore::Unref() {
  // Release pairs with the acquire of the last drop: use comes before delete.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

RawWaker SharedCore::raw_waker() {
  static constexpr auto kFrom = [](void* data) {
    return static_cast<SharedCore*>(data);
  };
  static constexpr RawWakerVTable kVTable = {
      // clone
      [](void* data) {
        kFrom(data)->Ref();
        return kFrom(data)->raw_waker();
      },
      // wake
      [](void* data) {
        // Dropped even if the waker of a copy throws.
        const absl::Cleanup unref = [data] { kFrom(data)->Unref(); };
        kFrom(data)->Wake();
      },
      // wake_by_ref
      [](void* data) { kFrom(data)->Wake(); },
      // drop
      [](void* data) { kFrom(data)->Unref(); },
  };
  return {this, &kVTable};
}

SharedCore::Turn SharedCore::Join(SharedWaiter& waiter, Waker& waker) {
  const BriefLockHolder lock(mu_);
  // Relaxed: the lock orders it.
  if (is_done_.load(std::memory_order_relaxed)) return Turn::kTake;
  if (!waiter.IsLinked()) waiters_.PushBack(&waiter);
  std::swap(waiter.waker_.Write(), waker);
  if (MutableCondition(is_polled_) || MutableCondition(!is_woken_)) {
    return Turn::kWait;
  }
  is_woken_ = false;
  is_polled_ = true;
  return Turn::kPoll;
}

void SharedCore::EndPoll() {
  mu_.Lock();
  is_polled_ = false;
  if (MutableCondition(is_woken_)) {
    WakeWaiters();
  } else {
    mu_.Unlock();
  }
}

void SharedCore::Finish(SharedWaiter& waiter) {
  mu_.Lock();
  waiter.Unlink();
  is_polled_ = false;
  // Release pairs with the acquire of IsDone: the output is visible.
  is_done_.store(true, std::memory_order_release);
  WakeWaiters();
}

void SharedCore::Leave(SharedWaiter& waiter) {
  Waker waker;  // destroyed without the lock
  const BriefLockHolder lock(mu_);
  waiter.Unlink();
  std::swap(waiter.waker_.Write(), waker);
}

void SharedCore::Replace(SharedWaiter& from, SharedWaiter& to) {
  const BriefLockHolder lock(mu_);
  if (!from.IsLinked()) return;
  from.Unlink();
  std::swap(from.waker_.Write(), to.waker_.Write());
  waiters_.PushBack(&to);
}

void SharedCore::Wake() {
  mu_.Lock();
  is_woken_ = true;
  WakeWaiters();
}

void SharedCore::WakeWaiters() {
  IntrusiveList<SharedWaiter> these = std::move(waiters_);
  FirstException first;
  WakeList woken;
  while (SharedWaiter* const waiter = these.PopFront()) {
    woken.Push(std::move(waiter->waker_.Write()));
    if (!woken.IsFull() || these.IsEmpty()) continue;
    mu_.Unlock();
    first.Catch([&woken] { woken.WakeAll(); });
    mu_.Lock();
  }
  mu_.Unlock();
  first.Catch([&woken] { woken.WakeAll(); });
  first.Rethrow();
}

}  // namespace rouse::internal

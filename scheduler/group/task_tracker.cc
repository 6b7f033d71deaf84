// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/group/task_tracker.h"

#include <atomic>
#include <cstdint>
#include <utility>

#include "rouse/base/first_exception.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/mutable_step.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/wake_list.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace internal {

void TrackerCore::Ref() {
  // Relaxed: the caller has a reference.
  references_.fetch_add(1, std::memory_order_relaxed);
}

void TrackerCore::Unref() {
  // Release pairs with the acquire of the last drop: use comes before delete.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void TrackerCore::AddToken() {
  // Relaxed: the task has done nothing yet that others could see.
  word_.fetch_add(kToken, std::memory_order_relaxed);
}

// The step to closed and empty is made under the lock. Waiters that wait at
// this moment are therefore found in the list, and later waiters are not.
void TrackerCore::RemoveToken() {
  // Relaxed: the exchanges order.
  uint64_t word = word_.load(std::memory_order_relaxed);
  while (word != (kToken | kClosed)) {
    // Release pairs with the acquires of Close and of the last token, which
    // pass on, with the lock, what the task did.
    if (word_.compare_exchange_weak(word, word - kToken,
                                    std::memory_order_release,
                                    std::memory_order_relaxed)) {
      return;
    }
  }
  mu_.Lock();
  // Acquire pairs with the releases above. The lock passes on what this task
  // did.
  const uint64_t before = word_.fetch_sub(kToken, std::memory_order_acquire);
  if (MutableCondition(before == (kToken | kClosed))) return EndAndUnlock();
  // Other tokens have been added meanwhile.
  mu_.Unlock();
}

bool TrackerCore::Close() {
  mu_.Lock();
  // Acquire pairs with the releases of RemoveToken: a woken waiter sees,
  // through the lock, what the tasks have done.
  const uint64_t before = word_.fetch_or(kClosed, std::memory_order_acquire);
  if (before == 0) {
    EndAndUnlock();
  } else {
    mu_.Unlock();
  }
  return (before & kClosed) == 0;
}

bool TrackerCore::Reopen() {
  // Relaxed: no reader depends on anything before this.
  return (word_.fetch_and(~kClosed, std::memory_order_relaxed) & kClosed) != 0;
}

void TrackerCore::EndAndUnlock() {
  // The count shows the end to current waiters, even to those that have not
  // been woken when the tracker has tasks again.
  ++ends_;
  // Waiters that come while wakers are called wait for another end.
  IntrusiveList<Waiter> waiters = std::move(waiters_);
  FirstException first;
  for (;;) {
    WakeList woken;
    while (!woken.IsFull()) {
      Waiter* const waiter = waiters.PopFront();
      if (waiter == nullptr) break;
      woken.Push(std::move(waiter->waker));
    }
    const bool may_be_more = woken.IsFull();
    mu_.Unlock();
    // A waker that throws does not keep other waiters asleep.
    first.Catch([&woken] { woken.WakeAll(); });
    if (!may_be_more) break;
    mu_.Lock();
  }
  first.Rethrow();
}

uint64_t TrackerCore::EndCount() {
  const ThreadMutexLock lock(&mu_);
  return IsDone() ? ends_ - 1 : ends_;
}

bool TrackerCore::Poll(Waiter& waiter, const Waker& waker) {
  {
    const ThreadMutexLock lock(&mu_);
    if (IsDoneFor(waiter)) return true;
    if (waiter.IsLinked() && waiter.waker.WillWake(waker)) return false;
  }
  Waker clone = waker.Clone();
  const ThreadMutexLock lock(&mu_);
  if (MutableCondition(IsDoneFor(waiter))) return true;
  // The previous waker is destroyed with `clone`, after the lock has been
  // released.
  std::swap(waiter.waker, clone);
  if (!waiter.IsLinked()) waiters_.PushBack(&waiter);
  return false;
}

void TrackerCore::StopWaiting(Waiter& waiter) {
  Waker waker;  // destroyed after the lock has been released
  const ThreadMutexLock lock(&mu_);
  waiter.Unlink();
  std::swap(waiter.waker, waker);
}

}  // namespace internal

TaskTrackerToken::TaskTrackerToken(internal::TrackerCore* core) : core_(core) {
  if (core_ == nullptr) return;  // a copy of a token that was moved from
  core_->Ref();
  core_->AddToken();
}

TaskTrackerToken::~TaskTrackerToken() {
  if (core_ == nullptr) return;
  core_->RemoveToken();
  core_->Unref();
}

PollResult<void> TaskTrackerWait::Poll(Context& cx) {
  if (core_ == nullptr) {
    Panic("TaskTracker::Wait was polled after it completed; call Wait() again");
  }
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  if (!core_->Poll(waiter_, cx.waker())) {
    waits_ = true;
    return kPending;
  }
  unit->MadeProgress();
  Finish();
  return {};
}

void TaskTrackerWait::PanicMoved() {
  Panic(
      "TaskTracker::Wait was moved after it was polled; move the future before "
      "its first poll");
}

void TaskTrackerWait::Finish() {
  if (core_ == nullptr) return;
  if (std::exchange(waits_, false)) core_->StopWaiting(waiter_);
  std::exchange(core_, nullptr)->Unref();
}

}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/semaphore/core.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "rouse/base/first_exception.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/base/mutable_step.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/sync/internal/pending_wait.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"
#include "rouse/waker/wake_list.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

SemaphoreCore::SemaphoreCore(size_t permits) : word_(permits * kPermit) {
  if (permits > kMaxPermits) PanicOverflow();
}

void SemaphoreCore::PanicOverflow() {
  Panic(
      "Semaphore: the number of permits exceeds kMaxPermits; release only "
      "acquired permits, or add fewer permits");
}

size_t SemaphoreCore::Forget(size_t n) {
  // Relaxed: the compare-exchange acquires.
  uint64_t word = word_.load(std::memory_order_relaxed);
  size_t taken;
  do {
    taken = std::min<uint64_t>(n, word / kPermit);
    if (taken == 0) return 0;
    // Acquire: as in TryAcquire. While permits are free, nobody waits.
  } while (!word_.compare_exchange_weak(word, word - taken * kPermit,
                                        std::memory_order_acquire,
                                        std::memory_order_relaxed));
  return taken;
}

// If the last waiter has left meanwhile, TryRelease() changes the word instead,
// without the lock: the word is then the last thing touched.
void SemaphoreCore::ReleaseToWaiters(size_t n) {
  FirstException first;
  do {
    WakeList woken;
    n = Assign(n, woken);
    // `Assign()` has counted this release in `assigning_` exactly then.
    const bool is_assigning = n > 0 && woken.IsFull();
    first.Catch([&woken] { woken.WakeAll(); });
    if (ABSL_PREDICT_FALSE(is_assigning)) {
      const BriefLockHolder lock(mu_);
      --assigning_;
    }
  } while (n > 0 && !TryRelease(n));
  first.Rethrow();
}

// Returns the number of permits still to be released, because nobody waits or
// `woken` is full.
size_t SemaphoreCore::Assign(size_t n, WakeList& woken) {
  const BriefLockHolder lock(mu_);
  if (MutableCondition(!HasWaiters())) return n;
  while (n > 0 && !waiters_.IsEmpty() && !woken.IsFull()) {
    auto* const front = static_cast<Waiter*>(waiters_.Front());
    size_t& missing = front->missing.Write();
    const size_t assigned = std::min(n, missing);
    n -= assigned;
    missing -= assigned;
    if (missing > 0) break;
    front->Unlink();
    notified_.PushBack(front);
    woken.Push(front->TakeWaker());
  }
  if (!waiters_.IsEmpty()) {
    if (n > 0) ++assigning_;
    return n;
  }
  // Release pairs with the acquires of TryAcquire and of Enqueue.
  word_.store(n * kPermit, std::memory_order_release);
  return 0;
}

size_t SemaphoreCore::NotifiedWaiters() {
  size_t count = 0;
  const BriefLockHolder lock(mu_);
  notified_.ForEach([&count](WaitNode*) { ++count; });
  return count;
}

bool SemaphoreCore::IsAssigning() {
  const BriefLockHolder lock(mu_);
  return assigning_ > 0;
}

void SemaphoreCore::Close() {
  for (;;) {
    // Relaxed: the compare-exchange releases.
    uint64_t word = word_.load(std::memory_order_relaxed);
    while ((word & kHasWaiters) == 0) {
      // Release pairs with the acquires of IsClosed and of Enqueue.
      if (word_.compare_exchange_weak(word, word | kClosed,
                                      std::memory_order_release,
                                      std::memory_order_relaxed)) {
        return;
      }
    }
    mu_.Lock();
    if (HasWaiters()) break;
    mu_.Unlock();
  }
  auto* const front = static_cast<Waiter*>(waiters_.Front());
  const size_t assigned = front->needed - front->missing.Read();
  front->missing.Write() = front->needed;
  // Release pairs with the acquires of IsClosed and of Enqueue.
  word_.store(kClosed | assigned * kPermit, std::memory_order_release);
  WakeAll(mu_, waiters_, [](WaitNode*) {});
}

SemaphoreCore::Fate SemaphoreCore::Check(Waiter& waiter) {
  if (waiter.needed > 0 && waiter.missing.Read() == 0) return Fate::kAcquired;
  return waiter.IsLinked() ? Fate::kWaits : Enqueue(waiter);
}

SemaphoreCore::Fate SemaphoreCore::Enqueue(Waiter& waiter) {
  const size_t n = waiter.needed;
  // Acquire pairs with the release of Close.
  uint64_t word = word_.load(std::memory_order_acquire);
  for (;;) {
    if ((word & kClosed) != 0) return Fate::kClosed;
    if (n == 0) return Fate::kAcquired;
    if ((word & kHasWaiters) != 0) break;
    const uint64_t taken = std::min<uint64_t>(n, word / kPermit);
    const uint64_t next = taken == n ? word - n * kPermit : kHasWaiters;
    // Acquire pairs with the releases of all permits that were given back, and
    // with the release of Close.
    if (word_.compare_exchange_weak(word, next, std::memory_order_acquire,
                                    std::memory_order_acquire)) {
      if (taken == n) return Fate::kAcquired;
      waiter.missing.Write() = n - taken;
      break;
    }
  }
  waiters_.PushBack(&waiter);
  return Fate::kWaits;
}

void SemaphoreCore::KeepNotified(Waiter& waiter) {
  if (waiter.IsLinked() || waiter.needed == 0) return;
  waiter.missing.Write() = 0;
  notified_.PushBack(&waiter);
}

void SemaphoreCore::GiveUp(Waiter& waiter) {
  size_t assigned;
  {
    Waker waker;  // destroyed without the lock
    const BriefLockHolder lock(mu_);
    assigned = waiter.needed - waiter.missing.Read();
    waiter.Leave(waker);
    // Sets the word without the permits that had been assigned. If these are
    // all permits of the core, a task that acquires them may destroy the core,
    // and so must not come before the lock is free. Relaxed: without permits
    // there is nothing to hand on.
    if (MutableCondition(waiters_.IsEmpty() && HasWaiters())) {
      word_.store(0, std::memory_order_relaxed);
    }
  }
  if (assigned > 0) ROUSE_MUTABLE_CALL(Release(assigned));
}

std::string SemaphoreCore::Describe(const Waiter& waiter) {
  // Further tasks are not named.
  constexpr size_t kMostNamed = 4;
  TaskId tasks[kMostNamed];
  size_t count = 0;
  size_t missing;
  {
    const BriefLockHolder lock(mu_);
    missing = waiter.missing.Read();
    notified_.ForEach([&](WaitNode* told) {
      if (count < kMostNamed) tasks[count] = static_cast<Waiter*>(told)->task;
      ++count;
    });
  }
  if (missing == 0) return "has its permits, but was not polled since";
  std::string text =
      absl::StrCat("lacks ", missing, " of ", waiter.needed, " permits");
  for (size_t i = 0; i < std::min(count, kMostNamed); ++i) {
    absl::StrAppend(&text,
                    i == 0 ? "; notified, but not polled since: " : ", ");
    if (tasks[i] == 0) {
      absl::StrAppend(&text, "no task");
    } else {
      absl::StrAppend(&text, "task ", tasks[i]);
    }
  }
  if (count > kMostNamed) absl::StrAppend(&text, ", and others");
  return text;
}

PollResult<bool> PendingAcquire::PollSlowly(Context& cx, const char* call) {
  if (state_ == State::kDone) PanicPolledAfterEnd(call);
  if (state_ == State::kNew) {
    if (!cx.HasBudget() && core_->CanAcquire(n_)) {
      return YieldForBudget(cx);
    }
    std::construct_at(&waiter_, n_, call);
    state_ = State::kQueued;
  }
  const SemaphoreCore::Fate fate = Check(cx);
  if (fate == SemaphoreCore::Fate::kWaits) return kPending;
  if (!cx.HasBudget()) return YieldForBudget(cx);
  std::destroy_at(&waiter_);
  state_ = State::kDone;
  TakeUnitIfAny(cx);
  return fate == SemaphoreCore::Fate::kAcquired;
}

SemaphoreCore::Fate PendingAcquire::Check(Context& cx) {
  const bool has_budget = cx.HasBudget();
  Waker waker = waiter_.CloneIfNew(cx.waker());  // destroyed without the lock
  const TaskId task = task::CurrentTaskIdHere();
  const BriefLockHolder lock(core_->mu_);
  const SemaphoreCore::Fate fate = core_->Check(waiter_);
  waiter_.task = task;
  if (fate == SemaphoreCore::Fate::kWaits) {
    waiter_.Register(waker);
  } else if (has_budget) {
    waiter_.Leave(waker);
  } else if (fate == SemaphoreCore::Fate::kAcquired) {
    core_->KeepNotified(waiter_);
  }
  return fate;
}

void PendingAcquire::Trace(AwaitTrace& trace, std::string_view future) const {
  if (state_ != State::kQueued) return trace.AddLeaf(future);
  trace.AddLeaf(future, core_->Describe(waiter_));
}

void PendingAcquire::Cancel() {
  core_->GiveUp(waiter_);
  std::destroy_at(&waiter_);
}

}  // namespace rouse::internal

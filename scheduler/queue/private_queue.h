// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: private_queue.h
// -----------------------------------------------------------------------------
//
// The tasks that a worker keeps to itself, as long as nobody asks for any.
// Internal to the scheduler.
//
// What only its owner touches costs no read-modify-write, has no limit, and is
// kept in the best order. Others get what the owner gives them (run_queues.h).
// If it is stuck in a long poll and gives nothing, a worker that searches, or
// the watchdog, takes all there is; for this there is a lock, which costs the
// owner next to nothing (biased_lock.h).
//
// # The order
//
//  1. The next one: the task that was woken last runs best right after the one
//     that has woken it, on the same processor, while what it was told is in
//     the cache.
//  2. What was woken, in the order of its waking.
//  3. New tasks, of which a tree of tasks may make a great many, the newest
//     first: so few branches of the tree are begun at one time, and what they
//     have in memory stays in the cache. Every so often the oldest comes first,
//     so that each has its turn; and every eighth time a new one comes before
//     what was woken.

#ifndef ROUSE_SCHEDULER_QUEUE_PRIVATE_QUEUE_H_
#define ROUSE_SCHEDULER_QUEUE_PRIVATE_QUEUE_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/lock/biased_lock.h"
#include "rouse/scheduler/queue/run_queue.h"
#include "rouse/scheduler/queue/run_stack.h"

namespace rouse::scheduler {

// PrivateQueue
//
// Of `T`, `next_in_queue` and `previous_in_queue` belong to the queue, and
// `IsNew()` says whether it has never been run. Owns nothing. One thread at a
// time is its owner. All operations are O(1) but where it says otherwise.
template <class T>
class PrivateQueue {
 public:
  PrivateQueue() = default;
  PrivateQueue(const PrivateQueue&) = delete;
  PrivateQueue& operator=(const PrivateQueue&) = delete;

  // ---- For the owner.

  // To be called before anything is pushed: new tasks come in the order of
  // their pushing as well, in one row with the others.
  void KeepOrderOfNew() { newest_first_ = false; }

  // Puts `element` before all others. What was there goes to where it belongs.
  void PushNext(T* element) {
    const BiasedLock::OwnerHolder lock(mu_);
    if (T* const before = ExchangeNext(element)) PushLocked(before);
    Add(1);
  }

  // The one that was pushed to be the next, or null.
  T* PopNext() {
    if (!HasNext()) return nullptr;
    const BiasedLock::OwnerHolder lock(mu_);
    T* const element = ExchangeNext(nullptr);
    if (element != nullptr) Add(-1);
    return element;
  }

  void Push(T* element) {
    const BiasedLock::OwnerHolder lock(mu_);
    PushLocked(element);
    Add(1);
  }

  // Puts all `count` of `batch` behind what was woken.
  void Append(RunQueue<T>& batch, size_t count) {
    const BiasedLock::OwnerHolder lock(mu_);
    woken_.Append(batch);
    Add(count);
  }

  // Whether there may be a next one.
  bool HasNext() const {
    // Relaxed: the owner alone puts one there. The watchdog may have taken it.
    return next_.load(std::memory_order_relaxed) != nullptr;
  }

  // The first of all but the next one, or null.
  T* Pop() {
    // The watchdog may only take something away.
    if (Size() == 0) return nullptr;
    const BiasedLock::OwnerHolder lock(mu_);
    T* const element = PopLocked();
    if (element != nullptr) Add(-1);
    return element;
  }

  // Moves to `batch` what others are to have, up to `limit`: what was woken,
  // and the older half of the new tasks, whose branches are the longest, or
  // `all_new`. How many. O(limit).
  size_t TakeForOthers(RunQueue<T>& batch, size_t limit, bool all_new) {
    const BiasedLock::OwnerHolder lock(mu_);
    size_t count = 0;
    const auto take = [&](T* element) {
      if (element == nullptr) return false;
      batch.Push(element);
      ++count;
      return true;
    };
    while (count < limit && take(woken_.Pop())) {
    }
    const size_t end =
        std::min(limit, count + (all_new ? new_count_ : (new_count_ + 1) / 2));
    while (count < end && take(PopNew(/*oldest=*/true))) {
    }
    Add(-count);
    return count;
  }

  // Moves all there is to `batch`, in its order but that the oldest of the new
  // tasks comes first. How many. O(new tasks).
  size_t TakeAll(RunQueue<T>& batch) {
    const BiasedLock::OwnerHolder lock(mu_);
    return TakeAllLocked(batch);
  }

  // ---- For any other thread.

  // Calls `take(RunQueue<T>&, count)` with the same, if there is anything,
  // under the lock: a TakeAll() that finds nothing comes after the call. O(new
  // tasks), and what `take` takes.
  template <class F>
  void Rescue(F take) {
    const BiasedLock::Holder lock(mu_);
    RunQueue<T> batch;
    const size_t count = TakeAllLocked(batch);
    if (count > 0) take(batch, count);
  }

  // ---- For any thread.

  // How many there are. Out of date by the time it returns, but for the owner
  // no less than there are.
  size_t Size() const {
    // Nothing to order: the owner has written what it relies on.
    return size_.load(std::memory_order_relaxed);
  }

 private:
  // After how many tasks the oldest of the new ones comes.
  static constexpr uint32_t kOldestInterval = 127;
  // After how many a new one comes, though others are there that were woken.
  static constexpr uint32_t kNewInterval = 8;

  void PushLocked(T* element) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (newest_first_ && element->IsNew()) {
      new_.Push(element);
      ++new_count_;
    } else {
      woken_.Push(element);
    }
  }

  T* PopLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    ++pops_;
    if (woken_.IsEmpty()) return PopNew(pops_ % kOldestInterval == 0);
    if (new_count_ > 0 && pops_ % kNewInterval == 0) {
      return PopNew(/*oldest=*/true);
    }
    return woken_.Pop();
  }

  T* PopNew(bool oldest) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    T* const element = oldest ? new_.PopOldest() : new_.PopNewest();
    if (element != nullptr) --new_count_;
    return element;
  }

  size_t TakeAllLocked(RunQueue<T>& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (T* const element = ExchangeNext(nullptr)) batch.Push(element);
    batch.Append(woken_);
    while (T* const element = PopNew(/*oldest=*/true)) batch.Push(element);
    const size_t count = Size();
    Add(-count);
    return count;
  }

  T* ExchangeNext(T* element) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // Relaxed: written under the lock.
    T* const before = next_.load(std::memory_order_relaxed);
    next_.store(element, std::memory_order_relaxed);
    return before;
  }

  // By who holds the lock.
  void Add(size_t change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    size_.store(Size() + change, std::memory_order_relaxed);
  }

  BiasedLock mu_;
  bool newest_first_ = true;
  uint32_t pops_ ABSL_GUARDED_BY(mu_) = 0;
  RunQueue<T> woken_ ABSL_GUARDED_BY(mu_);
  RunStack<T> new_ ABSL_GUARDED_BY(mu_);
  size_t new_count_ ABSL_GUARDED_BY(mu_) = 0;
  // Written under the lock.
  Atomic<T*> next_{nullptr};
  Atomic<size_t> size_{0};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_QUEUE_PRIVATE_QUEUE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: private_queue.h
// -----------------------------------------------------------------------------
//
// The private queue of a worker: tasks it keeps to itself until another worker
// asks for some. Internal to the scheduler.
//
// A queue that only its owner accesses costs no read-modify-write, has no
// limit, and is kept in the best order. Other workers get the tasks that the
// owner gives them (run_queues.h). If the owner is stuck in a long poll and
// gives nothing, a searching worker or the watchdog takes all tasks. For this
// purpose there is a lock, which costs the owner next to nothing
// (biased_lock.h).
//
// # The order
//
//  1. The next task (in the LIFO slot): the task woken last runs best right
//     after the task that woke it, on the same processor, while the data it was
//     woken for is in the cache.
//  2. Woken tasks, in the order of their waking.
//  3. New tasks, the newest first. A tree of tasks may create a great many of
//     them. In this order few branches of the tree are begun at once, and their
//     memory stays in the cache. Every so often the oldest comes first, so that
//     each has its turn; and every eighth time a new task comes before the
//     woken tasks.

#ifndef ROUSE_SCHEDULER_QUEUE_PRIVATE_QUEUE_H_
#define ROUSE_SCHEDULER_QUEUE_PRIVATE_QUEUE_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/lock/biased_lock.h"
#include "rouse/scheduler/queue/run_queue.h"
#include "rouse/scheduler/queue/run_stack.h"

namespace rouse::scheduler {

// PrivateQueue
//
// `T::next_in_queue` and `T::previous_in_queue` belong to the queue, and
// `T::IsNew()` says whether an element has never been run. Owns no elements.
// One thread at a time is the owner. All operations take O(1) unless documented
// otherwise.
template <class T>
class PrivateQueue {
 public:
  PrivateQueue() = default;
  PrivateQueue(const PrivateQueue&) = delete;
  PrivateQueue& operator=(const PrivateQueue&) = delete;

  // ---- For the owner.

  // Makes new tasks come in the order of their pushing, too, in one sequence
  // with the woken tasks. Must be called before any push.
  void KeepOrderOfNew() { newest_first_ = false; }

  // Puts `element` into the LIFO slot, before all others. The task in the slot
  // before, if any, moves to its place in the queue.
  void PushNext(T* element) {
    const BiasedLock::OwnerHolder lock(mu_);
    if (T* const before = ExchangeNext(element)) PushLocked(before);
    Add(1);
  }

  // Removes and returns the task in the LIFO slot; null if the slot is empty.
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

  // Puts all `count` elements of `batch` behind the woken tasks.
  void Append(RunQueue<T>& batch, size_t count) {
    const BiasedLock::OwnerHolder lock(mu_);
    woken_.Append(batch);
    Add(count);
  }

  // Returns whether there may be a task in the LIFO slot.
  bool HasNext() const {
    // Relaxed: only the owner fills the slot. The watchdog may have emptied it.
    return next_.load(std::memory_order_relaxed) != nullptr;
  }

  // Removes and returns the first task outside the LIFO slot, or null.
  ABSL_ATTRIBUTE_ALWAYS_INLINE T* Pop() {
    // The watchdog can only remove tasks.
    if (Size() == 0) return nullptr;
    const BiasedLock::OwnerHolder lock(mu_);
    T* const element = PopLocked();
    if (element != nullptr) Add(-1);
    return element;
  }

  // Moves tasks for other workers to `batch`, at most `limit`, and returns
  // their number. Takes the woken tasks, and then the older half of the new
  // tasks, whose branches are the longest, or all new tasks if `all_new`. Takes
  // O(limit).
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

  // Moves all tasks to `batch`, and returns their number. Keeps their order,
  // except that new tasks come oldest first. Takes O(new tasks).
  size_t TakeAll(RunQueue<T>& batch) {
    const BiasedLock::OwnerHolder lock(mu_);
    return TakeAllLocked(batch);
  }

  // ---- For any other thread.

  // Takes all tasks as `TakeAll()` does and, if there are any, calls
  // `take(RunQueue<T>&, count)` while holding the lock. Therefore a TakeAll()
  // that finds nothing comes after the call. Takes O(new tasks), plus the time
  // of `take`.
  template <class F>
  void Rescue(F take) {
    const BiasedLock::Holder lock(mu_);
    RunQueue<T> batch;
    const size_t count = TakeAllLocked(batch);
    if (count > 0) take(batch, count);
  }

  // ---- For any thread.

  // Returns the number of tasks. The number may be out of date when the call
  // returns. For the owner, it is not less than the actual number.
  size_t Size() const {
    // Relaxed: the owner relies only on its own writes.
    return size_.load(std::memory_order_relaxed);
  }

 private:
  // Number of tasks after which the oldest new task comes first.
  static constexpr uint32_t kOldestInterval = 127;
  // Number of tasks after which a new task comes before the woken tasks.
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
    return ABSL_PREDICT_TRUE(new_count_ == 0) ? woken_.Pop() : PopBesideNew();
  }

  ABSL_ATTRIBUTE_NOINLINE T* PopBesideNew() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    ++pops_;
    if (woken_.IsEmpty()) return PopNew(pops_ % kOldestInterval == 0);
    if (pops_ % kNewInterval == 0) return PopNew(/*oldest=*/true);
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

  // Adds `change` to the size. The caller holds the lock.
  void Add(size_t change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    size_.store(Size() + change, std::memory_order_relaxed);
  }

  BiasedLock mu_;
  bool newest_first_ = true;
  // Counts the tasks that were removed while there were new ones.
  uint32_t pops_ ABSL_GUARDED_BY(mu_) = 0;
  RunQueue<T> woken_ ABSL_GUARDED_BY(mu_);
  RunStack<T> new_ ABSL_GUARDED_BY(mu_);
  size_t new_count_ ABSL_GUARDED_BY(mu_) = 0;
  // Both are written under the lock.
  Atomic<T*> next_{nullptr};
  Atomic<size_t> size_{0};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_QUEUE_PRIVATE_QUEUE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: global_queue.h
// -----------------------------------------------------------------------------
//
// The global queue, shared by all workers. Holds tasks injected by other
// threads, and tasks for which a worker's own queue has no room. Internal to
// the scheduler.

#ifndef ROUSE_SCHEDULER_QUEUE_GLOBAL_QUEUE_H_
#define ROUSE_SCHEDULER_QUEUE_GLOBAL_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/scheduler/queue/run_queue.h"

namespace rouse::scheduler {

// What a pop does while another thread is at the queue.
enum class IfBusy : unsigned char { kWait, kGiveUp };

// GlobalQueue
//
// A first-in, first-out queue without a limit. Owns no elements. Thread-safe.
// Operations take O(1), or O(count) if a count is given or taken; but to remove
// elements, the lock is held for O(count / kSegment + kSegment) only. For this
// purpose the elements form segments: `previous_in_queue` links the first
// element of each segment to the first element of the next segment. In
// addition, `next_in_queue` links each element to the next one.
//
// Occupies a cache line of its own: outside threads write to the queue for each
// task they create, while the workers read the neighboring data in every poll.
template <class T>
class alignas(ABSL_CACHELINE_SIZE) GlobalQueue {
 public:
  // Number of elements in each segment, except the first and the last, which
  // can have fewer.
#ifdef ROUSE_MODEL
  static constexpr size_t kSegment = 2;
#else
  static constexpr size_t kSegment = 16;
#endif

  GlobalQueue() = default;
  GlobalQueue(const GlobalQueue&) = delete;
  GlobalQueue& operator=(const GlobalQueue&) = delete;

  // Returns the number of waiting elements. Sequentially consistent, like Push:
  // if one thread pushes and then checks for sleeping workers, and another goes
  // to sleep and then checks this queue, at least one of them sees the other.
  size_t Size() const { return size_.load(std::memory_order_seq_cst); }
  bool IsEmpty() const { return Size() == 0; }

  // Puts `element` last and returns true. Returns false, and does not take
  // `element`, if the queue has been closed.
  bool Push(T* element) {
    const BriefLockHolder lock(mu_);
    if (closed_) return false;
    PushLocked(element);
    Resize(1);
    CountPush();
    return true;
  }

  // Like `Push()`, but for a new element. Counts it in `new_count()`.
  bool PushNew(T* element) {
    const BriefLockHolder lock(mu_);
    // Relaxed: written only under the lock, and `new_count()` orders nothing.
    new_count_.store(new_count() + 1, std::memory_order_relaxed);
    if (closed_) return false;
    PushLocked(element);
    Resize(1);
    CountPush();
    return true;
  }

  // Returns how many elements `Push()` and `PushNew()` have put here.
  uint64_t pushed() const { return pushed_.load(std::memory_order_relaxed); }

  // Returns how many times `PushNew()` has been called, whatever its result.
  size_t new_count() const {
    return new_count_.load(std::memory_order_relaxed);
  }

  // Puts all elements of `batch` last, in their order; elements of other
  // threads may come between them. Works even if the queue is closed: for
  // callers that finish before the queue is emptied for the last time.
  void PushBatch(RunQueue<T>& batch) {
    while (!batch.IsEmpty()) {
      const BriefLockHolder lock(mu_);
      size_t count = 0;
      // Other threads get the lock in between, so that they do not wait for
      // long.
      while (count < kMaxHeld) {
        T* const element = batch.Pop();
        if (element == nullptr) break;
        PushLocked(element);
        ++count;
      }
      Resize(count);
    }
  }

  // Moves the first elements, at most `max`, to the end of `batch`, calls
  // `taken(T*)` for each, and returns their number. Moves whole segments, so
  // the number can be less than both `max` and the length of the queue. If
  // `max` is less than the first segment, moves a part of that segment. With
  // `IfBusy::kGiveUp`, moves nothing while another thread is at the queue.
  template <class F>
  size_t PopBatch(size_t max, RunQueue<T>& batch, F taken,
                  IfBusy if_busy = IfBusy::kWait) {
    // Avoids the lock. A worker that must not miss an element checks again
    // before it sleeps.
    if (max == 0 || IsEmpty()) return 0;
    if (if_busy == IfBusy::kWait) {
      mu_.Lock();
    } else if (!mu_.TryLock()) {
      return 0;
    }
    T* element;
    const size_t count = PopSegments(max, element);
    mu_.Unlock();
    // No other thread accesses these elements, not even the link from the last
    // one to the rest of the queue: a push writes the link of the queue's last
    // element, and an element that was taken out is not the last any more.
    for (size_t i = 0; i < count; ++i) {
      T* const next = element->next_in_queue;
      taken(element);
      batch.Push(element);
      element = next;
    }
    return count;
  }

  // Calls `visit(T*)` for each element while holding the lock.
  template <class F>
  void ForEach(F visit) {
    const BriefLockHolder lock(mu_);
    T* element = first_;
    for (size_t i = 0; i < size_.load(std::memory_order_relaxed); ++i) {
      visit(element);
      element = element->next_in_queue;
    }
  }

  // Makes `Push()` and `PushNew()` refuse elements from now on. Elements in the
  // queue can still be popped.
  void Close() {
    const BriefLockHolder lock(mu_);
    closed_ = true;
  }

 private:
  // Number of elements to push at most while holding the lock once.
  static constexpr size_t kMaxHeld = 128;

  void PushLocked(T* element) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    element->next_in_queue = nullptr;
    if (last_ != nullptr) last_->next_in_queue = element;
    last_ = element;
    if (first_ != nullptr && in_last_segment_ < kSegment) {
      ++in_last_segment_;
      return;
    }
    element->previous_in_queue = nullptr;
    (first_ == nullptr ? first_ : last_segment_->previous_in_queue) = element;
    last_segment_ = element;
    in_last_segment_ = 1;
  }

  // Removes elements for `PopBatch()` and returns their number. Sets `first` to
  // the first of them.
  size_t PopSegments(size_t max, T*& first) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    first = first_;
    size_t count = 0;
    while (first_ != nullptr) {
      const bool is_last = first_ == last_segment_;
      const size_t size = is_last ? in_last_segment_ : in_first_segment_;
      if (count + size > max) {
        if (count == 0) count = Split(max);
        break;
      }
      count += size;
      first_ = is_last ? nullptr : first_->previous_in_queue;
      in_first_segment_ = kSegment;
      if (is_last) last_ = nullptr;
    }
    Resize(-count);
    return count;
  }

  void CountPush() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // Relaxed: written only under the lock, and orders nothing.
    pushed_.store(pushed() + 1, std::memory_order_relaxed);
  }

  // Makes the first segment begin `count` elements later. Returns `count`.
  size_t Split(size_t count) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    T* rest = first_;
    for (size_t i = 0; i < count; ++i) rest = rest->next_in_queue;
    rest->previous_in_queue = first_->previous_in_queue;
    if (first_ == last_segment_) {
      last_segment_ = rest;
      in_last_segment_ -= count;
    } else {
      in_first_segment_ -= count;
    }
    first_ = rest;
    return count;
  }

  // Adds `change` to the size, modulo the width of the word.
  void Resize(size_t change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // Relaxed: written only under the lock. See Size for the order.
    size_.store(size_.load(std::memory_order_relaxed) + change,
                std::memory_order_seq_cst);
  }

  BriefLock mu_;
  // First element of the first segment and of the last, and the last element.
  T* first_ ABSL_GUARDED_BY(mu_) = nullptr;
  T* last_segment_ ABSL_GUARDED_BY(mu_) = nullptr;
  T* last_ ABSL_GUARDED_BY(mu_) = nullptr;
  // Number of elements in the first segment, if it is not also the last, and in
  // the last segment.
  size_t in_first_segment_ ABSL_GUARDED_BY(mu_) = kSegment;
  size_t in_last_segment_ ABSL_GUARDED_BY(mu_) = 0;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  Atomic<size_t> new_count_{0};
  // Not an `Atomic`: the model checker need not follow a count for metrics.
  std::atomic<uint64_t> pushed_{0};
  Atomic<size_t> size_{0};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_QUEUE_GLOBAL_QUEUE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: global_queue.h
// -----------------------------------------------------------------------------
//
// The run queue that all workers share: for tasks from other threads, and for
// what does not fit into a worker's own. Internal to the scheduler.

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

// GlobalQueue
//
// First in, first out, without a limit. Owns nothing. Thread-safe; O(1), or
// O(count) where a count is given or taken, but for the time that the lock is
// held to take some out: O(count / kSegment + kSegment). For that the elements
// are in segments, the first of each of which is linked to the next one's by
// `previous_in_queue`. All links by `next_in_queue` are there as well.
//
// On a cache line of its own: threads outside write to it with each task that
// they make, while the workers read what is beside it with every poll.
template <class T>
class alignas(ABSL_CACHELINE_SIZE) GlobalQueue {
 public:
  // So many are in each segment but the first and the last, where it may be
  // fewer.
#ifdef ROUSE_MODEL
  static constexpr size_t kSegment = 2;
#else
  static constexpr size_t kSegment = 16;
#endif

  GlobalQueue() = default;
  GlobalQueue(const GlobalQueue&) = delete;
  GlobalQueue& operator=(const GlobalQueue&) = delete;

  // How many wait. Sequentially consistent, as Push is: of one who pushes and
  // then looks whether somebody sleeps, and one who goes to sleep and then
  // looks here, at least one sees the other.
  size_t Size() const { return size_.load(std::memory_order_seq_cst); }
  bool IsEmpty() const { return Size() == 0; }

  // Puts `element` last. False once the queue has been closed: it is not taken
  // then.
  bool Push(T* element) {
    const BriefLockHolder lock(mu_);
    if (closed_) return false;
    PushLocked(element);
    Resize(1);
    CountPush();
    return true;
  }

  // The same for a new one, which is counted.
  bool PushNew(T* element) {
    const BriefLockHolder lock(mu_);
    // Relaxed: written under the lock alone, and `new_count()` orders nothing.
    new_count_.store(new_count() + 1, std::memory_order_relaxed);
    if (closed_) return false;
    PushLocked(element);
    Resize(1);
    CountPush();
    return true;
  }

  // How many elements `Push()` and `PushNew()` have put here.
  uint64_t pushed() const { return pushed_.load(std::memory_order_relaxed); }

  // How often `PushNew()` has been called, whatever came of it.
  size_t new_count() const {
    return new_count_.load(std::memory_order_relaxed);
  }

  // Puts all of `batch` last, in their order; others may come between them.
  // Also if the queue is closed: for who is done before it is emptied for the
  // last time.
  void PushBatch(RunQueue<T>& batch) {
    while (!batch.IsEmpty()) {
      const BriefLockHolder lock(mu_);
      size_t count = 0;
      // Others have their turn, so that they need not wait for long.
      while (count < kMaxHeld) {
        T* const element = batch.Pop();
        if (element == nullptr) break;
        PushLocked(element);
        ++count;
      }
      Resize(count);
    }
  }

  // Takes the first ones, up to `max`, to the end of `batch`, and calls
  // `taken(T*)` for each. Whole segments, so that it may be less than `max` and
  // than there are; but part of the first one if `max` is less than that. How
  // many.
  template <class F>
  size_t PopBatch(size_t max, RunQueue<T>& batch, F taken) {
    // Spares the lock. Whoever must not miss anything looks again before it
    // sleeps.
    if (max == 0 || IsEmpty()) return 0;
    T* element;
    const size_t count = PopSegments(max, element);
    // Nobody else has them, not even the last one's link to what is still
    // there: elements are linked to the last one of the queue, and what is
    // taken out is not.
    for (size_t i = 0; i < count; ++i) {
      T* const next = element->next_in_queue;
      taken(element);
      batch.Push(element);
      element = next;
    }
    return count;
  }

  // Calls `visit(T*)` for each, under the lock.
  template <class F>
  void ForEach(F visit) {
    const BriefLockHolder lock(mu_);
    T* element = first_;
    for (size_t i = 0; i < size_.load(std::memory_order_relaxed); ++i) {
      visit(element);
      element = element->next_in_queue;
    }
  }

  // Takes nothing more from `Push()`. What is here may still be popped.
  void Close() {
    const BriefLockHolder lock(mu_);
    closed_ = true;
  }

 private:
  // How many are put in at one time.
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

  // `first` is the first of those taken.
  size_t PopSegments(size_t max, T*& first) {
    const BriefLockHolder lock(mu_);
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
    // Relaxed: written under the lock alone, and orders nothing.
    pushed_.store(pushed() + 1, std::memory_order_relaxed);
  }

  // Has the first segment begin `count` elements later. `count`.
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

  // By `change`, modulo the width of the word.
  void Resize(size_t change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // Relaxed: written under the lock alone. See Size for the order.
    size_.store(size_.load(std::memory_order_relaxed) + change,
                std::memory_order_seq_cst);
  }

  BriefLock mu_;
  // Where the first and the last segment begin, and the last element.
  T* first_ ABSL_GUARDED_BY(mu_) = nullptr;
  T* last_segment_ ABSL_GUARDED_BY(mu_) = nullptr;
  T* last_ ABSL_GUARDED_BY(mu_) = nullptr;
  // How many are in the first segment, if it is not the last, and in that.
  size_t in_first_segment_ ABSL_GUARDED_BY(mu_) = kSegment;
  size_t in_last_segment_ ABSL_GUARDED_BY(mu_) = 0;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  Atomic<size_t> new_count_{0};
  // A count for metrics is no business of the model checker's.
  std::atomic<uint64_t> pushed_{0};
  Atomic<size_t> size_{0};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_QUEUE_GLOBAL_QUEUE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: inject_queue.h
// -----------------------------------------------------------------------------
//
// The run queue that all workers share: for tasks from other threads, and for
// what does not fit into a worker's own. Internal to the scheduler.

#ifndef ROUSE_SCHEDULER_INJECT_QUEUE_H_
#define ROUSE_SCHEDULER_INJECT_QUEUE_H_

#include <atomic>
#include <cstddef>

#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/mutex.h"
#include "rouse/scheduler/run_queue.h"

namespace rouse::scheduler {

// InjectQueue
//
// First in, first out, without a limit. Owns nothing. Thread-safe; O(1), or
// O(count) where a count is given or taken.
//
// On a cache line of its own: threads outside write to it with each task that
// they make, while the workers read what is beside it with every poll.
template <class T>
class alignas(ABSL_CACHELINE_SIZE) InjectQueue {
 public:
  InjectQueue() = default;
  InjectQueue(const InjectQueue&) = delete;
  InjectQueue& operator=(const InjectQueue&) = delete;

  // How many wait. Sequentially consistent, as Push is: of one who pushes and
  // then looks whether somebody sleeps, and one who goes to sleep and then
  // looks here, at least one sees the other.
  size_t Size() const { return size_.load(std::memory_order_seq_cst); }
  bool IsEmpty() const { return Size() == 0; }

  // Puts `element` last. False once the queue has been closed: it is not taken
  // then.
  bool Push(T* element) {
    const MutexLock lock(&mu_);
    if (closed_) return false;
    queue_.Push(element);
    Resize(1);
    return true;
  }

  // Puts all of `batch`, of `count`, last, in their order. Also if the queue is
  // closed: for who is done before it is emptied for the last time.
  void PushBatch(RunQueue<T>& batch, size_t count) {
    const MutexLock lock(&mu_);
    queue_.Append(batch);
    Resize(count);
  }

  // Takes the first ones, up to `max`, to the end of `batch`. How many.
  size_t PopBatch(size_t max, RunQueue<T>& batch) {
    // Spares the lock. Whoever must not miss anything looks again before it
    // sleeps.
    if (max == 0 || IsEmpty()) return 0;
    const MutexLock lock(&mu_);
    size_t count = 0;
    for (; count < max; ++count) {
      T* const element = queue_.Pop();
      if (element == nullptr) break;
      batch.Push(element);
    }
    Resize(-count);
    return count;
  }

  // The same with all there are.
  size_t PopAll(RunQueue<T>& batch) {
    if (IsEmpty()) return 0;
    const MutexLock lock(&mu_);
    const size_t count = size_.load(std::memory_order_relaxed);
    batch.Append(queue_);
    Resize(-count);
    return count;
  }

  // Takes nothing more from `Push()`. What is here may still be popped.
  void Close() {
    const MutexLock lock(&mu_);
    closed_ = true;
  }

 private:
  // By `change`, modulo the width of the word.
  void Resize(size_t change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // Relaxed: written under the lock alone. See Size for the order.
    size_.store(size_.load(std::memory_order_relaxed) + change,
                std::memory_order_seq_cst);
  }

  Mutex mu_;
  RunQueue<T> queue_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  Atomic<size_t> size_{0};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_INJECT_QUEUE_H_

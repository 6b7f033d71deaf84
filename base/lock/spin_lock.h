// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: spin_lock.h
// -----------------------------------------------------------------------------
//
// `SpinLock` guards data that is used for about ten nanoseconds at a time, such
// as the timers of one worker, or the global queue. Elsewhere, use
// `ThreadMutex` (thread_mutex.h).
//
//   SpinLock mu_;
//   int count_ ABSL_GUARDED_BY(mu_) = 0;
//   ...
//   const SpinLockHolder lock(mu_);

#ifndef ROUSE_BASE_LOCK_SPIN_LOCK_H_
#define ROUSE_BASE_LOCK_SPIN_LOCK_H_

#include <atomic>

#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"

namespace rouse {

// SpinLock
//
// A pair of `Lock()` and `Unlock()` costs one read-modify-write, half the cost
// of a mutex on which threads can sleep. In return, a thread that finds the
// lock held tries again: first after longer and longer spins, then after
// letting other threads run, then after sleeps of 50 microseconds. A preempted
// holder is therefore waited for and not starved, even if a thread of higher
// priority that wants the lock has preempted the holder.
//
// Not fair, not recursive.
class ABSL_LOCKABLE SpinLock {
 public:
  SpinLock() = default;
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    if (ABSL_PREDICT_FALSE(!Take())) SlowLock();
  }

  // Does not wait. If the lock is held, costs a load, which leaves the cache
  // line where it is.
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) {
    // Relaxed: Take acquires.
    return !locked_.load(std::memory_order_relaxed) && Take();
  }

  void Unlock() ABSL_UNLOCK_FUNCTION() {
    // Release pairs with the acquire of Take.
    locked_.store(false, std::memory_order_release);
  }

 private:
  bool Take() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) {
    // Acquire pairs with the release of Unlock.
    return !locked_.exchange(true, std::memory_order_acquire);
  }
  void SlowLock() ABSL_EXCLUSIVE_LOCK_FUNCTION();

  Atomic<bool> locked_{false};
};

// SpinLockHolder
//
// Holds `lock` for as long as the holder lives.
class ABSL_SCOPED_LOCKABLE SpinLockHolder {
 public:
  explicit SpinLockHolder(SpinLock& lock) ABSL_EXCLUSIVE_LOCK_FUNCTION(lock)
      : lock_(lock) {
    lock_.Lock();
  }
  SpinLockHolder(const SpinLockHolder&) = delete;
  SpinLockHolder& operator=(const SpinLockHolder&) = delete;
  ~SpinLockHolder() ABSL_UNLOCK_FUNCTION() { lock_.Unlock(); }

 private:
  SpinLock& lock_;
};

}  // namespace rouse

#endif  // ROUSE_BASE_LOCK_SPIN_LOCK_H_

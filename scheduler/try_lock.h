// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: try_lock.h
// -----------------------------------------------------------------------------
//
// A `TryLock` is a lock for which no thread waits. The holder of a worker's
// `TryLock` runs the worker. `BlockInPlace()` releases the lock, and the first
// thread that acquires the lock, this thread or another, runs the worker from
// then on. Internal to the scheduler.

#ifndef ROUSE_SCHEDULER_TRY_LOCK_H_
#define ROUSE_SCHEDULER_TRY_LOCK_H_

#include <atomic>

#include "rouse/base/atomic.h"

namespace rouse::scheduler {

// TryLock
//
// Initially free. The actions of one holder are visible to the next. The holder
// is whatever the program says: one thread can acquire the lock for another,
// which then releases it.
class TryLock {
 public:
  TryLock() = default;
  TryLock(const TryLock&) = delete;
  TryLock& operator=(const TryLock&) = delete;

  // Gives up the lock.
  //
  // REQUIRES: the lock is held, and on behalf of the caller.
  void Release() {
    // Release pairs with the acquire of TryAcquire.
    free_.store(true, std::memory_order_release);
  }

  // Acquires the lock and returns true if the lock is free. Can be called by
  // any thread.
  bool TryAcquire() { return free_.exchange(false, std::memory_order_acquire); }

 private:
  Atomic<bool> free_{true};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_TRY_LOCK_H_

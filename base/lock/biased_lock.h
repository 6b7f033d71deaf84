// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: biased_lock.h
// -----------------------------------------------------------------------------
//
// `BiasedLock` guards data that one thread uses all the time, and other threads
// use very rarely. An example is a worker's private data, which a watchdog
// takes if the worker is stuck.
//
//   BiasedLock mu_;
//   int count_ ABSL_GUARDED_BY(mu_) = 0;
//   ...
//   const BiasedLock::OwnerHolder lock(mu_);   // the owner
//   const BiasedLock::Holder lock(mu_);        // anybody else
//
// # The protocol
//
//   held     set by the owner while it holds the lock, or tries to
//   wanted   set by another thread while that thread holds the lock, or waits
//            for the owner to leave; under `others`, so by one thread at a time
//
//   owner    sets `held`, then reads `wanted`. If `wanted` is false, the owner
//            has the lock. If not, the owner clears `held`, and sets `held`
//            again under `others`, where no other thread can be. An owner that
//            sees `wanted` beforehand, which is only a hint, goes directly to
//            `others`.
//   other    takes `others`, sets `wanted`, and reads `held` until it is false.
//   EndBias  leaves `wanted` true forever: the owner then always finds it true,
//            and other threads no longer need a barrier.
//
// Each side writes before it reads, and a barrier on each side orders the two
// steps. Therefore the two sides cannot both miss the other's write. The owner
// needs no barrier of its own if the other side can put a barrier into all
// threads (process_barrier.h). Otherwise the owner's barrier is a sequentially
// consistent store.
//
// Source: "biased locking", for instance D. Dice, M. Moir, W. Scherer, Quickly
// Reacquirable Locks (2010).

#ifndef ROUSE_BASE_LOCK_BIASED_LOCK_H_
#define ROUSE_BASE_LOCK_BIASED_LOCK_H_

#include <atomic>

#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/lock/process_barrier.h"
#include "rouse/base/lock/spin_lock.h"

namespace rouse {

// BiasedLock
//
// One thread at a time is the owner. The next owner must be ordered after the
// previous owner. A pair of lock and unlock costs the owner two stores and two
// loads. Other threads pay for a `ProcessBarrier`, which all threads then pay
// for too.
//
// A critical section must take only about ten nanoseconds, because a waiting
// thread spins, as with a `SpinLock`. Not fair, not recursive.
class ABSL_LOCKABLE BiasedLock {
 public:
  class OwnerHolder;
  class Holder;

  BiasedLock() { ProcessBarrier::Prepare(); }
  BiasedLock(const BiasedLock&) = delete;
  BiasedLock& operator=(const BiasedLock&) = delete;

  // ---- For the owner.

  void LockAsOwner() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    // Relaxed: only a hint. If the lock is no longer biased, the hint saves
    // some futile steps.
    if (ABSL_PREDICT_FALSE(wanted_.load(std::memory_order_relaxed))) {
      return SlowLockAsOwner();
    }
    if (ABSL_PREDICT_TRUE(ProcessBarrier::IsAvailable())) {
      // The barrier of Lock() orders this store before the load below. The
      // signal fence does so for the compiler.
      held_.store(true, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      // Sequentially consistent, in a single order with the store and the load
      // of Lock().
      held_.store(true, std::memory_order_seq_cst);
    }
    // As an acquire, this load pairs with the release of Unlock().
    if (ABSL_PREDICT_FALSE(wanted_.load(std::memory_order_seq_cst))) {
      SlowLockAsOwner();
    }
  }

  void UnlockAsOwner() ABSL_UNLOCK_FUNCTION() {
    // Release pairs with the load of Lock().
    held_.store(false, std::memory_order_release);
  }

  // ---- For any other thread.

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION();
  void Unlock() ABSL_UNLOCK_FUNCTION();

  // Ends the bias. From now on, a thread that takes the lock, as the owner or
  // not, pays for a `SpinLock`, and no thread pays for barriers.
  // REQUIRES: `Lock()` was called, and `Unlock()` not yet.
  void EndBias();

 private:
  void SlowLockAsOwner() ABSL_EXCLUSIVE_LOCK_FUNCTION();

  Atomic<bool> held_{false};
  Atomic<bool> wanted_{false};
  SpinLock others_;
  Cell<bool> biased_ ABSL_GUARDED_BY(others_){true};
};

// BiasedLock::OwnerHolder, BiasedLock::Holder
//
// Hold `lock` for as long as the holder lives.
class ABSL_SCOPED_LOCKABLE BiasedLock::OwnerHolder {
 public:
  explicit OwnerHolder(BiasedLock& lock) ABSL_EXCLUSIVE_LOCK_FUNCTION(lock)
      : lock_(lock) {
    lock_.LockAsOwner();
  }
  OwnerHolder(const OwnerHolder&) = delete;
  OwnerHolder& operator=(const OwnerHolder&) = delete;
  ~OwnerHolder() ABSL_UNLOCK_FUNCTION() { lock_.UnlockAsOwner(); }

 private:
  BiasedLock& lock_;
};

class ABSL_SCOPED_LOCKABLE BiasedLock::Holder {
 public:
  explicit Holder(BiasedLock& lock) ABSL_EXCLUSIVE_LOCK_FUNCTION(lock)
      : lock_(lock) {
    lock_.Lock();
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() ABSL_UNLOCK_FUNCTION() { lock_.Unlock(); }

 private:
  BiasedLock& lock_;
};

}  // namespace rouse

#endif  // ROUSE_BASE_LOCK_BIASED_LOCK_H_

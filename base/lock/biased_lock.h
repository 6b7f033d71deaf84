// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: biased_lock.h
// -----------------------------------------------------------------------------
//
// `BiasedLock` guards what one thread uses all the time, and others once in a
// long while: such as what a worker keeps to itself, which a watchdog takes if
// the worker is stuck.
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
//   wanted   set by another thread while it holds the lock, or waits for the
//            owner to leave; under `others`, so it is one at a time
//
//   owner    unless it sees `wanted` at once, which is but a hint:
//            held = true, reads `wanted`: the lock is its own if that is false.
//            If not, it takes back `held`, and sets it again under `others`,
//            where nobody else can be.
//   other    takes `others`, wanted = true, reads `held` until it is false.
//   EndBias  leaves `wanted` true for ever: the owner always finds it so, and
//            others need no barrier any more.
//
// Each writes before it reads, and the two are ordered by a barrier on either
// side: so they cannot both find nothing. The owner's barrier is none where the
// other can put one into all threads (process_barrier.h), else that of a
// sequentially consistent store.
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
// The owner is one thread at a time: who becomes it next must be ordered behind
// who was it before. A pair of lock and unlock costs it two stores and two
// loads. Others pay for a `ProcessBarrier`, as do all threads then.
//
// What is done under it must take some ten nanoseconds: who waits, spins, as
// for a `SpinLock`. Not fair, not recursive.
class ABSL_LOCKABLE BiasedLock {
 public:
  class OwnerHolder;
  class Holder;

  BiasedLock() { ProcessBarrier::Prepare(); }
  BiasedLock(const BiasedLock&) = delete;
  BiasedLock& operator=(const BiasedLock&) = delete;

  // ---- For the owner.

  void LockAsOwner() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    // Relaxed: only a hint. Where it is not biased any more, this spares some
    // of what is in vain.
    if (ABSL_PREDICT_FALSE(wanted_.load(std::memory_order_relaxed))) {
      return SlowLockAsOwner();
    }
    if (ABSL_PREDICT_TRUE(ProcessBarrier::IsAvailable())) {
      // Ordered before the load below by the barrier of Lock(), and here for
      // the compiler.
      held_.store(true, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      // With the store and the load of Lock() in one order.
      held_.store(true, std::memory_order_seq_cst);
    }
    // As an acquire it pairs with the release of Unlock().
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

  // From now on it favours nobody: who locks it, as the owner or not, pays
  // for a `SpinLock`, and nobody for barriers. REQUIRES: `Lock()` was called,
  // and `Unlock()` not yet.
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
// Hold `lock` as long as they live.
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

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: core.h
// -----------------------------------------------------------------------------
//
// What `Semaphore`, `Mutex`, `RwLock` and bounded channels are made of: permits
// that are counted, and those that wait for some, first come, first served.
// Internal to `sync/`.
//
//   class LockFuture {
//    public:
//     explicit LockFuture(Mutex& mutex) : acquire_(mutex.core_, 1) {}
//
//     PollResult<MutexGuard> Poll(Context& cx) {
//       size_t free = 1;
//       PollResult<bool> acquired = acquire_.Poll(cx, "Mutex::Lock", free);
//       if (acquired.IsPending()) return kPending;
//       return MutexGuard(mutex_);  // which calls `core_.Release(1)`
//     }
//   };
//
// # The protocol
//
// One word says all there is to say while nobody waits:
//
//   bit 0     kClosed
//   bit 1     kHasWaiters
//   the rest  free permits, as many times kPermit
//
//   State       Word                       Who changes it
//   open        permits                    anyone, by compare-exchange
//   waited for  kHasWaiters, no permits    who has the lock
//   closed      permits, kClosed           anyone, by compare-exchange
//
//   From        To          By
//   open        open        an acquire that finds enough: permits - n
//                           a release: permits + n
//   open        waited for  an acquire that finds too few, with the lock: takes
//                           them all, and enters the list for what is missing
//   waited for  waited for  acquires enter the list. A release assigns its
//                           permits to the front, to the next when that has all
//                           it needs, and so on. A waiter gives up.
//   waited for  open        with the last waiter that leaves the list: what is
//                           left of a release, or no permits where a waiter
//                           gives up, which then releases those it had been
//                           assigned
//   open        closed      `Close()`
//   waited for  closed      `Close()`: what the front had been assigned is
//                           free, and all waiters are told
//   closed      closed      a release: permits + n. No acquire succeeds.
//
// Invariants, whenever the lock is free:
//
// * kHasWaiters is set if and only if the list has a waiter.
// * Then no permit is free, and no waiter but the front has been assigned any.
//   Each that is in the list lacks one or more. So nobody overtakes.
// * A permit is in exactly one place: the word, a waiter, a holder.
//
// Who releases a permit hands on what it did while it had it: by the word
// (release and acquire, all steps being read-modify-writes but those from
// "waited for", where the word has nothing to hand on), or by the lock.
//
// The last that a release touches is the word if nobody waits, else the lock. A
// future that has waited takes the lock before it is ready. So a holder of all
// permits may destroy the core, though releases have not returned yet.

#ifndef ROUSE_SYNC_SEMAPHORE_CORE_H_
#define ROUSE_SYNC_SEMAPHORE_CORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/future/await_trace.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"
#include "rouse/waker/wake_list.h"

namespace rouse::internal {

class PendingAcquire;

// SemaphoreCore
//
// Thread-safe. Takes and gives back permits in one atomic operation each while
// nobody waits. Nobody may wait when it is destroyed.
class SemaphoreCore {
 public:
  // Room for the flags, and for an overflow to be noticed.
  static constexpr size_t kMaxPermits = std::numeric_limits<size_t>::max() >> 3;

  // Panics if there are too many.
  explicit SemaphoreCore(size_t permits);
  SemaphoreCore(const SemaphoreCore&) = delete;
  SemaphoreCore& operator=(const SemaphoreCore&) = delete;

  // Takes `n` permits if so many are free, nobody waits, and it is open. `free`
  // is a guess of how many are free, `n` or more; then how many are left.
  //
  // A load has to wait for the atomic operation before it, and costs as much
  // again as the one after it. A wrong guess costs no more than the load would.
  // REQUIRES: n <= kMaxPermits.
  bool TryAcquire(size_t n, size_t& free) {
    uint64_t word = free * kPermit;
    do {
      if ((word & kFlags) != 0 || word < n * kPermit) return false;
      // Acquire pairs with the releases of all who have given a permit back.
    } while (!word_.compare_exchange_weak(word, word - n * kPermit,
                                          std::memory_order_acquire,
                                          std::memory_order_relaxed));
    free = word / kPermit - n;
    return true;
  }
  bool TryAcquire(size_t n) {
    size_t free = available();
    return TryAcquire(n, free);
  }

  // Gives `n` permits: to those that wait, and what is left to all. Panics, and
  // has done nothing, if more than `kMaxPermits` would be free. Throws what
  // wakers do, when all have been called.
  void Release(size_t n) {
    if (ABSL_PREDICT_FALSE(!TryRelease(n))) ReleaseToWaiters(n);
  }
  // The same with a guess of how many are free.
  void Release(size_t n, size_t free) {
    uint64_t word = free * kPermit;
    // Release: as in TryRelease.
    if (ABSL_PREDICT_FALSE(
            n > kMaxPermits - free ||
            !word_.compare_exchange_weak(word, word + n * kPermit,
                                         std::memory_order_release,
                                         std::memory_order_relaxed))) {
      Release(n);
    }
  }

  // Takes up to `n` permits of those that are free. How many.
  size_t Forget(size_t n);

  // Tells all that wait, and those that come. Throws what wakers do, when all
  // have been called. With more than `WakeList::kCapacity` waiters the core
  // must outlive the call.
  void Close();

  // Who finds it closed sees what came before the close.
  bool IsClosed() const {
    // Acquire pairs with the release of Close.
    return (word_.load(std::memory_order_acquire) & kClosed) != 0;
  }

  // Whether it is closed and `n` permits are free. Who finds it so sees what
  // came before the close, and before each of them was given back.
  bool IsClosedWith(size_t n) const {
    // Acquire pairs with the releases of Close and of TryRelease.
    return word_.load(std::memory_order_acquire) == (n * kPermit | kClosed);
  }

  // Whether `TryAcquire(n)` would succeed now.
  bool CanAcquire(size_t n) const {
    // Relaxed: it may be another at once.
    const uint64_t word = word_.load(std::memory_order_relaxed);
    return (word & kFlags) == 0 && word >= n * kPermit;
  }

  // Those that are free.
  size_t available() const {
    // Relaxed: it may be another number at once.
    return word_.load(std::memory_order_relaxed) / kPermit;
  }

 private:
  friend class PendingAcquire;

  static constexpr uint64_t kClosed = 1;
  static constexpr uint64_t kHasWaiters = 2;
  static constexpr uint64_t kFlags = kClosed | kHasWaiters;
  static constexpr uint64_t kPermit = 4;

  // Under the lock, but for `needed`.
  struct Waiter : WaitNode {
    explicit Waiter(size_t n) : needed(n), missing(n) {}

    const size_t needed;
    Cell<size_t> missing;  // more than 0 while it is in `waiters_`
    TaskId task = 0;       // which polled it last; 0: none
  };

  [[noreturn]] static void PanicOverflow();

  // Adds `n` permits, if nobody waits.
  bool TryRelease(size_t n) {
    // Relaxed: the compare-exchange releases.
    uint64_t word = word_.load(std::memory_order_relaxed);
    do {
      if (ABSL_PREDICT_FALSE(n > kMaxPermits - word / kPermit)) PanicOverflow();
      if ((word & kHasWaiters) != 0) return false;
      // Release pairs with the acquires of TryAcquire and of Enqueue.
    } while (!word_.compare_exchange_weak(word, word + n * kPermit,
                                          std::memory_order_release,
                                          std::memory_order_relaxed));
    return true;
  }

  void ReleaseToWaiters(size_t n);
  size_t Assign(size_t n, WakeList& woken);

  bool HasWaiters() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // Relaxed: who set or cleared it had the lock.
    return (word_.load(std::memory_order_relaxed) & kHasWaiters) != 0;
  }

  // What became of a waiter.
  enum class Fate : uint8_t { kWaits, kAcquired, kClosed };

  Fate Look(Waiter& waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Fate Enqueue(Waiter& waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Of one that has its permits and may not say so before the next poll: it is
  // named until then, and finds them again.
  void KeepNotified(Waiter& waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void GiveUp(Waiter& waiter);
  std::string Describe(const Waiter& waiter);

  Atomic<uint64_t> word_;
  BriefLock mu_;
  // Of `Waiter`s: those that lack permits, and those that have been given them
  // and have not been polled with budget since, which are here to be named.
  IntrusiveList<WaitNode> waiters_ ABSL_GUARDED_BY(mu_);
  IntrusiveList<WaitNode> notified_ ABSL_GUARDED_BY(mu_);
};

// PendingAcquire
//
// What a future does that acquires `n` permits. Like a future it may be moved
// until its first poll (it panics after), and cancels when it is destroyed:
// what it had been given goes on to the next that waits.
class PendingAcquire {
 public:
  // REQUIRES: n <= kMaxPermits.
  PendingAcquire(SemaphoreCore& core ABSL_ATTRIBUTE_LIFETIME_BOUND, size_t n)
      : core_(&core), n_(n) {}
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  PendingAcquire(PendingAcquire&& other)
      : core_(other.core_), n_(other.n_), state_(other.state_) {
    if (ABSL_PREDICT_FALSE(other.IsCancellable())) PanicMoved();
    other.state_ = State::kDone;
  }
  PendingAcquire& operator=(PendingAcquire&&) = delete;
  ~PendingAcquire() {
    if (ABSL_PREDICT_FALSE(IsCancellable())) Cancel();
  }

  // True: the permits are the caller's. False: it is closed. `call` is whom to
  // blame where it is polled again after that. `free` is as for
  // `SemaphoreCore::TryAcquire()`; in the end it is a guess.
  //
  // With no budget left it takes its place in the queue, and what it is given
  // there it keeps for the next poll. But where nobody waits and there are
  // enough, it does not take them, and tries again after the others: a task
  // that holds permits while it yields makes all others wait for it, and each
  // other in turn, as long as there is anybody in the queue.
  ABSL_ATTRIBUTE_ALWAYS_INLINE PollResult<bool> Poll(Context& cx,
                                                     const char* call,
                                                     size_t& free) {
    if (ABSL_PREDICT_FALSE(state_ != State::kNew || !cx.HasBudget() ||
                           !core_->TryAcquire(n_, free))) {
      return PollSlowly(cx, call);
    }
    TakeUnitIfAny(cx);
    state_ = State::kDone;
    return true;
  }

  // For the `Trace()` of a future of type `future`, which lasts for ever: what
  // it has, and behind whom it waits.
  void Trace(AwaitTrace& trace, std::string_view future) const;

 private:
  enum class State : uint8_t {
    kDone,
    kNew,
    kQueued,  // `waiter_` exists
  };

  // Polled, and not ready.
  bool IsCancellable() const { return state_ == State::kQueued; }

  [[noreturn]] static void PanicMoved();
  PollResult<bool> PollSlowly(Context& cx, const char* call);
  SemaphoreCore::Fate Look(Context& cx);
  void Cancel();

  SemaphoreCore* core_;
  size_t n_;
  State state_ = State::kNew;
  // In a union, since most need not wait.
  union {
    SemaphoreCore::Waiter waiter_;
  };
};

}  // namespace rouse::internal

#endif  // ROUSE_SYNC_SEMAPHORE_CORE_H_

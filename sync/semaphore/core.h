// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: core.h
// -----------------------------------------------------------------------------
//
// The common core of `Semaphore`, `Mutex`, `RwLock` and bounded channels: a
// count of permits, and a first-come, first-served queue of waiters. Internal
// to `sync/`.
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
// While nobody waits, a single word holds the whole state:
//
//   bit 0     kClosed
//   bit 1     kHasWaiters
//   the rest  number of free permits, times kPermit
//
//   State       Word                       Changed by
//   open        permits                    anyone, by compare-exchange
//   waited for  kHasWaiters, no permits    the holder of the lock
//   closed      permits, kClosed           anyone, by compare-exchange
//
//   From        To          By
//   open        open        an acquire that finds enough: permits - n
//                           a release: permits + n
//   open        waited for  an acquire that finds too few, with the lock: takes
//                           all permits, and enters the list for the rest
//   waited for  waited for  an acquire that enters the list
//                           a release that assigns its permits to the front
//                           waiter, to the next when the front has all it
//                           needs, and so on
//                           a waiter that gives up
//   waited for  open        the last waiter that leaves the list. The word gets
//                           what is left of a release, or no permits if a
//                           waiter gave up, which then releases the permits
//                           that it had been assigned.
//   open        closed      `Close()`
//   waited for  closed      `Close()`: the permits assigned to the front become
//                           free, and all waiters are notified
//   closed      closed      a release: permits + n. No acquire succeeds.
//
// Invariants, whenever the lock is free:
//
// * kHasWaiters is set if and only if the list has a waiter.
// * If so, no permit is free, and only the front waiter may have been assigned
//   permits. Each waiter in the list lacks one or more. Therefore nobody is
//   overtaken.
// * A permit is in exactly one place: the word, a waiter or a holder.
//
// A release hands on everything done while the permit was held, either by the
// word or by the lock. The word uses release and acquire: all steps are
// read-modify-writes except those from "waited for", where the word has nothing
// to hand on.
//
// The last thing touched by a release is the word if nobody waits, and the lock
// otherwise. A future that has waited takes the lock before it is ready. A
// holder of all permits may therefore destroy the core even if releases have
// not returned yet.

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
#include "rouse/sync/internal/pending_wait.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"
#include "rouse/waker/wake_list.h"

namespace rouse::internal {

class PendingAcquire;

// SemaphoreCore
//
// `SemaphoreCore` is thread-safe. While nobody waits, acquiring and releasing
// take one atomic operation each. Nobody may wait when the core is destroyed.
class SemaphoreCore {
 public:
  // Leaves room for the flags, and for detecting an overflow.
  static constexpr size_t kMaxPermits = std::numeric_limits<size_t>::max() >> 3;

  // Creates a core with `permits` free permits. Panics if `permits` is more
  // than `kMaxPermits`.
  explicit SemaphoreCore(size_t permits);
  SemaphoreCore(const SemaphoreCore&) = delete;
  SemaphoreCore& operator=(const SemaphoreCore&) = delete;

  // Takes `n` permits and returns true if at least `n` are free, nobody waits
  // and the core is open. `free` is a guess of the number of free permits, and
  // must be `n` or more for the call to succeed. On success `free` is set to
  // the number of permits left.
  //
  // The guess saves a load, which would have to wait for the atomic operation
  // before it, and would cost as much again as the operation after it. A wrong
  // guess costs no more than the load would.
  // REQUIRES: n <= kMaxPermits.
  bool TryAcquire(size_t n, size_t& free) {
    uint64_t word = free * kPermit;
    do {
      if ((word & kFlags) != 0 || word < n * kPermit) return false;
      // Acquire pairs with the releases of all permits that were given back.
    } while (!word_.compare_exchange_weak(word, word - n * kPermit,
                                          std::memory_order_acquire,
                                          std::memory_order_relaxed));
    free = word / kPermit - n;
    return true;
  }
  // Like `TryAcquire(n, free)`, but loads the number of free permits.
  bool TryAcquire(size_t n) {
    size_t free = available();
    return TryAcquire(n, free);
  }

  // Releases `n` permits: first to waiters, and what is left to all. Panics,
  // and has done nothing, if more than `kMaxPermits` would be free. If wakers
  // throw, calls all of them and then rethrows the first exception.
  void Release(size_t n) {
    if (ABSL_PREDICT_FALSE(!TryRelease(n))) ReleaseToWaiters(n);
  }
  // Like `Release(n)`, with a guess of the number of free permits.
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

  // Takes up to `n` free permits. Returns the number of permits taken.
  size_t Forget(size_t n);

  // Closes the core: notifies all waiters, and fails all later acquires. If
  // wakers throw, calls all of them and then rethrows the first exception. With
  // more than `WakeList::kCapacity` waiters the core must outlive the call.
  void Close();

  // Returns whether the core is closed. A caller that gets true sees everything
  // done before the close.
  bool IsClosed() const {
    // Acquire pairs with the release of Close.
    return (word_.load(std::memory_order_acquire) & kClosed) != 0;
  }

  // Returns whether the core is closed and exactly `n` permits are free. A
  // caller that gets true sees everything done before the close, and before
  // each of the permits was given back.
  bool IsClosedWith(size_t n) const {
    // Acquire pairs with the releases of Close and of TryRelease.
    return word_.load(std::memory_order_acquire) == (n * kPermit | kClosed);
  }

  // Returns whether `TryAcquire(n)` would succeed now.
  bool CanAcquire(size_t n) const {
    // Relaxed: the answer may change at any moment.
    const uint64_t word = word_.load(std::memory_order_relaxed);
    return (word & kFlags) == 0 && word >= n * kPermit;
  }

  // Returns the number of waiters that were given all of their permits, and
  // have not reported them yet. O(number of such waiters).
  size_t NotifiedWaiters();

  // Returns whether a release calls the wakers of `WakeList::kCapacity`
  // waiters, and will assign the rest of its permits after that. Wakers may
  // take long, and the caller may be such a waker: do not wait for the permits.
  bool IsAssigning();

  // Returns the number of free permits.
  size_t available() const {
    // Relaxed: the number may change at any moment.
    return word_.load(std::memory_order_relaxed) / kPermit;
  }

 private:
  friend class PendingAcquire;

  static constexpr uint64_t kClosed = 1;
  static constexpr uint64_t kHasWaiters = 2;
  static constexpr uint64_t kFlags = kClosed | kHasWaiters;
  static constexpr uint64_t kPermit = 4;

  // A waiting future. Guarded by the lock, except for `needed`.
  struct Waiter : WaitNode {
    Waiter(size_t n, const char* call) : needed(n), call(call), missing(n) {}

    const size_t needed;
    const char* const call;  // of the future, for panics
    Cell<size_t> missing;    // more than 0 while in `waiters_`
    TaskId task = 0;         // task that polled last; 0 if none
  };

  [[noreturn]] static void PanicOverflow();

  // Adds `n` permits and returns true, unless somebody waits.
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
    // Relaxed: the flag is set and cleared under the lock.
    return (word_.load(std::memory_order_relaxed) & kHasWaiters) != 0;
  }

  // The outcome for a waiter.
  enum class Fate : uint8_t { kWaits, kAcquired, kClosed };

  Fate Check(Waiter& waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Fate Enqueue(Waiter& waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Keeps a waiter that has its permits and may not report them before the next
  // poll. Until then a task dump names the waiter, and the next poll finds the
  // permits again.
  void KeepNotified(Waiter& waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void GiveUp(Waiter& waiter);
  std::string Describe(const Waiter& waiter);

  Atomic<uint64_t> word_;
  BriefLock mu_;
  // Number of releases for which `IsAssigning()` returns true.
  uint32_t assigning_ ABSL_GUARDED_BY(mu_) = 0;
  // Lists of `Waiter`s. `waiters_` has the waiters that lack permits.
  // `notified_` has the waiters that were given all of their permits and have
  // not been polled with budget since, for task dumps to name them and for
  // NotifiedWaiters().
  IntrusiveList<WaitNode> waiters_ ABSL_GUARDED_BY(mu_);
  IntrusiveList<WaitNode> notified_ ABSL_GUARDED_BY(mu_);
};

// PendingAcquire
//
// The part of a future that acquires `n` permits. Like a future, it may be
// moved until its first poll; a move while it is queued panics. Destruction
// cancels the acquire: permits assigned to it pass to the next waiter.
class PendingAcquire {
 public:
  // REQUIRES: n <= kMaxPermits.
  PendingAcquire(SemaphoreCore& core ABSL_ATTRIBUTE_LIFETIME_BOUND, size_t n)
      : core_(&core), n_(n) {}
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  PendingAcquire(PendingAcquire&& other)
      : core_(other.core_), n_(other.n_), state_(other.state_) {
    if (ABSL_PREDICT_FALSE(other.IsCancellable())) {
      PanicMovedAfterPoll(other.waiter_.call);
    }
    other.state_ = State::kDone;
  }
  PendingAcquire& operator=(PendingAcquire&&) = delete;
  ~PendingAcquire() {
    if (ABSL_PREDICT_FALSE(IsCancellable())) Cancel();
  }

  // Returns whether the acquire was neither polled nor moved from. The core of
  // any other acquire may no longer exist, unless the acquire waits.
  bool IsNew() const { return state_ == State::kNew; }
  // Returns whether the acquire is over, or was moved from. The core may no
  // longer exist, and the next poll is a panic.
  bool IsDone() const { return state_ == State::kDone; }

  // Returns true when the caller owns the permits, and false when the core is
  // closed. If the acquire is polled again after that, the panic names `call`.
  // `free` is as for `SemaphoreCore::TryAcquire()`; on return it is a guess.
  //
  // Without budget, the acquire takes its place in the queue, and keeps the
  // permits assigned there for the next poll. However, if nobody waits and
  // enough permits are free, the acquire takes none, and tries again after
  // other tasks have run. Otherwise a task that holds permits while it yields
  // would make all other tasks wait, and each of the others in turn would do
  // the same, as long as the queue is not empty.
  ABSL_ATTRIBUTE_ALWAYS_INLINE PollResult<bool> Poll(Context& cx,
                                                     const char* call,
                                                     size_t& free) {
    if (ABSL_PREDICT_TRUE(PollNow(cx, free))) return true;
    return PollSlowly(cx, call);
  }
  // Like `Poll(cx, call, free)`, with `GuessFree()`.
  ABSL_ATTRIBUTE_ALWAYS_INLINE PollResult<bool> Poll(Context& cx,
                                                     const char* call) {
    size_t free = GuessFree();
    return Poll(cx, call, free);
  }

  // Returns the number of free permits, or 0 after the first poll, because the
  // core of an acquire that is over may no longer exist.
  size_t GuessFree() const { return IsNew() ? core_->available() : 0; }

  // Ends the acquire without permits. Polling is a `Panic()` from then on.
  // REQUIRES: `IsNew()`.
  void Finish() { state_ = State::kDone; }

  // Does the part of a first poll that needs neither a lock nor a function
  // call. If the result is true, the poll is over and the caller owns the
  // permits. Otherwise nothing has happened, and the caller must call `Poll()`.
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool PollNow(Context& cx, size_t& free) {
    if (ABSL_PREDICT_FALSE(state_ != State::kNew || !cx.HasBudget() ||
                           !core_->TryAcquire(n_, free))) {
      return false;
    }
    TakeUnitIfAny(cx);
    state_ = State::kDone;
    return true;
  }

  // Implements the `Trace()` of a future of type `future`; the string must live
  // forever. Reports the permits of the acquire, and the tasks behind which it
  // waits.
  void Trace(AwaitTrace& trace, std::string_view future) const;

 private:
  enum class State : uint8_t {
    kDone,
    kNew,
    kQueued,  // `waiter_` exists
  };

  // Returns whether `waiter_` exists, which `Cancel()` must then remove.
  bool IsCancellable() const { return state_ == State::kQueued; }

  PollResult<bool> PollSlowly(Context& cx, const char* call);
  SemaphoreCore::Fate Check(Context& cx);
  void Cancel();

  SemaphoreCore* core_;
  size_t n_;
  State state_ = State::kNew;
  // In a union, because most acquires need not wait.
  union {
    SemaphoreCore::Waiter waiter_;
  };
};

}  // namespace rouse::internal

#endif  // ROUSE_SYNC_SEMAPHORE_CORE_H_

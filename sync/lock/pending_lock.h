// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: pending_lock.h
// -----------------------------------------------------------------------------
//
// The common part of the futures of `Mutex` and `RwLock`. Internal to
// `sync/lock/`.

#ifndef ROUSE_SYNC_LOCK_PENDING_LOCK_H_
#define ROUSE_SYNC_LOCK_PENDING_LOCK_H_

#include <cstddef>
#include <string_view>
#include <utility>

#include "rouse/future/await_trace.h"
#include "rouse/sync/semaphore/core.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// PendingLock
//
// The part of a future that waits for a lock. `Owner` is the type of the
// pointer to the lock: a plain pointer, or a `std::shared_ptr` that keeps the
// lock alive. `Access` has the following members:
//
//   // Returns the permits of the lock.
//   static SemaphoreCore& Permits(Core& core);
//   // Returns how many permits the holder of the lock has.
//   static size_t Count(const Core& core);
//   // Returns a guess of the number of free permits: see `TryAcquire()`.
//   static size_t GuessFree(const Core& core);
template <class Access, class Owner>
class PendingLock {
 public:
  explicit PendingLock(Owner lock)
      : lock_(std::move(lock)),
        acquire_(Access::Permits(lock_->core_), Access::Count(lock_->core_)) {}
  // Moves the owner last: if the other move panics, `other` still has its
  // owner.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  PendingLock(PendingLock&& other)
      : lock_(), acquire_(std::move(other.acquire_)) {
    lock_ = std::move(other.lock_);
  }
  PendingLock& operator=(PendingLock&&) = delete;

  // Returns the guard, of type `Guard`, when the future has the lock. If the
  // future is polled again after that, the panic names `call`.
  template <class Guard>
  PollResult<Guard> Poll(Context& cx, const char* call) {
    // A finished future may have no lock, which `acquire_` detects.
    size_t free = acquire_.IsNew() ? Access::GuessFree(lock_->core_) : 0;
    if (acquire_.Poll(cx, call, free).IsPending()) return kPending;
    return lock_->template Hold<Guard>(std::move(lock_));
  }

  // Implements the `Trace()` of a future of type `future`.
  void Trace(AwaitTrace& trace, std::string_view future) const {
    acquire_.Trace(trace, future);
  }

 private:
  Owner lock_;  // destroyed after `acquire_`
  PendingAcquire acquire_;
};

}  // namespace rouse::internal

#endif  // ROUSE_SYNC_LOCK_PENDING_LOCK_H_

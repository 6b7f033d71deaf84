// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: rate_limiter.h
// -----------------------------------------------------------------------------
//
// A `RateLimiter` makes tasks wait so that something happens at a limited rate:
//
//   // A hundred requests per second, and up to twenty at once after a pause.
//   rouse::RateLimiter limiter(absl::Milliseconds(10), 20);
//
//   for (const Request& request : requests) {
//     co_await rouse::OrReturn(limiter.Acquire());
//     rouse::Spawn(Send(request)).Detach();
//   }
//
// To limit bytes per second, let each unit stand for a byte:
//
//   // 10 MB/s.
//   rouse::RateLimiter bandwidth(absl::Nanoseconds(100), 64 * 1024);
//   co_await rouse::OrReturn(bandwidth.Acquire(packet.size()));
//
// To limit how many operations run at once, use a `Semaphore`.

#ifndef ROUSE_SYNC_RATE_LIMITER_RATE_LIMITER_H_
#define ROUSE_SYNC_RATE_LIMITER_RATE_LIMITER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "rouse/base/any_duration.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/future/await_trace.h"
#include "rouse/sync/semaphore/core.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// RateLimiter
//
// A bucket that holds up to `burst` units, and gets one unit each `interval`
// until the bucket is full. The bucket is full at first. An acquire takes units
// out, and waits until the bucket has enough of them. In any period of length
// t, at most `burst` + t / `interval` units are acquired.
//
// A waiting acquire is woken up to a tick of the driver (1 ms by default) late.
// The bucket collects units meanwhile, unless it is full. For the full rate,
// choose `burst` so large that a bucket takes some ticks to fill.
//
// Time is the time of a driver (timer/wheel/handle.h): of the given one, or
// else of the driver that is current at the first call of `TryAcquire()` or the
// first poll of an acquire, which the limiter then keeps. In a runtime, tests
// can therefore pause the time.
//
// `RateLimiter` is thread-safe. An acquire that need not wait takes a lock, and
// reads the clock. Waiting allocates nothing. The limiter must outlive its
// futures.
//
// Acquires are served in the order of their first polls, and an acquire of many
// units is not overtaken by later acquires of few. Therefore do not keep a
// polled `AcquireFuture` without polling it, because the others wait for it.
//
// Source: the generic cell rate algorithm, as virtual scheduling (ITU-T
// Recommendation I.371). The state of the bucket is a single instant.
class RateLimiter {
 public:
  class AcquireFuture;

  // Panics if `interval` is zero, negative or infinite, if `burst` is 0, or if
  // a bucket of `burst` units takes more than a hundred years to fill.
  // Fractions of a nanosecond in `interval` are dropped.
  RateLimiter(AnyDuration interval, size_t burst);
  // Like the constructor without `handle`, but with the driver of `handle`.
  RateLimiter(const wheel::Handle& handle, AnyDuration interval, size_t burst);
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;

  // Returns a future of an `absl::Status` that waits until it has taken `n`
  // units. If waiting is necessary, the future enters the queue at its first
  // poll. The errors, after which nothing was taken:
  //
  //   kInvalidArgument   `n` is more than `burst()`: the bucket will never have
  //                      so many
  //   kUnavailable       the driver has been shut down
  //
  // Destroying the future gives up its place in the queue, and takes nothing.
  // Polling for the first time on a thread without a current driver is a
  // `Panic()`, unless the limiter has a driver.
  AcquireFuture Acquire(size_t n = 1) ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Takes `n` units and returns true if the bucket has as many now and no
  // acquire waits. Otherwise takes nothing and returns false. Calls beside this
  // call make it fail only by the units that they take. A `Panic()` on a thread
  // without a current driver, unless the limiter has a driver.
  bool TryAcquire(size_t n = 1);

  // Returns the number of units of a full bucket.
  size_t burst() const { return burst_; }

 private:
  // Takes `n` units and returns true if the bucket has as many now. Otherwise
  // sets `when` to the instant at which it will.
  bool Take(size_t n, Instant& when);
  // Gives the turn to the next future. An exception from its waker is dropped,
  // because the units would be lost by the exception.
  void EndTurn();

  const int64_t interval_;  // nanoseconds
  const size_t burst_;
  // One permit, for the turn to wait until the bucket has enough units. While
  // no acquire waits, the permit is free.
  internal::SemaphoreCore turn_{1};
  ThreadMutex mu_;
  // Set once: by a constructor, or under the lock by the first `Take()`. A
  // thread that has called `Take()` can read the handle without the lock.
  std::optional<wheel::Handle> handle_;
  // When the bucket is full, if nothing is taken.
  Instant full_at_ ABSL_GUARDED_BY(mu_);
};

// RateLimiter::AcquireFuture
//
// See `Acquire()`. Can be moved only before the first poll.
class [[nodiscard]] RateLimiter::AcquireFuture {
 public:
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  AcquireFuture(AcquireFuture&& other)
      : limiter_(other.limiter_), n_(other.n_), turn_(std::move(other.turn_)) {}
  AcquireFuture& operator=(AcquireFuture&&) = delete;
  ~AcquireFuture() {
    if (has_turn_) limiter_->EndTurn();
  }

  PollResult<absl::Status> Poll(Context& cx);

  void Trace(AwaitTrace& trace) const;

 private:
  friend class RateLimiter;

  AcquireFuture(RateLimiter* limiter, size_t n)
      : limiter_(limiter), n_(n), turn_(limiter->turn_, 1) {}

  PollResult<absl::Status> PollBucket(Context& cx);

  RateLimiter* limiter_;
  size_t n_;
  bool has_turn_ = false;
  internal::PendingAcquire turn_;
  // Until the bucket has enough units. Set only while the future has the turn.
  std::optional<Sleep> sleep_;
};

inline RateLimiter::AcquireFuture RateLimiter::Acquire(size_t n) {
  return AcquireFuture(this, n);
}

}  // namespace rouse

#endif  // ROUSE_SYNC_RATE_LIMITER_RATE_LIMITER_H_

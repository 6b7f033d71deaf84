// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/rate_limiter/rate_limiter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/future/await_trace.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

// A hundred years.
constexpr int64_t kLongestFill = int64_t{100} * 365 * 24 * 3600 * 1'000'000'000;

int64_t CheckedInterval(absl::Duration interval, size_t burst) {
  const int64_t nanoseconds = absl::ToInt64Nanoseconds(interval);
  if (nanoseconds <= 0 || interval == absl::InfiniteDuration()) {
    Panic(
        "RateLimiter: the interval must be positive and finite, and at least a "
        "nanosecond");
  }
  if (burst == 0) Panic("RateLimiter: the burst is 0; choose at least 1");
  if (burst > static_cast<uint64_t>(kLongestFill / nanoseconds)) {
    Panic(
        "RateLimiter: the burst times the interval exceeds a hundred years; "
        "choose a smaller burst");
  }
  return nanoseconds;
}

}  // namespace

RateLimiter::RateLimiter(AnyDuration interval, size_t burst)
    : interval_(CheckedInterval(interval, burst)), burst_(burst) {}

RateLimiter::RateLimiter(const wheel::Handle& handle, AnyDuration interval,
                         size_t burst)
    : RateLimiter(interval, burst) {
  handle_ = handle;
}

bool RateLimiter::Take(size_t n, Instant& when) {
  // Does not overflow: n is at most `burst_`.
  const int64_t cost = static_cast<int64_t>(n) * interval_;
  const int64_t capacity = static_cast<int64_t>(burst_) * interval_;
  const ThreadMutexLock lock(&mu_);
  if (!handle_.has_value()) handle_ = wheel::Handle::Current();
  const Instant now = handle_->clock().Now();
  const Instant full_after = std::max(full_at_, now).PlusNanoseconds(cost);
  when = full_after.PlusNanoseconds(-capacity);
  if (when > now) return false;
  full_at_ = full_after;
  return true;
}

void RateLimiter::EndTurn() {
  ROUSE_TRY { turn_.Release(1, /*free=*/0); }
  ROUSE_CATCH_ALL {}
}

bool RateLimiter::TryAcquire(size_t n) {
  Instant when;
  return n <= burst_ && turn_.CanAcquire(1) && Take(n, when);
}

PollResult<absl::Status> RateLimiter::AcquireFuture::Poll(Context& cx) {
  constexpr const char* kCall = "RateLimiter::Acquire";
  if (turn_.IsNew() && n_ > limiter_->burst_) {
    turn_.Finish();
    return absl::InvalidArgumentError(
        absl::StrCat(kCall, ": ", n_, " units exceed the burst of ",
                     limiter_->burst_, "; acquire fewer units at once"));
  }
  if (turn_.IsNew() && cx.HasBudget() && limiter_->TryAcquire(n_)) {
    TakeUnitIfAny(cx);
    turn_.Finish();
    return absl::OkStatus();
  }
  if (!has_turn_) {
    size_t free = 1;
    if (turn_.Poll(cx, kCall, free).IsPending()) return kPending;
    has_turn_ = true;
  }
  PollResult<absl::Status> result = PollBucket(cx);
  if (result.IsPending()) return kPending;
  sleep_.reset();
  has_turn_ = false;
  limiter_->EndTurn();
  return result;
}

PollResult<absl::Status> RateLimiter::AcquireFuture::PollBucket(Context& cx) {
  for (;;) {
    if (sleep_.has_value()) {
      const PollResult<SleepResult> slept = sleep_->Poll(cx);
      if (slept.IsPending()) return kPending;
      if (!slept->ok()) return slept->status();
      sleep_.reset();
    }
    Instant when;
    if (limiter_->Take(n_, when)) return absl::OkStatus();
    sleep_.emplace(SleepUntil(*limiter_->handle_, when));
  }
}

void RateLimiter::AcquireFuture::Trace(AwaitTrace& trace) const {
  if (!has_turn_) {
    return turn_.Trace(trace, internal::TypeName<AcquireFuture>());
  }
  AwaitTrace::Branches branches(trace, "RateLimiter::Acquire");
  if (sleep_.has_value()) branches.Add(*sleep_);
}

}  // namespace rouse

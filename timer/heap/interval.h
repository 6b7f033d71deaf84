// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: interval.h
// -----------------------------------------------------------------------------
//
// `Interval` is a stream of ticks, for a program without a runtime:
//
//   absl::StatusOr<heap::Interval> interval =
//       heap::Interval::Create(absl::Seconds(1));
//   if (!interval.ok()) co_return interval.status();
//   while (std::optional<Instant> tick = co_await Next(*interval)) Sample();
//   co_return interval->status();   // the timer has gone

#ifndef ROUSE_TIMER_HEAP_INTERVAL_H_
#define ROUSE_TIMER_HEAP_INTERVAL_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/timer/heap/delay.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::heap {

// Interval
//
// Each item is the planned instant of a tick, on the clock of the timer; no
// tick comes before the planned instant. Ticks stay at whole periods from the
// first tick. If ticks have not been taken when the next tick is due, a single
// tick comes for all missed ticks, and then the ticks that lie ahead. A tick
// beyond the end of the clock never comes.
//
// The stream ends when the timer has been destroyed: `status()` says so.
//
// An interval can be moved at any time, and is for a single thread at a time.
// Destroying it cancels it. Costs a `Delay`, which is reset for every tick.
class Interval {
 public:
  // Makes an interval whose first tick is a period from now, whereas the first
  // tick of `rouse::Interval` is at once. A period of less than a nanosecond is
  // a `Panic()`.
  explicit Interval(AnyDuration period);
  Interval(const TimerHandle& handle, AnyDuration period);

  // Like the constructor, but for a period that may be invalid, such as one
  // from a configuration. Returns `kInvalidArgument` if the period is less than
  // a nanosecond.
  static absl::StatusOr<Interval> Create(AnyDuration period);
  static absl::StatusOr<Interval> Create(const TimerHandle& handle,
                                         AnyDuration period);
  // Like `Create()`, but with the first tick at `start`.
  static absl::StatusOr<Interval> CreateAt(const TimerHandle& handle,
                                           Instant start, AnyDuration period);

  PollResult<std::optional<Instant>> PollNext(Context& cx);

  // Returns OK, or `kUnavailable` when the stream has ended.
  const absl::Status& status() const { return status_; }

 private:
  Interval(TimerHandle handle, Instant start, int64_t period_nanoseconds)
      : handle_(std::move(handle)),
        delay_(handle_, start),
        period_nanoseconds_(period_nanoseconds) {}

  TimerHandle handle_;
  Delay delay_;
  int64_t period_nanoseconds_;
  absl::Status status_;
};

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_INTERVAL_H_

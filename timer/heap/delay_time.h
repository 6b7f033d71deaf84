// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: delay_time.h
// -----------------------------------------------------------------------------
//
// For timer/heap/: how a `Timeout` and a `StreamTimeout` wait.

#ifndef ROUSE_TIMER_HEAP_DELAY_TIME_H_
#define ROUSE_TIMER_HEAP_DELAY_TIME_H_

#include <optional>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/future/await_trace.h"
#include "rouse/timer/heap/default_timer.h"
#include "rouse/timer/heap/delay.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::heap::internal {

// DelayTime
//
// A `Delay` that is made only when it is needed: an object that is never
// started needs no timer. Movable; for a single thread at a time. Destroying a
// `DelayTime` cancels the delay.
//
// Serves as the `Time` of a `TimedStream`
// ("rouse/timer/poll_stream_timeout.h").
class DelayTime {
 public:
  // Without a `handle`, uses the default timer when the time is started.
  DelayTime(std::optional<TimerHandle> handle,
            std::variant<absl::Duration, Instant> until)
      : handle_(std::move(handle)), until_(until) {}

  bool has_started() const { return delay_.has_value(); }

  // Starts the time from now on. Can be repeated only for a duration.
  void Start() {
    if (delay_.has_value()) {
      // If the timer has been destroyed, the poll reports the error.
      delay_->Reset(std::get<absl::Duration>(until_)).IgnoreError();
      return;
    }
    const TimerHandle handle = handle_.has_value() ? *handle_ : DefaultTimer();
    std::visit([&](auto until) { delay_.emplace(handle, until); }, until_);
  }

  // Ready with OK when time is up, or `kUnavailable` if there is no timer.
  //
  // REQUIRES: the time was started, and not stopped.
  PollResult<absl::Status> Poll(Context& cx) { return delay_->Poll(cx); }

  void Trace(AwaitTrace& trace) const {
    if (delay_.has_value()) trace.Add(*delay_);
  }

  // Destroys the delay.
  void Stop() { delay_.reset(); }

 private:
  std::optional<TimerHandle> handle_;
  std::variant<absl::Duration, Instant> until_;
  std::optional<Delay> delay_;
};

}  // namespace rouse::heap::internal

#endif  // ROUSE_TIMER_HEAP_DELAY_TIME_H_

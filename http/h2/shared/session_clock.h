// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: session_clock.h
// -----------------------------------------------------------------------------
//
// `SessionClock` has the time and the timer of an HTTP/2 connection's task.

#ifndef ROUSE_HTTP_H2_SHARED_SESSION_CLOCK_H_
#define ROUSE_HTTP_H2_SHARED_SESSION_CLOCK_H_

#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"

namespace rouse::http::internal {

// SessionClock
//
// A poll reads the clock at most once, and all limits of time share one timer,
// which is set when the task begins to wait. Not thread-safe. Not movable.
class SessionClock {
 public:
  SessionClock() : timer_(absl::InfiniteDuration()) {}

  // Begins a poll: the time is read again when it is needed.
  void BeginPoll() { now_.reset(); }

  // Returns the time of this poll.
  Instant Time() {
    if (!now_.has_value()) now_ = Now();
    return *now_;
  }

  // Has the timer end at `time` or earlier.
  void ArmTimer(Instant time) {
    if (time >= armed_) return;
    armed_ = time;
    timer_is_late_ = true;
  }

  // Has the timer end after `time`, whatever it was armed for.
  void RestartTimer(absl::Duration time) {
    armed_ = Instant::Max();
    BeginPoll();
    ArmTimer(Time() + time);
  }

  // Returns whether the timer has ended. The limits that are left must then arm
  // the timer again. Otherwise the task is woken at the end of the timer.
  bool PollTimer(Context& cx) {
    if (std::exchange(timer_is_late_, false)) timer_.ResetAt(armed_);
    if (armed_ == Instant::Max() || timer_.Poll(cx).IsPending()) return false;
    armed_ = Instant::Max();
    BeginPoll();
    return true;
  }

 private:
  std::optional<Instant> now_;
  Sleep timer_;
  Instant armed_ = Instant::Max();
  bool timer_is_late_ = false;  // `timer_` must be reset to `armed_`
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_SHARED_SESSION_CLOCK_H_

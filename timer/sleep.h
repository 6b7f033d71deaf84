// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: sleep.h
// -----------------------------------------------------------------------------
//
// `Sleep` waits for a time to pass, `SleepUntil()` for an instant to come:
//
//   co_await Sleep(absl::Milliseconds(10));
//   co_await SleepUntil(Now() + absl::Seconds(1));
//
// One that is kept can be put off, here to end a connection that is idle:
//
//   Sleep idle(absl::Seconds(30));
//   while (...) {
//     ... wait for a message, or for `idle` ...
//     idle.Reset(absl::Seconds(30));
//   }
//
// To give up on something else when time is up, see timeout.h.

#ifndef ROUSE_TIMER_SLEEP_H_
#define ROUSE_TIMER_SLEEP_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/timer/wheel/registration.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// SleepResult
//
// How a sleep ended: `ok()`, or not, because its driver has gone. A task of a
// runtime that shuts down is destroyed and does not see that, so most need not
// look, and no compiler asks them to. One that sleeps in a loop, on a driver
// that may go before it does, must look, or else it spins:
//
//   while ((co_await Sleep(period)).ok()) Tick();
//
// Converts to `absl::Status`, which is OK or `kUnavailable`.
class SleepResult {
 public:
  explicit SleepResult(bool ok) : ok_(ok) {}

  bool ok() const { return ok_; }
  absl::Status status() const;
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator absl::Status() const { return status(); }

 private:
  bool ok_;
};

// Sleep
//
// A future of a `SleepResult`.
//
// # Time
//
// It is on the clock of the driver (see wheel::Handle::clock): the one it is
// given, or the current one of the thread that polls it first, which it then
// keeps. The time of a sleep for a duration starts at the first poll, as
// everything does that a future does. Zero, less, or a deadline that has passed
// is ready at the first poll.
//
// It never ends early, and ends at the first tick of the driver at or after its
// deadline (1 ms by default): up to a tick late, plus the time that it takes to
// wake a thread and to come to this task. Durations that are too long for the
// clock are forever; `absl::InfiniteDuration()` is.
//
// # Use
//
// It may be moved while no task waits for it: until it is first polled, and
// after it has ended and was reset. Moving it otherwise is a `Panic()`, and so
// is polling one that has ended and was not reset, and polling one for the
// first time on a thread without a current driver.
//
// Destroying it cancels it. Sleeping and cancelling are O(1) and allocate
// nothing. It is for one thread at a time. 64 bytes.
//
// Ending takes a unit of the task's budget.
class [[nodiscard("a Sleep does nothing until it is awaited")]] Sleep
    : private wheel::internal::Registration {
 public:
  explicit Sleep(AnyDuration duration)
      : Registration(absl::ToInt64Nanoseconds(duration)) {}
  // With the driver of `handle`, whichever is current.
  Sleep(const wheel::Handle& handle, AnyDuration duration)
      : Registration(handle.core(), absl::ToInt64Nanoseconds(duration)) {}

  // Panics if it was polled.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor)
  Sleep(Sleep&&) = default;
  Sleep& operator=(Sleep&&) = delete;

  PollResult<SleepResult> Poll(Context& cx);

  // Begins again, with another end. May be called at any time. If a task waits
  // for this sleep it goes on waiting and needs no poll to be woken at the new
  // time. One that has ended is to be polled again. Putting an end off takes no
  // lock.
  void ResetAt(Instant deadline);
  // The same, for `duration` from now or, before the first poll, from then.
  void Reset(AnyDuration duration);

  // When it ends or has ended; nothing for one that has not been polled and so
  // has not begun (unless it was given an instant).
  std::optional<Instant> Deadline() const;

  // Whether it has ended by the passing of time.
  using Registration::IsElapsed;

 private:
  friend Sleep SleepUntil(Instant deadline);
  friend Sleep SleepUntil(const wheel::Handle& handle, Instant deadline);

  explicit Sleep(Instant deadline) : Registration(deadline) {}
  Sleep(const wheel::Handle& handle, Instant deadline)
      : Registration(handle.core(), deadline) {}

  bool has_ended_ = false;
};

// SleepUntil()
//
// A sleep that ends at `deadline`, an instant of the driver's clock.
inline Sleep SleepUntil(Instant deadline) { return Sleep(deadline); }
inline Sleep SleepUntil(const wheel::Handle& handle, Instant deadline) {
  return Sleep(handle, deadline);
}

// Now()
//
// The present on the clock of the current driver. Without one, a `Panic()`.
Instant Now();

}  // namespace rouse

#endif  // ROUSE_TIMER_SLEEP_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: sleep.h
// -----------------------------------------------------------------------------
//
// `Sleep` waits until a time has passed, `SleepUntil()` until an instant comes:
//
//   co_await Sleep(absl::Milliseconds(10));
//   co_await SleepUntil(Now() + absl::Seconds(1));
//
// A sleep can be put off, here to end an idle connection:
//
//   Sleep idle(absl::Seconds(30));
//   while (...) {
//     ... wait for a message, or for `idle` ...
//     idle.Reset(absl::Seconds(30));
//   }
//
// To give up on another future when time is up, see timeout.h.

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
// The way a sleep ended: `ok()`, or not, because the driver has shut down. A
// runtime that shuts down destroys its tasks, so a task of the runtime does not
// see a result that is not `ok()`. Most tasks therefore need not check the
// result, and no compiler demands a check. A task that sleeps in a loop, on a
// driver that may shut down before the task ends, must check, or else the task
// spins:
//
//   while ((co_await Sleep(period)).ok()) Tick();
//
// Converts to an `absl::Status` of OK or `kUnavailable`.
class SleepResult {
 public:
  explicit SleepResult(bool ok) : ok_(ok) {}

  // Returns whether the deadline has come.
  bool ok() const { return ok_; }
  // Returns OK, or `kUnavailable` if the driver has shut down.
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
// A sleep uses the clock of its driver (see wheel::Handle::clock). The driver
// is the given one, or else the current driver of the thread that polls first,
// which the sleep then keeps. The time of a sleep for a duration starts at the
// first poll, like all work of a future. If the duration is zero or less, or
// the deadline has passed, the sleep is ready at the first poll.
//
// A sleep never ends early. It ends at the first tick of the driver at or after
// the deadline (ticks are 1 ms by default): up to a tick late, plus the time to
// wake a thread and to reach the task. A duration too long for the clock, such
// as `absl::InfiniteDuration()`, never ends.
//
// # Use
//
// A sleep can be moved while no task waits for it: until it is first polled,
// and after it has ended and was reset. Moving a sleep at any other time is a
// `Panic()`. So is polling a sleep that has ended and was not reset, and
// polling a sleep without a given driver for the first time on a thread without
// a current driver.
//
// Destroying a sleep cancels it. Sleeping and cancelling are O(1) and allocate
// nothing. A sleep is for a single thread at a time, and takes 56 bytes.
//
// Ending takes a unit of the task's budget.
class [[nodiscard("a Sleep does nothing until it is awaited")]] Sleep
    : private wheel::internal::Registration {
 public:
  explicit Sleep(AnyDuration duration)
      : Registration(absl::ToInt64Nanoseconds(duration)) {}
  // Makes a sleep with the driver of `handle`, regardless of the current
  // driver.
  Sleep(const wheel::Handle& handle, AnyDuration duration)
      : Registration(handle.core(), absl::ToInt64Nanoseconds(duration)) {}

  // Panics if the other sleep was polled, unless it has ended and was reset.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor)
  Sleep(Sleep&&) = default;
  Sleep& operator=(Sleep&&) = delete;

  PollResult<SleepResult> Poll(Context& cx);

  // Restarts the sleep with another deadline. May be called at any time. If a
  // task waits for this sleep, the task continues to wait, and needs no poll to
  // be woken at the new deadline. A sleep that has ended must be polled again.
  // Moving the deadline to a later instant takes no lock.
  void ResetAt(Instant deadline);
  // Like `ResetAt()`, with a deadline `duration` from now or, before the first
  // poll, `duration` from that poll.
  void Reset(AnyDuration duration);

  // Returns when the sleep ends or has ended. Returns nothing for a sleep that
  // has not been polled, and so has not started, unless the sleep was given an
  // instant.
  std::optional<Instant> Deadline() const;

  // Returns whether the sleep has ended because its time has passed.
  using Registration::IsElapsed;

 private:
  friend Sleep SleepUntil(Instant deadline);
  friend Sleep SleepUntil(const wheel::Handle& handle, Instant deadline);

  explicit Sleep(Instant deadline) : Registration(deadline) {}
  Sleep(const wheel::Handle& handle, Instant deadline)
      : Registration(handle.core(), deadline) {}

  // The mark of the registration.
  bool has_ended() const { return is_marked(); }
  void set_ended(bool ended) { set_marked(ended); }
};

// SleepUntil()
//
// Returns a sleep that ends at `deadline`, an instant of the driver's clock.
inline Sleep SleepUntil(Instant deadline) { return Sleep(deadline); }
inline Sleep SleepUntil(const wheel::Handle& handle, Instant deadline) {
  return Sleep(handle, deadline);
}

// Now()
//
// Returns the present on the clock of the current driver. A `Panic()` if the
// thread has no current driver.
Instant Now();

}  // namespace rouse

#endif  // ROUSE_TIMER_SLEEP_H_

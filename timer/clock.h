// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: clock.h
// -----------------------------------------------------------------------------
//
// A `Clock` tells the time. All timers go by one, and so a test can stop it and
// move it:
//
//   auto clock = std::make_shared<Clock>();
//   wheel::Driver<ThreadParker> driver({.clock = clock});
//   clock->Pause();
//   ... poll a Sleep for an hour: pending ...
//   clock->Advance(absl::Hours(1));
//   driver.ParkFor(absl::ZeroDuration());   // wakes the sleeper
//
// or let it move by itself whenever there is nothing to do but wait:
//
//   clock->Pause();
//   clock->SetAutoAdvance(true);
//   ... a program that sleeps for hours, run in milliseconds ...
//
// What is no timer goes by real time all the same: when a worker looks at the
// reactor, metrics and dumps, and a runtime's `LongPollBound()`,
// `ThreadKeepAlive()` and `ShutdownTimeout()`.

#ifndef ROUSE_TIMER_CLOCK_H_
#define ROUSE_TIMER_CLOCK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/timer/instant.h"

namespace rouse {

// Clock
//
// The operating system's monotonic clock, which may be paused and moved
// forward. It never goes backwards, for all threads taken together: a `Now()`
// that comes after another one is not less.
//
// Thread-safe. Shared by all that depend on it: drivers and handles keep it
// alive.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  // The present. Takes about as long as the system's own clock (some 20 ns),
  // less when paused.
  Instant Now() const;

  // Stops the clock, at the next whole millisecond: `Now()` stays the same
  // until `Advance()` or `Resume()`. Does nothing to a clock that is paused.
  //
  // So what is a whole number of milliseconds from then falls on a driver's
  // tick, and a sleep of a second ends with an advance by a second.
  //
  // A driver that has nothing due blocks for as long as its clock is paused,
  // or until it is unparked, unless the clock advances by itself.
  void Pause();

  // Lets the clock go on from where it stands. Does nothing to one that runs.
  void Resume();

  // Moves the clock forward by `d`, paused or not, and has the drivers look
  // again at what is due: they wake it in their own time, on their own threads.
  // Saturates at `Instant::Max()`. A negative `d` is a `Panic()`.
  void Advance(absl::Duration d);

  // The same to `t`. Does nothing if `t` has come.
  void AdvanceTo(Instant t);

  bool IsPaused() const;

  // Whether the clock, while it is paused, advances by itself: a driver that
  // parks with nothing due moves it to its next deadline, or by the limit of
  // the park, instead of blocking. It stops where a deadline was that has been
  // put off or cancelled, too. False at first; to be set before anything runs
  // that goes by the clock.
  //
  // A runtime moves it when none of its tasks can run and the operating system
  // has no event for them. What goes on elsewhere, on threads of your own, in
  // another runtime or in another process, is not waited for: see
  // `AutoAdvanceHold`. Of several drivers that share a clock, each moves it to
  // the deadline that is next for itself.
  void SetAutoAdvance(bool on);

  bool HasAutoAdvance() const;

  // Whether it has, and is paused.
  bool AdvancesByItself() const;

  // While one of these lives, the clock does not advance by itself: for a
  // thread whose work tasks wait for.
  class AutoAdvanceHold;

  // For drivers: moves the clock to `t` if it advances by itself and nobody
  // holds it. Without effect if somebody does; the listeners are called when
  // the last hold has gone.
  void AutoAdvanceTo(Instant t);

  // For drivers. A listener is called when the clock has been changed other
  // than by the passing of time, on the thread that did it, and should have its
  // driver look at the clock. While it is being removed it may still be called
  // by calls that have begun before.
  using Listener = std::shared_ptr<const absl::AnyInvocable<void() const>>;
  void AddListener(Listener listener);
  void RemoveListener(const Listener& listener);

 private:
  void Hold();
  void Release();
  Instant SlowNow() const;
  // False if `t` has come already.
  bool MoveTo(Instant t) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Set(bool paused, int64_t base) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void BeginChange() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CallListeners();

  // The protocol is in clock.cc. The version is odd during a change.
  Atomic<uint32_t> version_{0};
  Atomic<bool> paused_{false};
  // Nanoseconds: what is added to the system's time or, while paused, the time.
  Atomic<int64_t> base_{0};

  // Written under `mu_`.
  Atomic<bool> auto_advance_{false};

  mutable ThreadMutex mu_;
  int holds_ ABSL_GUARDED_BY(mu_) = 0;
  // Whether a hold has kept a driver from moving the clock.
  bool held_back_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<Listener> listeners_ ABSL_GUARDED_BY(mu_);
};

class [[nodiscard(
    "the clock is held for as long as this lives")]] Clock::AutoAdvanceHold {
 public:
  // `clock` outlives it.
  explicit AutoAdvanceHold(Clock& clock) : clock_(clock) { clock_.Hold(); }
  AutoAdvanceHold(const AutoAdvanceHold&) = delete;
  AutoAdvanceHold& operator=(const AutoAdvanceHold&) = delete;
  ~AutoAdvanceHold() { clock_.Release(); }

 private:
  Clock& clock_;
};

}  // namespace rouse

#endif  // ROUSE_TIMER_CLOCK_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: clock.h
// -----------------------------------------------------------------------------
//
// A `Clock` tells the time. All of Rouse takes the time from one, and so a test
// can stop it and move it:
//
//   auto clock = std::make_shared<Clock>();
//   wheel::Driver<ThreadParker> driver({.clock = clock});
//   clock->Pause();
//   ... poll a Sleep for an hour: pending ...
//   clock->Advance(absl::Hours(1));
//   driver.ParkFor(absl::ZeroDuration());   // wakes the sleeper
//
// Nothing else in Rouse reads the operating system's clock.

#ifndef ROUSE_TIMER_CLOCK_H_
#define ROUSE_TIMER_CLOCK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/mutex.h"
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
  // or until it is unparked.
  void Pause();

  // Lets the clock go on from where it stands. Does nothing to one that runs.
  void Resume();

  // Moves the clock forward by `d`, paused or not, and has the drivers look
  // again at what is due: they wake it in their own time, on their own threads.
  // Saturates at `Instant::Max()`. A negative `d` is a `Panic()`.
  void Advance(absl::Duration d);

  bool IsPaused() const;

  // For drivers. A listener is called after each `Advance()` and `Resume()`, on
  // the thread of that call, and should have its driver look at the clock. It
  // may still be called once while it is being removed, by a call that has
  // begun before.
  using Listener = std::shared_ptr<const absl::AnyInvocable<void() const>>;
  void AddListener(Listener listener);
  void RemoveListener(const Listener& listener);

 private:
  Instant SlowNow() const;
  void Set(bool paused, int64_t base) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void BeginChange() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CallListeners();

  // The protocol is in clock.cc. The version is odd during a change.
  Atomic<uint32_t> version_{0};
  Atomic<bool> paused_{false};
  // Nanoseconds: what is added to the system's time or, while paused, the time.
  Atomic<int64_t> base_{0};

  mutable Mutex mu_;
  std::vector<Listener> listeners_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rouse

#endif  // ROUSE_TIMER_CLOCK_H_

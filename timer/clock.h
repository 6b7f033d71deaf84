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

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
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

  // The instant that is as far from `Now()` as `t` is from the present of the
  // system: where the clock is paused or was moved, that is not the same time.
  // `absl::InfiniteFuture()` is `Instant::Max()`, and what lies beyond the
  // ends of an `Instant` is at that end; the same in the other direction.
  Instant FromTime(absl::Time t) const { return Now() + (t - absl::Now()); }
  absl::Time ToTime(Instant t) const { return absl::Now() + (t - Now()); }

  // The same for the clocks of the standard library:
  //
  //   clock.FromChrono(std::chrono::steady_clock::now() + 5ms)
  //   clock.ToChrono<std::chrono::steady_clock>(deadline)
  //
  // `Instant::Max()` is the latest point of theirs.
  template <class C, class D>
  Instant FromChrono(const std::chrono::time_point<C, D>& t) const {
    if (t == std::chrono::time_point<C, D>::max()) return Instant::Max();
    return Now() + (SinceEpoch(t) - SinceEpoch(C::now()));
  }
  template <class C>
  typename C::time_point ToChrono(Instant t) const {
    if (t == Instant::Max()) return C::time_point::max();
    const absl::Duration since = SinceEpoch(C::now()) + (t - Now());
    return
        typename C::time_point(std::chrono::duration_cast<typename C::duration>(
            absl::ToChronoNanoseconds(since)));
  }

  // Stops the clock where the next tick of its drivers begins: `Now()` stays
  // the same until `Advance()` or `Resume()`. Does nothing to a clock that is
  // paused.
  //
  // A sleep for a whole number of ticks therefore ends with an advance by that
  // time. Without a driver the clock stops at a whole millisecond, and a driver
  // that is made while it stands moves it to the driver's tick. With drivers of
  // different ticks it stops where all of them begin one, if that is within a
  // minute, and else where the longest begins.
  //
  // A driver that has nothing due blocks for as long as its clock is paused,
  // or until it is unparked, unless the clock advances by itself.
  void Pause();

  // Lets the clock go on. Does nothing to one that runs. `Now()` first stays
  // where it is for as long as `Pause()` was ahead of the time, which is less
  // than a tick: pausing again and again does not move the clock ahead.
  void Resume();

  // Moves the clock forward by `d`, paused or not, and has the drivers look
  // again at what is due: they wake it in their own time, on their own threads.
  // Saturates at `Instant::Max()`. A negative `d` is a `Panic()`.
  void Advance(AnyDuration d);

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

  // For tests that go step by step, see runtime/paused_time.h: lets the clock,
  // which advances by itself, go no further than `limit`, and calls `arrived`
  // once, when it is there and a driver has nothing to do but to go further.
  // All that is due by then has run, as far as it can without more time. On the
  // driver's thread. With a null `arrived` just sets the limit.
  //
  // One step at a time: another one in between, and a clock that does not
  // advance by itself, are a `Panic()`.
  void StepTo(Instant limit, absl::AnyInvocable<void()> arrived);
  // The same to the next instant at which a driver wakes somebody; to no later
  // time than the present if none ever will.
  void StepToNext(absl::AnyInvocable<void()> arrived);
  // Lets the clock stay where it is, and calls nobody.
  void EndStep();

  // For drivers: sleepers have been woken, as their time had come.
  void OnElapsed();

  // For drivers: moves the clock to `t` if it advances by itself and nobody
  // holds it, but no further than a step goes. While it is held nothing
  // happens; the listeners are called when the last hold has gone.
  // `Instant::Max()`: the driver has no deadline.
  //
  // Returns false, and moves nothing, if a hold has ended since the last look
  // at the operating system began: its holder may have caused an event that
  // nobody has seen. The driver then looks again, and calls this again.
  [[nodiscard]] bool AutoAdvanceTo(Instant t);

  // For drivers: around a look at the operating system's events, on one thread.
  // The result of the first goes to the second. What the events wake is woken
  // between them.
  uint64_t BeginLook() const;
  void EndLook(uint64_t look);

  // For drivers. A listener is called when the clock has been changed other
  // than by the passing of time, on the thread that did it, and should have its
  // driver look at the clock. While it is being removed it may still be called
  // by calls that have begun before. `tick` is the driver's, in nanoseconds, at
  // least 1: see `Pause()`.
  using Listener = std::shared_ptr<const absl::AnyInvocable<void() const>>;
  void AddListener(Listener listener, int64_t tick = 1);
  void RemoveListener(const Listener& listener);

 private:
  struct Driver {
    Listener listener;
    int64_t tick;
  };
  // What `base_` and `floor_` are, for a change.
  struct State {
    bool paused;
    int64_t base;
    int64_t floor;

    Instant Now() const;
  };

  template <class C, class D>
  static absl::Duration SinceEpoch(const std::chrono::time_point<C, D>& t) {
    return AnyDuration(t.time_since_epoch());
  }

  void Hold();
  void Release(bool looked);
  Instant SlowNow() const;
  State state() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The first instant from `t` on at which all drivers begin a tick.
  Instant TickFrom(Instant t) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void BeginStep(Instant limit, bool to_next,
                 absl::AnyInvocable<void()> arrived);
  // False if `t` has come already.
  bool MoveTo(Instant t) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Set(const State& state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void BeginChange() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CallListeners();

  // The protocol is in clock.cc. The version is odd during a change.
  Atomic<uint32_t> version_{0};
  Atomic<bool> paused_{false};
  // Nanoseconds: what is added to the system's time or, while paused, the time.
  Atomic<int64_t> base_{0};
  // Nanoseconds: a running clock shows no less.
  Atomic<int64_t> floor_{0};

  // Written under `mu_`.
  Atomic<bool> auto_advance_{false};

  mutable ThreadMutex mu_;
  int holds_ ABSL_GUARDED_BY(mu_) = 0;
  // How many holds have ended, and how many of them had when the latest look
  // that is over began.
  uint64_t released_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t looked_ ABSL_GUARDED_BY(mu_) = 0;
  // Whether a hold has kept a driver from moving the clock.
  bool held_back_ ABSL_GUARDED_BY(mu_) = false;
  // How far the clock may go by itself, or as far as where somebody is woken;
  // and who is told when it is there.
  Instant limit_ ABSL_GUARDED_BY(mu_) = Instant::Max();
  bool to_next_ ABSL_GUARDED_BY(mu_) = false;
  absl::AnyInvocable<void()> arrived_ ABSL_GUARDED_BY(mu_);
  // By how much a paused clock was moved to a tick, in nanoseconds.
  int64_t ahead_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<Driver> drivers_ ABSL_GUARDED_BY(mu_);
};

class [[nodiscard(
    "the clock is held for as long as this lives")]] Clock::AutoAdvanceHold {
 public:
  // `clock` outlives it.
  explicit AutoAdvanceHold(Clock& clock) : clock_(clock) { clock_.Hold(); }
  AutoAdvanceHold(const AutoAdvanceHold&) = delete;
  AutoAdvanceHold& operator=(const AutoAdvanceHold&) = delete;
  ~AutoAdvanceHold() { clock_.Release(looked_); }

  // For drivers: the holder has looked at the operating system's events itself,
  // after all else that it did. No other look is needed for its sake.
  void SetLooked() { looked_ = true; }

 private:
  Clock& clock_;
  bool looked_ = false;
};

}  // namespace rouse

#endif  // ROUSE_TIMER_CLOCK_H_

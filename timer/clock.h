// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: clock.h
// -----------------------------------------------------------------------------
//
// A `Clock` is the source of time for all timers. A test can therefore stop the
// clock and move it:
//
//   auto clock = std::make_shared<Clock>();
//   wheel::Driver<ThreadParker> driver({.clock = clock});
//   clock->Pause();
//   ... poll a Sleep for an hour: pending ...
//   clock->Advance(absl::Hours(1));
//   driver.ParkFor(absl::ZeroDuration());   // wakes the sleeper
//
// or let the clock auto-advance whenever nothing is left to do except to wait:
//
//   clock->Pause();
//   clock->SetAutoAdvance(true);
//   ... a program that sleeps for hours, run in milliseconds ...
//
// Everything except timers still uses real time: when a worker checks the
// reactor, metrics and dumps, and a runtime's `LongPollBound()`,
// `ThreadKeepAlive()` and `ShutdownTimeout()`.

#ifndef ROUSE_TIMER_CLOCK_H_
#define ROUSE_TIMER_CLOCK_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
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
// The operating system's monotonic clock, with the ability to be paused and
// moved forward. Time never goes backwards, across all threads: a `Now()` that
// comes after another `Now()` does not return an earlier instant.
//
// Thread-safe. A clock is shared by its users: drivers and handles keep it
// alive.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  // Returns the present. Takes about as long as reading the system's own clock
  // (some 20 ns), and less while the clock is paused.
  Instant Now() const;

  // Returns the instant that is as far from `Now()` as `t` is from the system's
  // present. If the clock is paused or was moved, the result is not the same
  // time as `t`. `absl::InfiniteFuture()` becomes `Instant::Max()`, and a time
  // beyond either end of `Instant` becomes the nearer end. `ToTime()` is the
  // same conversion in the other direction.
  Instant FromTime(absl::Time t) const { return Now() + (t - absl::Now()); }
  absl::Time ToTime(Instant t) const { return absl::Now() + (t - Now()); }

  // Converts a time point of a clock of the standard library, as `FromTime()`
  // and `ToTime()` convert an `absl::Time`:
  //
  //   clock.FromChrono(std::chrono::steady_clock::now() + 5ms)
  //   clock.ToChrono<std::chrono::steady_clock>(deadline)
  //
  // `Instant::Max()` corresponds to the latest time point of the other clock.
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
  // the same until `Advance()` or `Resume()`. Does nothing if the clock is
  // already paused.
  //
  // A sleep for a whole number of ticks therefore ends when the clock is
  // advanced by the duration of the sleep. Without a driver the clock stops at
  // a whole millisecond, and a driver made while the clock is paused moves the
  // clock to the driver's tick. If the drivers have ticks of different lengths,
  // the clock stops where all drivers begin a tick, if that happens at least
  // once a minute, and otherwise where the longest tick begins.
  //
  // A driver without an expired timer blocks for as long as its clock is
  // paused, or until the driver is unparked, unless the clock auto-advances.
  void Pause();

  // Lets a paused clock run again. Does nothing if the clock is running.
  // `Now()` first stands still for as long as `Pause()` was ahead of the time
  // (less than a tick). Pausing again and again therefore does not move the
  // clock ahead.
  void Resume();

  // Moves the clock forward by `d`, whether paused or running, and makes the
  // drivers check again which timers have expired. The drivers wake the waiters
  // in their own time, on their own threads. Saturates at `Instant::Max()`. A
  // negative `d` is a `Panic()`.
  void Advance(AnyDuration d);

  // Moves the clock forward to `t`, as `Advance()` does. Does nothing if `t`
  // has already come.
  void AdvanceTo(Instant t);

  // Returns whether the clock is paused.
  bool IsPaused() const;

  // Sets whether the clock auto-advances while it is paused. If so, a driver
  // that parks without an expired timer moves the clock to the driver's next
  // deadline, or by the limit of the park, instead of blocking. The clock also
  // stops at a deadline that has been put off or cancelled. Initially off. Call
  // `SetAutoAdvance()` before anything that uses the clock runs.
  //
  // A runtime moves the clock when none of its tasks can run and the operating
  // system has no event for them. The runtime does not wait for work elsewhere,
  // such as on your own threads, in another runtime or in another process: see
  // `AutoAdvanceHold`. If several drivers share a clock, each moves the clock
  // to the driver's own next deadline.
  void SetAutoAdvance(bool on);

  // Returns whether `SetAutoAdvance()` is on.
  bool HasAutoAdvance() const {
    // Relaxed: a thread that goes on to move the clock checks again under the
    // lock.
    return auto_advance_.load(std::memory_order_relaxed);
  }

  // Returns whether `SetAutoAdvance()` is on and the clock is paused.
  bool AdvancesByItself() const;

  // Keeps the clock from auto-advancing for as long as the object lives. For a
  // thread that does work for which tasks wait.
  class AutoAdvanceHold;

  // Limits how far the clock auto-advances, for tests that go step by step (see
  // testing/paused_time.h). The clock goes no further than `limit`. `arrived`
  // is called once, on the driver's thread, when the clock is at `limit` and a
  // driver has nothing to do except to go further. Everything due by then has
  // run, as far as possible without more time. A null `arrived` just sets the
  // limit.
  //
  // No two steps can be in progress: a second step during the first is a
  // `Panic()`, and so is a step while `AdvancesByItself()` is false.
  void StepTo(Instant limit, absl::AnyInvocable<void()> arrived);
  // Like `StepTo()`, but the limit is the next instant at which a driver wakes
  // a waiter, or the present if no driver ever will.
  void StepToNext(absl::AnyInvocable<void()> arrived);
  // Ends the step: the clock stays at the present, and `arrived` is not called.
  void EndStep();

  // Notes that a driver has woken waiters because their deadlines came. For
  // drivers.
  void OnElapsed();

  // Moves the clock to `t`, but no further than a step's limit, if the clock
  // auto-advances and no hold exists. While a hold exists, nothing happens; the
  // listeners are called when the last hold is destroyed. `t` is
  // `Instant::Max()` if the driver has no deadline. For drivers.
  //
  // Returns false, and moves nothing, if a hold has ended since the last
  // completed check for events of the operating system began: the holder may
  // have caused an event that no driver has seen. The driver then checks again,
  // and calls `AutoAdvanceTo()` again.
  [[nodiscard]] bool AutoAdvanceTo(Instant t);

  // Mark the beginning and the end of a driver's check for events of the
  // operating system, on one thread. The driver passes the result of
  // `BeginCheck()` to `EndCheck()`, and wakes the waiters of the events between
  // the two calls.
  uint64_t BeginCheck() const;
  void EndCheck(uint64_t check);

  // A function that the clock calls after a change other than the passing of
  // time, on the thread of the change. The listener should make the driver
  // check the clock. During its removal a listener may still be called, by
  // calls that have begun before. `tick` is the length of the driver's tick in
  // nanoseconds, at least 1: see `Pause()`. For drivers.
  using Listener = std::shared_ptr<const absl::AnyInvocable<void() const>>;
  void AddListener(Listener listener, int64_t tick = 1);
  void RemoveListener(const Listener& listener);

 private:
  struct Driver {
    Listener listener;
    int64_t tick;
  };
  // Values of `paused_`, `base_` and `floor_`, for a change.
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
  void Release(bool checked);
  Instant SlowNow() const;
  State state() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns the first instant, at or after `t`, at which all drivers begin a
  // tick. If that is less often than once a minute, see `Pause()`.
  Instant TickFrom(Instant t) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void BeginStep(Instant limit, bool to_next,
                 absl::AnyInvocable<void()> arrived);
  // Moves the clock to `t`. Returns false, and does nothing, if `t` has already
  // come.
  bool MoveTo(Instant t) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Set(const State& state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void BeginChange() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CallListeners();

  // The version is odd during a change. The protocol is in clock.cc.
  Atomic<uint32_t> version_{0};
  Atomic<bool> paused_{false};
  // Nanoseconds to add to the system's time or, while the clock is paused, the
  // time in nanoseconds.
  Atomic<int64_t> base_{0};
  // Nanoseconds below which a running clock never shows the time.
  Atomic<int64_t> floor_{0};

  // Written under `mu_`.
  Atomic<bool> auto_advance_{false};

  mutable ThreadMutex mu_;
  int holds_ ABSL_GUARDED_BY(mu_) = 0;
  // Number of holds that have ended, and number of holds that had ended when
  // the latest completed check for events began.
  uint64_t released_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t checked_ ABSL_GUARDED_BY(mu_) = 0;
  // True if a hold has kept a driver from moving the clock.
  bool held_back_ ABSL_GUARDED_BY(mu_) = false;
  // How far the clock may auto-advance; if `to_next_`, as far as the next
  // instant at which a waiter is woken. `arrived_` is called when the clock is
  // there.
  Instant limit_ ABSL_GUARDED_BY(mu_) = Instant::Max();
  bool to_next_ ABSL_GUARDED_BY(mu_) = false;
  absl::AnyInvocable<void()> arrived_ ABSL_GUARDED_BY(mu_);
  // Nanoseconds by which a paused clock was moved ahead to a tick.
  int64_t ahead_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<Driver> drivers_ ABSL_GUARDED_BY(mu_);
};

class [[nodiscard(
    "the clock is held only while the hold exists")]] Clock::AutoAdvanceHold {
 public:
  // `clock` must outlive the hold.
  explicit AutoAdvanceHold(Clock& clock) : clock_(&clock) { clock.Hold(); }
  // A hold that was moved from holds nothing, and can only be assigned and
  // destroyed.
  AutoAdvanceHold(AutoAdvanceHold&& other) noexcept
      : clock_(std::exchange(other.clock_, nullptr)),
        checked_(other.checked_) {}
  AutoAdvanceHold& operator=(AutoAdvanceHold other) noexcept {
    std::swap(clock_, other.clock_);
    std::swap(checked_, other.checked_);
    return *this;
  }
  ~AutoAdvanceHold() {
    if (clock_ != nullptr) clock_->Release(checked_);
  }

  // Notes that the holder has checked for events of the operating system, after
  // everything else that the holder did. The hold then requires no other check.
  // For drivers.
  void SetChecked() { checked_ = true; }

 private:
  Clock* clock_;  // null: moved from
  bool checked_ = false;
};

}  // namespace rouse

#endif  // ROUSE_TIMER_CLOCK_H_

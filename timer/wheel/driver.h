// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: driver.h
// -----------------------------------------------------------------------------
//
// `wheel::Driver` adds sleeping to any `Park` (see waker/park.h), and is also a
// `Park`. The driver parks the driver below for no longer than until the next
// deadline, and then wakes the sleepers:
//
//   wheel::Driver<ThreadParker> driver;
//   wheel::ScopedDefault current(driver.handle());
//   Sleep sleep(absl::Milliseconds(20));
//   const ThreadParker::Unparker unparker = driver.unparker();
//   while (true) {
//     Context cx(unparker.waker());  // one for each poll
//     if (sleep.Poll(cx).IsReady()) break;
//     driver.Park();
//   }

#ifndef ROUSE_TIMER_WHEEL_DRIVER_H_
#define ROUSE_TIMER_WHEEL_DRIVER_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/wheel/core.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/park.h"

namespace rouse::wheel {

// Options
//
// The options of a driver.
struct Options {
  // Length of a tick, from 64 microseconds to one second. A sleep ends at the
  // first tick at or after its deadline. Ticks begin where the clock's time is
  // a whole multiple of the length. A driver with ticks shorter than a
  // millisecond should have a driver below that can block for less than a
  // millisecond.
  absl::Duration resolution = absl::Milliseconds(1);

  // Clock to use, which may have other users, too. If null, the driver makes a
  // new clock.
  std::shared_ptr<Clock> clock = nullptr;

  // Number of shards in which the driver keeps its sleepers. Each shard takes
  // about 7 KiB and has a lock. Choose as many as there are threads that often
  // sleep at the same time; a turn of the driver visits every shard.
  size_t shards = 1;
};

// Driver
//
// A `Park`. No sleep ends early. While a thread parks here, no sleep ends later
// than a tick after its deadline, plus the delay of the driver below and of the
// operating system. While no thread parks here, nothing happens: no sleeper is
// woken.
//
// `Park()` and `ParkFor()` are for a single thread at a time. `unparker()`,
// `handle()`, `Shutdown()` and all operations on handles are thread-safe.
// Sleeping, cancelling and waking take O(1) and allocate nothing; sleeping
// makes no system call unless the driver is parked beyond the new deadline.
//
// The driver below should round a limit up to a duration for which it can
// block. Otherwise this driver has to park several times before a deadline.
template <rouse::Park P>
class Driver {
 public:
  using Unparker = typename P::Unparker;

  // Makes the driver below from `park_args`. A `Panic()` if an option is out of
  // range.
  template <class... Args>
  explicit Driver(Options options = {}, Args&&... park_args)
      : park_(std::forward<Args>(park_args)...),
        clock_(options.clock != nullptr ? std::move(options.clock)
                                        : std::make_shared<Clock>()),
        unpark_(std::make_shared<absl::AnyInvocable<void() const>>(
            [unparker = park_.unparker()] { unparker.Unpark(); })),
        core_(internal::Core::New(clock_, options.resolution, options.shards,
                                  unpark_)) {
    clock_->AddListener(unpark_, core_->ticks().resolution());
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // Like `Shutdown()`, but destroys the driver below instead of shutting it
  // down.
  ~Driver() {
    clock_->RemoveListener(unpark_);
    core_->Shutdown();
  }

  // Returns a handle for sleeping with this driver.
  Handle handle() const { return Handle(*core_); }

  // Returns the driver's clock, which lives as long as the driver and its
  // handles.
  Clock& clock() const { return *clock_; }

  // Returns the driver below.
  P& park() { return park_; }

  // Returns an unparker, which ends a `Park()` of this driver.
  Unparker unparker() { return park_.unparker(); }

  // Blocks until the next deadline, an unpark or an event of the driver below,
  // and then wakes the sleepers whose deadlines have come.
  //
  // If the clock auto-advances (see clock.h), moves the clock to the next
  // deadline, and blocks only if there is no deadline. For events to come
  // first, the caller must have asked the driver below for events before, with
  // `ParkFor(absl::ZeroDuration())`. If a hold of the clock has ended since
  // then, checks for events instead, and returns.
  void Park() { ParkFor(absl::InfiniteDuration()); }

  // Like `Park()`, but blocks for at most `limit`. Does not block if `limit` is
  // zero or less.
  void ParkFor(absl::Duration limit) {
    const absl::Duration time = core_->BeginPark(limit);
    // Not ended if a waker throws: another check is made then.
    const uint64_t look = clock_->BeginCheck();
    if (time == absl::InfiniteDuration()) {
      park_.Park();
    } else {
      park_.ParkFor(time);
    }
    clock_->EndCheck(look);
    core_->EndPark();
  }

  // Prepares a wait of another event loop, which takes the place of a `Park()`,
  // and returns how long the loop may wait at most. Until the next park, an
  // unpark, or a sleep that ends sooner than the wait, makes the descriptor of
  // the driver below readable. Must be called by the thread that parks the
  // driver, right before each such wait. `ParkFor(absl::ZeroDuration())` ends
  // the wait.
  //
  // The wait ends at or after the beginning of a tick, never shortly before. If
  // the clock auto-advances, moves the clock as `Park()` does.
  absl::Duration PrepareToWait()
    requires requires(P& park) {
      { park.PrepareToWait() } -> std::same_as<bool>;
    }
  {
    const absl::Duration time = core_->BeginPark(absl::InfiniteDuration());
    if (time <= absl::ZeroDuration() || !park_.PrepareToWait()) {
      return absl::ZeroDuration();
    }
    return time;
  }

  // Wakes all sleepers. Their sleeps, and all later sleeps, end with
  // `kUnavailable`, because the driver has shut down. Then shuts down the
  // driver below.
  void Shutdown() {
    // Runs even if a waker throws.
    const absl::Cleanup below = [this] { park_.Shutdown(); };
    core_->Shutdown();
  }

 private:
  P park_;
  const std::shared_ptr<Clock> clock_;
  const internal::Core::Unpark unpark_;
  struct Unref {
    void operator()(internal::Core* core) const { core->Unref(); }
  };
  const std::unique_ptr<internal::Core, Unref> core_;  // one reference
};

}  // namespace rouse::wheel

#endif  // ROUSE_TIMER_WHEEL_DRIVER_H_

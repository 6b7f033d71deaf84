// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: driver.h
// -----------------------------------------------------------------------------
//
// `wheel::Driver` adds sleeping to any `Park` (see waker/park.h), and is one
// itself. It parks the driver below for no longer than until its next deadline
// and then wakes the sleepers:
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
struct Options {
  // The length of a tick, from 64 microseconds to one second. A sleep ends at
  // the first tick at or after its deadline; ticks begin at the whole multiples
  // of the clock's time. A driver with ticks shorter than a millisecond wants a
  // driver below that can block for less than one.
  absl::Duration resolution = absl::Milliseconds(1);

  // The clock to go by, shared with whoever else wants to; null for one of the
  // driver's own.
  std::shared_ptr<Clock> clock = nullptr;

  // In how many parts, of about 7 KiB, the driver keeps its sleepers, each
  // under a lock of its own. As many as there are threads that sleep often at
  // the same time; a turn of the driver looks at each.
  size_t shards = 1;
};

// Driver
//
// A `Park`. No sleep ends early, and none later than a tick after its deadline
// plus what the driver below and the operating system add, while a thread parks
// here. Nothing happens by itself: with no thread that parks here, no one
// wakes.
//
// `Park()` and `ParkFor()` are for one thread at a time. `unparker()`,
// `handle()`, `Shutdown()` and everything done with handles are thread-safe.
// Sleeping, cancelling and waking take O(1) and allocate nothing; sleeping
// makes no system call unless the driver is parked beyond the new deadline.
//
// The driver below should round a limit up to what it can block for, else this
// one has to park several times before a deadline.
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

  // As `Shutdown()`, except for the driver below, which is destroyed.
  ~Driver() {
    clock_->RemoveListener(unpark_);
    core_->Shutdown();
  }

  // For sleeping with this driver.
  Handle handle() const { return Handle(*core_); }

  // The clock to go by. Lives as long as the driver and its handles.
  Clock& clock() const { return *clock_; }

  // The driver below.
  P& park() { return park_; }

  Unparker unparker() { return park_.unparker(); }

  // Blocks until the next deadline, an unpark or an event of the driver below;
  // then wakes the sleepers that are due. If the clock advances by itself (see
  // clock.h), moves it to the next deadline and blocks only if there is none:
  // the caller has asked the driver below for events before, with
  // `ParkFor(absl::ZeroDuration())`, if they are to come first. If a hold of
  // the clock has ended since, looks for events instead, and returns.
  void Park() { ParkFor(absl::InfiniteDuration()); }

  // The same, for `limit` at the most. With a `limit` of zero or less does not
  // block.
  void ParkFor(absl::Duration limit) {
    const absl::Duration time = core_->BeginPark(limit);
    // Not ended where a waker throws: another look is made then.
    const uint64_t look = clock_->BeginLook();
    if (time == absl::InfiniteDuration()) {
      park_.Park();
    } else {
      park_.ParkFor(time);
    }
    clock_->EndLook(look);
    core_->EndPark();
  }

  // Wakes all sleepers; they, and those that come later, are told that the
  // driver has gone (`kUnavailable`). Then shuts down the driver below.
  void Shutdown() {
    // Also if a waker throws.
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

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: core.h
// -----------------------------------------------------------------------------
//
// For timer/ itself: what a driver, its handles and its registrations share.
// Users have `Driver` (driver.h), `Handle` (handle.h) and `Sleep`.

#ifndef ROUSE_TIMER_WHEEL_CORE_H_
#define ROUSE_TIMER_WHEEL_CORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/registration.h"
#include "rouse/timer/wheel/wheel.h"
#include "rouse/waker/waker.h"

namespace rouse::wheel::internal {

// Core
//
// A wheel with its lock, its clock and the way to wake its driver. Counted:
// the driver, each handle and some registrations own a reference (see
// registration.h).
//
// Part 3 replaces the one wheel by wheels per worker.
//
// # No deadline is slept through
//
// `parked_until_` is the tick until which the driver has decided, under the
// lock, to sleep; 0 while it is awake or has been told to wake up. Who inserts
// an entry for an earlier tick sets it to 0 and unparks the driver when the
// lock is free. The driver decides anew before it parks again. An unpark that
// comes before the park is kept (see park.h), so none is lost between the
// decision and the park, and no other insertion makes a system call.
class Core {
 public:
  using State = Registration::State;
  using Unpark = std::shared_ptr<const absl::AnyInvocable<void() const>>;

  // Owned by one reference, the driver's. A `Panic()` if `resolution` is less
  // than 64 µs or more than 1 s.
  static Core* New(std::shared_ptr<Clock> clock, absl::Duration resolution,
                   Unpark unpark);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void Ref() {
    // Relaxed: the caller has a reference, so the count cannot reach zero.
    references_.fetch_add(1, std::memory_order_relaxed);
  }
  void Unref() {
    // Release pairs with the acquire of the last one: use comes before delete.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  Clock& clock() const { return *clock_; }
  absl::Duration resolution() const { return absl::Nanoseconds(resolution_); }
  bool IsShutDown() const;

  // For registrations, see there. Insert leaves the state and the waker to the
  // caller if it does not return kWaiting.
  State Insert(Registration& registration, Instant deadline, Waker waker);
  State ReplaceWaker(Registration& registration, Waker waker);
  void Remove(Registration& registration);
  // False if the registration does not wait any more.
  bool Move(Registration& registration, Instant deadline);

  // For the driver, which parks between the two, for as long as the first one
  // says: it is not more than `limit`, and ends at or after the beginning of a
  // tick, never shortly before it. The second wakes all that is due.
  absl::Duration BeginPark(absl::Duration limit);
  void EndPark();

  // Wakes all registrations, which become kShutDown; so do those that come
  // later.
  void Shutdown();

 private:
  class Batch;

  Core(std::shared_ptr<Clock> clock, int64_t resolution, Unpark unpark);
  ~Core() = default;

  // Ticks are counted from the clock's origin, so that all drivers of a clock
  // tick together. The first tick that begins at or after `t`: what is due then
  // is not early.
  uint64_t TickAtOrAfter(Instant t) const;
  // The tick that has begun at `t`.
  uint64_t TickAt(Instant t) const;
  Instant StartOf(uint64_t tick) const;

  // Whether the driver must be told that there is an entry for `tick`.
  bool MustUnpark(uint64_t tick) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::shared_ptr<Clock> clock_;
  const uint64_t resolution_;  // nanoseconds
  const Unpark unpark_;

  Atomic<size_t> references_{1};

  mutable absl::Mutex mu_;
  bool shut_down_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t parked_until_ ABSL_GUARDED_BY(mu_) = 0;
  Wheel wheel_ ABSL_GUARDED_BY(mu_);
};

// The core of the thread's current handle, which keeps it alive; null if there
// is no current handle.
Core* CurrentCore();

// Makes `core` the current one, and returns the one before.
Core* ExchangeCurrentCore(Core* core);

}  // namespace rouse::wheel::internal

#endif  // ROUSE_TIMER_WHEEL_CORE_H_

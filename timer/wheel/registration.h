// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: registration.h
// -----------------------------------------------------------------------------
//
// For timer/ itself: what a future that waits for a deadline is made of. Users
// have `Sleep` ("rouse/timer/sleep.h").

#ifndef ROUSE_TIMER_WHEEL_REGISTRATION_H_
#define ROUSE_TIMER_WHEEL_REGISTRATION_H_

#include <atomic>
#include <cstdint>

#include "rouse/base/atomic.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/entry.h"
#include "rouse/waker/waker.h"

namespace rouse::wheel::internal {

class Core;

// Registration
//
// An entry with a waker, in the wheel of one driver. All members are for the
// owner, one thread at a time; only the driver works on it from elsewhere.
//
// # Who touches what
//
// While the state is kWaiting the entry is linked, and this object belongs to
// the holder of the core's lock:
//
//   kIdle -> kWaiting                 the owner, under the lock
//   kWaiting -> kElapsed, kShutDown   the driver, under the lock. It unlinks
//   the
//                                     entry and takes the waker first; the
//                                     store is the last it ever does to the
//                                     object
//   kWaiting -> kIdle                 the owner cancels, under the lock
//   kElapsed, kShutDown -> kIdle      the owner
//
// So an owner that reads anything but kWaiting may free the object without the
// lock, and one that reads kWaiting takes the lock and looks again.
//
// `waker_` is written by the owner alone, under the lock while the state is
// kWaiting; the driver copies its bits. So the owner may compare it with
// another waker without the lock.
//
// # What keeps the core alive
//
// The lock is in the core, and must still be there when an owner that has read
// kWaiting comes to take it. A registration that is bound owns a reference to
// the core, or else is linked. If it is linked the driver is alive, for that
// unlinks all before it goes, and the driver owns a reference. When the driver
// unlinks an entry, it gives the registration a reference before it stores the
// state. At no moment is there neither; and arming and cancelling count
// nothing.
class Registration : public Entry {
 public:
  enum class State : uint8_t {
    kIdle,      // in no wheel
    kWaiting,   // in the wheel; the waker will be called
    kElapsed,   // the deadline has come
    kShutDown,  // the driver has gone
  };

  // To be bound to the driver that is current when it is first armed.
  Registration() {}
  // Bound to the driver of `core`.
  explicit Registration(Core& core);
  // A `Panic()` unless `other` is idle.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor)
  Registration(Registration&& other);
  Registration& operator=(Registration&&) = delete;
  // Cancels. O(1).
  ~Registration() {
    if (core_ != nullptr) Cancel();
  }

  // Acquire pairs with the release of the driver.
  State state() const { return state_.load(std::memory_order_acquire); }

  // Waits for `deadline`. Returns kWaiting, or how the wait has ended already.
  // The first time, binds to the current driver unless bound; without one, a
  // `Panic()`. REQUIRES: the state is kIdle.
  State Arm(Instant deadline, const Waker& waker);

  // The same for `nanoseconds` from now; stores the deadline.
  State ArmAfter(int64_t nanoseconds, const Waker& waker, Instant& deadline);

  // Calls `waker` in place of the one before. Returns the state.
  State Wait(const Waker& waker) {
    const State now = state();
    if (now != State::kWaiting || waker_.WillWake(waker)) return now;
    return ReplaceWaker(waker);
  }

  // Waits for `deadline` instead. The waker stays; it is called if `deadline`
  // has come. A registration that does not wait becomes kIdle.
  void Reset(Instant deadline);

  // Null until bound.
  Core* core() const { return core_; }
  Clock* clock() const;

 private:
  friend class Core;

  State ArmIn(Core& core, Instant now, Instant deadline, const Waker& waker);
  State ReplaceWaker(const Waker& waker);
  void Cancel();

  Core* core_ = nullptr;
  // Exists while the state is kWaiting.
  union {
    Waker waker_;
  };
  Atomic<State> state_{State::kIdle};
  // Whether it owns a reference to `core_`. The driver writes it, under the
  // lock, while the state is kWaiting.
  bool owns_reference_ = false;
};

}  // namespace rouse::wheel::internal

#endif  // ROUSE_TIMER_WHEEL_REGISTRATION_H_

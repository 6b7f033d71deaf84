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
#include "rouse/base/cell.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/entry.h"
#include "rouse/waker/waker.h"

namespace rouse::wheel::internal {

class Core;
class Shard;

// Registration
//
// A deadline, and an entry with a waker in a shard of one driver. All members
// are for the owner, one thread at a time; only the driver works on it from
// elsewhere.
//
// # Who touches what
//
// While the state is kWaiting the entry is linked, and this object belongs to
// the holder of the shard's lock:
//
//   kIdle -> kWaiting                 the owner, under the lock
//   kWaiting -> kElapsed, kShutDown   the driver, under the lock. It unlinks
//                                     the entry and takes the waker first; the
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
// # Putting off without the lock
//
// The entry is placed at the tick of `deadline_` or an earlier one. The driver
// looks at `deadline_` when that tick comes, and places the entry anew if it is
// later. So to put the deadline off the owner only stores it, and notes that it
// did. The driver may have read the one before and be about to store kElapsed:
// then the waker is called for nothing, and the owner, who finds kElapsed and
// the note, asks the clock and waits anew. Nothing orders the two, and nothing
// needs to.
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
    kElapsed,   // a deadline has come
    kShutDown,  // the driver has gone
  };

  // For `deadline`, with the driver that is current at the first `Wait()`.
  explicit Registration(Instant deadline)
      : deadline_(deadline.nanoseconds()), is_relative_(false) {}
  // For `nanoseconds` after the first `Wait()`.
  explicit Registration(int64_t nanoseconds)
      : deadline_(nanoseconds), is_relative_(true) {}
  // The same with the driver of `core`.
  Registration(Core& core, Instant deadline);
  Registration(Core& core, int64_t nanoseconds);
  // A `Panic()` unless `other` is idle.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor)
  Registration(Registration&& other);
  Registration& operator=(Registration&&) = delete;
  // Cancels. O(1).
  ~Registration() {
    if (shard_ != nullptr) Cancel();
  }

  // Waits for the deadline, and has `waker` called when it has come, in place
  // of the one before. kWaiting, or how the wait has ended: never kIdle. The
  // first time, binds to the current driver unless bound; without one, a
  // `Panic()`.
  State Wait(const Waker& waker) {
    const State now = state();
    if (now == State::kWaiting && waker_.Read().WillWake(waker)) return now;
    return WaitAnew(now, waker);
  }

  // Lets it wait for `deadline` instead. If it waits, the waker stays; it is
  // called if `deadline` has come. No lock if `deadline` is not earlier than
  // the one before. Else the next `Wait()` begins anew.
  void Reset(Instant deadline);
  // The same, for `nanoseconds` from now or, before the first `Wait()`, from
  // then.
  void ResetAfter(int64_t nanoseconds);

  // Acquire pairs with the release of the driver. kElapsed may be due to a
  // deadline that has been put off meanwhile.
  State state() const { return state_.load(std::memory_order_acquire); }

  // Whether the deadline has come and the driver has said so.
  bool IsElapsed() const;

  // Whether the deadline is still relative to a `Wait()` to come, and then
  // `deadline()` is as far from `Instant()`.
  bool is_relative() const { return is_relative_; }
  Instant deadline() const {
    // Relaxed: the owner has written it; for the driver, see above.
    return Instant::FromNanoseconds(deadline_.load(std::memory_order_relaxed));
  }

  // REQUIRES: bound: it was made with a core, or has waited.
  Core& core() const;

 protected:
  // Whether there was a `Wait()` that needed the clock.
  bool has_begun() const { return has_begun_; }

  // Without any effect on a wait.
  void SetDeadline(Instant deadline) {
    // Relaxed: see above.
    deadline_.store(deadline.nanoseconds(), std::memory_order_relaxed);
  }

 private:
  friend class Shard;

  State WaitAnew(State state, const Waker& waker);
  State Arm(const Waker& waker);
  void Begin(Shard& shard, Instant deadline);
  void Cancel();

  Shard* shard_ = nullptr;
  // Exists while the state is kWaiting.
  union {
    Cell<Waker> waker_;
  };
  // Nanoseconds of an instant, or of a duration if `is_relative_`.
  Atomic<int64_t> deadline_;
  Atomic<State> state_{State::kIdle};
  // Whether it owns a reference to the core. The driver writes it, under the
  // lock, while the state is kWaiting.
  bool owns_reference_ = false;
  bool is_relative_;
  bool has_begun_ = false;
  // Whether the deadline was put off since the lock was last held.
  bool put_off_ = false;
};

}  // namespace rouse::wheel::internal

#endif  // ROUSE_TIMER_WHEEL_REGISTRATION_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: registration.h
// -----------------------------------------------------------------------------
//
// For timer/ itself: the base of the futures that wait for a deadline. Users
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
// are for the owner, one thread at a time. Only the driver accesses a
// registration from another thread.
//
// # Who touches what
//
// While the state is kWaiting, the entry is linked, and this object belongs to
// the holder of the shard's lock:
//
//   kIdle -> kWaiting                 the owner, under the lock
//   kWaiting -> kElapsed, kShutDown   the driver, under the lock. It unlinks
//                                     the entry and takes the waker first; the
//                                     store is its last access to the object
//   kWaiting -> kIdle                 the owner cancels, under the lock
//   kElapsed, kShutDown -> kIdle      the owner
//
// An owner that reads a state other than kWaiting may therefore free the object
// without the lock. An owner that reads kWaiting takes the lock and checks the
// state again.
//
// Only the owner writes `waker_`, and under the lock while the state is
// kWaiting; the driver copies the waker's bits. The owner may therefore compare
// `waker_` with another waker without the lock.
//
// Whether the registration owns a reference to the core is in the same byte as
// the state, and belongs to the same thread: the driver changes both in one
// store.
//
// # Putting off without the lock
//
// The entry is placed at the tick of `deadline_` or at an earlier one. When
// that tick comes, the driver reads `deadline_`, and places the entry again if
// the deadline is later. To put the deadline off, the owner therefore only
// stores `deadline_` and notes that it did so (`put_off_`). The driver may have
// read the previous deadline and be about to store kElapsed. Then the waker is
// called for nothing, and the owner, which finds kElapsed and the note, reads
// the clock and waits again. Nothing orders the driver's load and the owner's
// store, and nothing needs to.
//
// # What keeps the core alive
//
// The lock is in the core, and must still exist when an owner that has read
// kWaiting takes the lock. A registration that is bound owns a reference to the
// core or is linked. While the registration is linked, the driver is alive,
// because the driver unlinks all entries before its destruction; and the driver
// owns a reference. When the driver unlinks an entry, the driver gives the
// registration a reference with the store of the state. At least one of the two
// holds at every moment, and arming and cancelling count no references.
class Registration : public Entry {
 public:
  enum class State : uint8_t {
    kIdle,      // in no wheel
    kWaiting,   // in the wheel; the waker will be called
    kElapsed,   // a deadline has come
    kShutDown,  // the driver has shut down
  };

  // Makes a registration for `deadline`, with the driver that is current at the
  // first `Wait()`.
  explicit Registration(Instant deadline)
      : is_relative_(false), deadline_(deadline.nanoseconds()) {}
  // Makes a registration for `nanoseconds` after the first `Wait()`.
  explicit Registration(int64_t nanoseconds)
      : is_relative_(true), deadline_(nanoseconds) {}
  // Like the two above, but with the driver of `core`.
  Registration(Core& core, Instant deadline);
  Registration(Core& core, int64_t nanoseconds);
  // Moves an idle registration. A `Panic()` if `other` is not idle.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor)
  Registration(Registration&& other);
  Registration& operator=(Registration&&) = delete;
  // Cancels the wait. O(1).
  ~Registration() {
    if (shard_ != nullptr) Cancel();
  }

  // Waits for the deadline, and has `waker` called when the deadline has come,
  // in place of the previous waker. Returns kWaiting, or how the wait has
  // ended; never kIdle. The first call binds an unbound registration to the
  // current driver; a `Panic()` if there is no current driver.
  State Wait(const Waker& waker) {
    const State now = state();
    if (now == State::kWaiting && waker_.Read().WillWake(waker)) return now;
    return WaitAnew(now, waker);
  }

  // Makes the registration wait for `deadline` instead. If it is waiting, the
  // waker stays, and is called if `deadline` has come. Otherwise the next
  // `Wait()` begins anew. Takes no lock if `deadline` is not earlier than the
  // previous one.
  void Reset(Instant deadline);
  // Like `Reset()`, with a deadline `nanoseconds` from now or, before the first
  // `Wait()`, from that call.
  void ResetAfter(int64_t nanoseconds);

  // Returns the state. kElapsed may be due to a deadline that has been put off
  // in the meantime. Acquire pairs with the release of the driver.
  State state() const { return StateOf(word_.load(std::memory_order_acquire)); }

  // Returns whether the deadline has come and the driver has reported it.
  bool IsElapsed() const;

  // Returns whether the deadline is still relative to a future `Wait()`. If so,
  // `deadline()` is `Instant()` plus that duration.
  bool is_relative() const { return is_relative_; }
  Instant deadline() const {
    // Relaxed: the owner has written the deadline; for the driver, see above.
    return Instant::FromNanoseconds(deadline_.load(std::memory_order_relaxed));
  }

  // Returns the core. REQUIRES: the registration is bound: it was made with a
  // core, or has waited.
  Core& core() const;

 protected:
  // Returns whether a `Wait()` has needed the clock.
  bool has_begun() const { return has_begun_; }

  // A mark for the derived class, initially false.
  bool is_marked() const { return is_marked_; }
  void set_marked(bool marked) { is_marked_ = marked; }

  // Sets the deadline without any effect on a wait.
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

  // Values of `word_`: a state, and whether the registration owns a reference.
  static constexpr uint8_t kStateBits = 3;
  static constexpr uint8_t kOwnsReference = 4;

  static State StateOf(uint8_t word) {
    return static_cast<State>(word & kStateBits);
  }

  // For the thread to which `word_` belongs. Relaxed: see above.
  State own_state() const {
    return StateOf(word_.load(std::memory_order_relaxed));
  }
  bool owns_reference() const {
    return (word_.load(std::memory_order_relaxed) & kOwnsReference) != 0;
  }
  // Sets the state, and gives the registration a reference if `reference` is
  // kOwnsReference and not 0. A reference stays.
  void SetState(State state, uint8_t reference,
                std::memory_order order = std::memory_order_relaxed) {
    const uint8_t word = word_.load(std::memory_order_relaxed);
    word_.store(static_cast<uint8_t>(static_cast<uint8_t>(state) |
                                     (word & kOwnsReference) | reference),
                order);
  }

  // The two bytes at the end of the entry.
  Atomic<uint8_t> word_{static_cast<uint8_t>(State::kIdle)};
  bool is_relative_ : 1;
  bool has_begun_ : 1 = false;
  // True if the deadline was put off since the lock was last held.
  bool put_off_ : 1 = false;
  bool is_marked_ : 1 = false;

  Shard* shard_ = nullptr;
  // Exists while the state is kWaiting.
  union {
    Cell<Waker> waker_;
  };
  // Nanoseconds of an instant, or of a duration if `is_relative_`.
  Atomic<int64_t> deadline_;
};

}  // namespace rouse::wheel::internal

#endif  // ROUSE_TIMER_WHEEL_REGISTRATION_H_

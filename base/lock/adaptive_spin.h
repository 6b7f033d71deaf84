// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: adaptive_spin.h
// -----------------------------------------------------------------------------
//
// Decides whether a thread spins for a short time before it sleeps until
// another thread wakes it. A spinning thread sees an answer that takes a
// microsecond, and neither of the two threads pays for a sleep and a wake-up
// between processors, which may take thirty microseconds.
//
//   if (spin.ShouldSpin()) {
//     if (SpinFor(limit, [&] { return answer.IsDue(); })) {
//       spin.OnFound();
//       return;
//     }
//     spin.OnFoundNothing();
//     answer.SleepUntilWoken();
//   } else {
//     spin.OnWoken(/*slept=*/answer.SleepUntilWoken());
//   }

#ifndef ROUSE_BASE_LOCK_ADAPTIVE_SPIN_H_
#define ROUSE_BASE_LOCK_ADAPTIVE_SPIN_H_

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"
#include "rouse/base/cycle_clock.h"
#include "rouse/base/lock/spin_hint.h"

namespace rouse {

// AdaptiveSpin
//
// Predicts the next wait of a thread from the latest waits. A wait spins if the
// wait before was short. After a spin in vain, the next short wait does not
// spin; after another spin in vain, the next two short waits do not spin, then
// four, and so on. A thread whose waits are mostly long, or are mostly for a
// thread that needs the same processor, therefore hardly ever spins.
//
// Only one thread at a time may use the object. Reads no clock: the caller
// passes the durations. O(1).
class AdaptiveSpin {
 public:
  // Maximum duration of a spin: about the time of a sleep and a wake-up on a
  // machine where these are slow.
  static constexpr absl::Duration kLimit = absl::Microseconds(30);

  // Maximum length of a short sleep. A sleep of this length may consist only of
  // wake-ups: of the awaited thread, and then of this thread.
  static constexpr absl::Duration kShortSleep = absl::Microseconds(60);

  // Maximum number of short waits that are left out after a spin in vain. At
  // this number, the spin adds less than a hundredth to the cost of the waits.
  static constexpr uint32_t kMaxLeftOut = 256;

  constexpr AdaptiveSpin() = default;

  // Returns whether the wait that begins now must spin before sleeping.
  bool ShouldSpin() const { return should_spin_; }

  // Reports that the wait has spun and has found the awaited event. The next
  // wait spins.
  void OnFound() { leave_out_ /= 2; }

  // Reports that the wait has spun in vain. The rest of the wait does not
  // count.
  void OnFoundNothing() {
    should_spin_ = false;
    leave_out_ = std::clamp(2 * leave_out_, 1U, kMaxLeftOut);
    left_ = leave_out_;
  }

  // Reports that the wait has not spun, and was ended after `slept` by an event
  // that a spin would have seen.
  void OnWoken(absl::Duration slept) {
    const bool is_short = slept <= kShortSleep;
    if (is_short && left_ > 0) --left_;
    should_spin_ = is_short && left_ == 0;
  }

  // Reports that the wait was ended by another event.
  void OnWokenOtherwise() { should_spin_ = false; }

 private:
  bool should_spin_ = false;
  // Number of short waits left out for the latest spin in vain, and the number
  // of them that are still to come.
  uint32_t leave_out_ = 0;
  uint32_t left_ = 0;
};

// SpinFor()
//
// Calls `ready` until it returns true, or until `cycles` cycles of the
// `CycleClock` have passed. In the second case, calls `ready` once more.
// Returns the result of the last call.
template <class Ready>
bool SpinFor(uint64_t cycles, Ready ready) {
#ifdef ROUSE_MODEL
  // Further checks would only repeat the first.
  static_cast<void>(cycles);
  return ready();
#else
  const uint64_t start = CycleClock::Now();
  do {
    if (ready()) return true;
    SpinHint();
  } while (CycleClock::Now() - start < cycles);
  return ready();
#endif
}

// CanSpin()
//
// Returns whether this process has more than one processor. With a single
// processor, the awaited thread cannot continue before this thread sleeps. The
// result is determined once, for the first thread that asks.
bool CanSpin();

}  // namespace rouse

#endif  // ROUSE_BASE_LOCK_ADAPTIVE_SPIN_H_

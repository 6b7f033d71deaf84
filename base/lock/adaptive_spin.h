// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: adaptive_spin.h
// -----------------------------------------------------------------------------
//
// For a thread that is about to sleep until another one wakes it: whether to
// look for a short while first. An answer that takes a microsecond is seen
// then, and neither of the two pays for a sleep and a wake-up between
// processors, which may take thirty.
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
// What the latest waits of one thread say of the next one. It spins if the one
// before was short; and when it has spun in vain, not for the next short wait
// either, then not for the next two, four, and so on. So whoever mostly waits
// long, or for one that needs this thread's processor, spins next to never.
//
// Used by one thread at a time. Reads no clock: the caller says how long what
// took. O(1).
class AdaptiveSpin {
 public:
  // For how long to spin at the most: about what a sleep and a wake-up take on
  // a machine where that is slow.
  static constexpr absl::Duration kLimit = absl::Microseconds(30);

  // A sleep of this length may have been nothing but wake-ups: of the thread
  // that was waited for, and then of this one.
  static constexpr absl::Duration kShortSleep = absl::Microseconds(60);

  // How many short waits are left out at the most after one that has spun in
  // vain: it costs them less than a hundredth then.
  static constexpr uint32_t kMaxLeftOut = 256;

  constexpr AdaptiveSpin() = default;

  // Whether the wait that begins now is to spin before it sleeps.
  bool ShouldSpin() const { return should_spin_; }

  // The wait has spun, and has found what it waited for. The next one spins.
  void OnFound() { leave_out_ /= 2; }

  // The wait has spun in vain. What becomes of it now does not count.
  void OnFoundNothing() {
    should_spin_ = false;
    leave_out_ = std::clamp(2 * leave_out_, 1U, kMaxLeftOut);
    left_ = leave_out_;
  }

  // The wait, which has not spun, was ended after `slept` by what a spin would
  // have seen.
  void OnWoken(absl::Duration slept) {
    const bool is_short = slept <= kShortSleep;
    if (is_short && left_ > 0) --left_;
    should_spin_ = is_short && left_ == 0;
  }

  // The wait was ended by something else.
  void OnWokenOtherwise() { should_spin_ = false; }

 private:
  bool should_spin_ = false;
  // How many short waits the latest spin in vain has cost, and how many of
  // them are to come.
  uint32_t leave_out_ = 0;
  uint32_t left_ = 0;
};

// SpinFor()
//
// Calls `ready` until it returns true, or for so many cycles of the
// `CycleClock`; and once more then. Returns what it returned last.
template <class Ready>
bool SpinFor(uint64_t cycles, Ready ready) {
#ifdef ROUSE_MODEL
  // More looks would be more of the same.
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
// Whether this process has more than one processor: else whoever is waited for
// can not go on before this thread sleeps. Found out once, for the first thread
// that asks.
bool CanSpin();

}  // namespace rouse

#endif  // ROUSE_BASE_LOCK_ADAPTIVE_SPIN_H_

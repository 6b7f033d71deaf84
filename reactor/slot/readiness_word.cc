// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/slot/readiness_word.h"

#include <atomic>
#include <cstdint>

#ifdef ROUSE_MODEL
#include <limits>
#endif

#include "absl/base/optimization.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/futex.h"
#include "rouse/base/lock/spin_hint.h"
#include "rouse/reactor/ready.h"

namespace rouse::reactor::internal {
namespace {

#ifdef ROUSE_MODEL
// The checker runs the holder when no other thread can run.
constexpr int kSpins = std::numeric_limits<int>::max();
#else
// A running holder releases the lock within this many checks.
constexpr int kSpins = 100;
#endif

// A holder that does not run needs a processor. Sleeping lets the holder run
// even if this thread has a higher priority. The time is long compared with a
// check, and short compared with the time that a thread waits for a processor
// anyway.
constexpr absl::Duration kSleep = absl::Microseconds(50);

}  // namespace

uint64_t ReadinessWord::AwaitUnlocked() const {
  for (int checks = 1;; ++checks) {
    const uint64_t word = Load();
    if ((word & kLock) == 0) return word;
    if (checks % kSpins != 0) {
      SpinHint();
    } else {
      Atomic<uint32_t> nobody_wakes{0};
      FutexWait(nobody_wakes, 0, kSleep);
    }
  }
}

void ReadinessWord::LowerChanged(Direction direction, uint64_t seen,
                                 Ready keep) {
  // Relaxed, here and below: as in `Lower()`.
  uint64_t word = word_.load(std::memory_order_relaxed);
  do {
    if (ABSL_PREDICT_FALSE((word & kLock) != 0)) word = AwaitUnlocked();
    if (((word ^ seen) & TickOf(direction)) != 0) return;
    // `keep` names states that may look used up, but are not.
    if (!(ReadyOf(word) & keep).IsEmpty()) return;
  } while (!word_.compare_exchange_weak(word, word & ~UsedBy(direction),
                                        std::memory_order_relaxed,
                                        std::memory_order_relaxed));
}

}  // namespace rouse::reactor::internal

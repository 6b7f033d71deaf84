// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: cycle_clock.h
// -----------------------------------------------------------------------------
//
// Measures short times with the processor's own counter, which costs a third of
// the system's clock. For metrics, and for a thread that spins before sleeping:
//
//   const uint64_t start = CycleClock::Now();
//   ...
//   absl::Duration took = CycleClock::ToDuration(CycleClock::Now() - start);
//
// The behavior of a program must not otherwise depend on `CycleClock`: a paused
// `Clock` does not pause the counter.

#ifndef ROUSE_BASE_CYCLE_CLOCK_H_
#define ROUSE_BASE_CYCLE_CLOCK_H_

#include "rouse/base/cxx20.h"

#include <chrono>  // NOLINT(build/c++11)
#include <cstdint>

#include "absl/time/time.h"

#ifdef ROUSE_SCALING
#include "rouse/testing/scaling/thread.h"
#endif

namespace rouse {

class CycleClock {
 public:
  // Returns the number of cycles since an unspecified moment. The counter never
  // goes back on one processor. The counters of two processors differ by less
  // than the time of a move from one processor to the other.
  static uint64_t Now() {
#if defined(ROUSE_MODEL)
    // Time stands still, so that a model behaves in the same way each time.
    return 1;
#elif defined(ROUSE_SCALING)
    return scaling::CycleClockNow();
#elif defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return static_cast<uint64_t>(
        std::chrono::steady_clock::now().time_since_epoch().count());
#endif
  }

  // Returns the number of cycles per nanosecond, measured over the time since
  // the first call in this process. Waits for at most 50 microseconds for that
  // time to be long enough.
#ifdef ROUSE_TWIN
  static double PerNanosecond() { return 1; }
#else
  static double PerNanosecond();
#endif

  static absl::Duration ToDuration(uint64_t cycles) {
    return absl::Nanoseconds(static_cast<double>(cycles) / PerNanosecond());
  }
};

}  // namespace rouse

#endif  // ROUSE_BASE_CYCLE_CLOCK_H_

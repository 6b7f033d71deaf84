// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: cycle_clock.h
// -----------------------------------------------------------------------------
//
// How long short things take, for metrics, and for a thread that spins before
// it sleeps: the processor's own counter, which costs a third of what the
// system's clock does.
//
//   const uint64_t start = CycleClock::Now();
//   ...
//   absl::Duration took = CycleClock::ToDuration(CycleClock::Now() - start);
//
// What a program does must not depend on it otherwise: a paused `Clock` does
// not pause it.

#ifndef ROUSE_BASE_CYCLE_CLOCK_H_
#define ROUSE_BASE_CYCLE_CLOCK_H_

#include <chrono>  // NOLINT(build/c++11)
#include <cstdint>

#include "absl/time/time.h"

namespace rouse {

class CycleClock {
 public:
  // Cycles since some moment. Never goes back on one processor; different ones
  // differ by less than it takes to go from one to the other.
  static uint64_t Now() {
#if defined(ROUSE_MODEL)
    // Time stands still: a model does the same thing each time.
    return 1;
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

  // How many cycles go into a nanosecond: measured over the time since this
  // process first asked, for which it waits for 50 microseconds at the most.
#ifdef ROUSE_MODEL
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

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/cycle_clock.h"

#include <chrono>  // NOLINT(build/c++11)
#include <cstdint>
#include <ratio>

#ifndef ROUSE_TWIN

namespace rouse {
namespace {

// Holds the same moment on both clocks.
struct Moment {
  static Moment Now() {
    Moment best{};
    uint64_t best_gap = UINT64_MAX;
    // The thread may lose its processor between two readings.
    for (int i = 0; i < 5; ++i) {
      const uint64_t before = CycleClock::Now();
      const auto time = std::chrono::steady_clock::now();
      const uint64_t gap = CycleClock::Now() - before;
      if (gap >= best_gap) continue;
      best_gap = gap;
      best = {before + gap / 2, time};
    }
    return best;
  }
  uint64_t cycles;
  std::chrono::steady_clock::time_point time;
};

}  // namespace

double CycleClock::PerNanosecond() {
  static const Moment start = Moment::Now();
  for (;;) {
    const Moment now = Moment::Now();
    const auto elapsed =
        std::chrono::duration<double, std::nano>(now.time - start.time);
    // A shorter time would be too inexact.
    if (elapsed < std::chrono::microseconds(50)) continue;
    return static_cast<double>(now.cycles - start.cycles) / elapsed.count();
  }
}

}  // namespace rouse

#endif  // ROUSE_TWIN

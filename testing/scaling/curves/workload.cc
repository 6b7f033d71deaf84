// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/scaling/curves/workload.h"

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "rouse/base/cycle_clock.h"

#ifdef ROUSE_SCALING
#include "rouse/testing/scaling/thread.h"
#endif

namespace rouse::curves {

Window::Window(absl::Duration warm_up, absl::Duration length)
    : cycles_per_nanosecond_(CycleClock::PerNanosecond()),
      begin_(CycleClock::Now() +
             static_cast<uint64_t>(absl::ToDoubleNanoseconds(warm_up) *
                                   cycles_per_nanosecond_)),
      end_(begin_ + static_cast<uint64_t>(absl::ToDoubleNanoseconds(length) *
                                          cycles_per_nanosecond_)) {}

double Window::Rate() const {
  return static_cast<double>(operations_.load(std::memory_order_relaxed)) *
         1e9 * cycles_per_nanosecond_ / static_cast<double>(end_ - begin_);
}

void Compute(absl::Duration duration) {
#ifdef ROUSE_SCALING
  scaling::Spend(absl::ToDoubleNanoseconds(duration));
#else
  const uint64_t end =
      CycleClock::Now() +
      static_cast<uint64_t>(absl::ToDoubleNanoseconds(duration) *
                            CycleClock::PerNanosecond());
  while (CycleClock::Now() < end) {
  }
#endif
}

}  // namespace rouse::curves

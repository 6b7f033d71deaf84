// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: poll_times.h
// -----------------------------------------------------------------------------
//
// Measures how long a worker's polls take. Internal to the scheduler.

#ifndef ROUSE_SCHEDULER_POLL_TIMES_H_
#define ROUSE_SCHEDULER_POLL_TIMES_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cycle_clock.h"
#include "rouse/scheduler/metrics.h"

namespace rouse::scheduler {

// PollTimes
//
// A histogram of cycles. One thread counts, any thread reads.
class PollTimes {
 public:
  explicit PollTimes(const PollTimeBuckets& buckets = {})
      : log_steps_(std::bit_width(std::clamp(buckets.linear_steps, 1u, 8u)) -
                   1),
        first_(IndexOf(ToCycles(buckets.shortest))),
        last_(IndexOf(ToCycles(buckets.longest))) {}

  void Count(uint64_t cycles) {
    Atomic<uint64_t>& polls =
        polls_[std::clamp(IndexOf(cycles), first_, last_)];
    // Relaxed, and not a read-modify-write: no other thread writes, and the
    // count orders nothing.
    polls.store(polls.load(std::memory_order_relaxed) + 1,
                std::memory_order_relaxed);
  }

  // Returns the buckets, from the shortest poll to the longest.
  std::vector<PollTimeBucket> Read() const {
    std::vector<PollTimeBucket> buckets;
    for (size_t i = first_; i <= last_; ++i) {
      if (!IsUsed(i)) continue;
      const uint64_t polls = polls_[i].load(std::memory_order_relaxed);
      if (polls == 0 && buckets.empty()) continue;
      // The first bucket has all shorter polls, too.
      const uint64_t from = i == first_ ? 0 : Begin(i);
      buckets.push_back({CycleClock::ToDuration(from), polls});
    }
    while (!buckets.empty() && buckets.back().polls == 0) buckets.pop_back();
    return buckets;
  }

 private:
  static constexpr size_t kMaxLogSteps = 3;

  static uint64_t ToCycles(absl::Duration duration) {
    const double cycles =
        absl::ToDoubleNanoseconds(duration) * CycleClock::PerNanosecond();
    if (cycles <= 0) return 0;
    return cycles < 1e19 ? static_cast<uint64_t>(cycles) : UINT64_MAX;
  }

  // Returns the bucket's index. The width in bits gives the power of two, and
  // the bits after the first give the part.
  size_t IndexOf(uint64_t cycles) const {
    const auto width = static_cast<size_t>(std::bit_width(cycles));
    if (width <= log_steps_) return width << log_steps_;
    const uint64_t part = (cycles >> (width - 1 - log_steps_)) &
                          ((uint64_t{1} << log_steps_) - 1);
    return (width << log_steps_) + static_cast<size_t>(part);
  }
  bool IsUsed(size_t index) const {
    const size_t width = index >> log_steps_;
    return width > log_steps_ || (width << log_steps_) == index;
  }
  // Returns the least number of cycles with this index.
  uint64_t Begin(size_t index) const {
    const size_t width = index >> log_steps_;
    if (width == 0) return 0;
    const uint64_t first = uint64_t{1} << (width - 1);
    if (width <= log_steps_) return first;
    const uint64_t part = index & ((uint64_t{1} << log_steps_) - 1);
    return first + (part << (width - 1 - log_steps_));
  }

  const size_t log_steps_;
  const size_t first_;
  const size_t last_;
  std::array<Atomic<uint64_t>, size_t{65} << kMaxLogSteps> polls_{};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_POLL_TIMES_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: poll_times.h
// -----------------------------------------------------------------------------
//
// How long a worker's polls take. Internal to the scheduler.

#ifndef ROUSE_SCHEDULER_POLL_TIMES_H_
#define ROUSE_SCHEDULER_POLL_TIMES_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rouse/base/atomic.h"
#include "rouse/base/cycle_clock.h"
#include "rouse/scheduler/metrics.h"

namespace rouse::scheduler {

// PollTimes
//
// A histogram whose buckets double, of cycles. Counted by one thread, read by
// any.
class PollTimes {
 public:
  void Count(uint64_t cycles) {
    Atomic<uint64_t>& polls =
        polls_[static_cast<size_t>(std::bit_width(cycles))];
    // Relaxed, and no read-modify-write: nobody else writes, and it orders
    // nothing.
    polls.store(polls.load(std::memory_order_relaxed) + 1,
                std::memory_order_relaxed);
  }

  // From the shortest poll to the longest.
  std::vector<PollTimeBucket> Read() const {
    std::vector<PollTimeBucket> buckets;
    for (size_t i = 0; i < polls_.size(); ++i) {
      const uint64_t polls = polls_[i].load(std::memory_order_relaxed);
      if (polls == 0 && buckets.empty()) continue;
      const uint64_t from = i == 0 ? 0 : uint64_t{1} << (i - 1);
      buckets.push_back({CycleClock::ToDuration(from), polls});
    }
    while (!buckets.empty() && buckets.back().polls == 0) buckets.pop_back();
    return buckets;
  }

 private:
  std::array<Atomic<uint64_t>, 65> polls_{};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_POLL_TIMES_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: global_queue_check.h
// -----------------------------------------------------------------------------
//
// When a worker with tasks of its own checks the global queue. Internal to the
// scheduler.

#ifndef ROUSE_SCHEDULER_GLOBAL_QUEUE_CHECK_H_
#define ROUSE_SCHEDULER_GLOBAL_QUEUE_CHECK_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/time/time.h"
#include "rouse/base/cycle_clock.h"
#include "rouse/scheduler/options.h"

namespace rouse::scheduler {

// GlobalQueueCheck
//
// Belongs to one worker. A check is due after a number of polls or, with the
// default interval and several workers, after some time, since polls may be
// long. A scheduler's only worker does not go by the clock, so that its order
// is repeatable.
class GlobalQueueCheck {
 public:
  GlobalQueueCheck(const Options& options, double cycles_per_nanosecond)
      : interval_(Interval(options)),
        period_(Period(options, cycles_per_nanosecond)) {}

  // Called before a task, after `polls` polls. Returns whether a check is due.
  // Forgets what the latest check has found.
  //
  // No check is due right after a check that has found a task. With long polls,
  // or a small interval, the check would be due in each turn, and a global
  // queue that does not become empty would keep everything else waiting.
  bool IsDue(uint64_t polls) {
    return !std::exchange(has_found_, false) && IsTime(polls);
  }

  // Returns the number of polls before which `IsDue()` need not be called
  // again.
  uint64_t NextPolls(uint64_t polls, bool has_long_polls) const {
    if (has_found_) return polls;
    const uint64_t due = last_polls_ + interval_;
    if (period_ == UINT64_MAX) return due;
    return has_long_polls ? polls : std::min(due, polls + kClockInterval);
  }

  // Called when a check begins.
  void Begin(uint64_t polls) {
    last_polls_ = polls;
    last_cycles_ = CycleClock::Now();
  }

  // Returns whether the check may pass by while another thread is at the queue,
  // as all but one of `kMaxPasses` checks may.
  bool MayPassBy() const { return fruitless_ < kMaxPasses; }

  // Called after a check.
  void End(bool found) {
    has_found_ = found;
    fruitless_ = found || !MayPassBy() ? 0 : fruitless_ + 1;
  }

 private:
  static constexpr uint32_t kMaxPasses = 7;

  // The clock is read once in this many polls, or in each turn if polls are
  // long.
  static constexpr uint32_t kClockInterval = 8;

  static uint32_t Interval(const Options& options) {
    if (options.global_queue_interval != 0) {
      return options.global_queue_interval;
    }
    return options.workers == 1 ? kSoloGlobalQueueInterval
                                : kGlobalQueueInterval;
  }

  // Returns the period in cycles.
  static uint64_t Period(const Options& options, double cycles_per_nanosecond) {
    if (options.global_queue_interval != 0 || options.workers == 1) {
      return UINT64_MAX;
    }
    return static_cast<uint64_t>(absl::ToDoubleNanoseconds(kGlobalQueuePeriod) *
                                 cycles_per_nanosecond);
  }

  bool IsTime(uint64_t polls) const {
    if (polls - last_polls_ >= interval_) return true;
    return period_ != UINT64_MAX && CycleClock::Now() - last_cycles_ >= period_;
  }

  // True if the latest task came from the global queue because a check was due.
  bool has_found_ = false;
  // Number of checks in a row that have found no task, perhaps because another
  // thread was at the queue.
  uint32_t fruitless_ = 0;
  uint64_t last_polls_ = 0;
  // Number of polls, or of cycles, after which the worker checks.
  const uint32_t interval_;
  const uint64_t period_;
  uint64_t last_cycles_ = 0;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_GLOBAL_QUEUE_CHECK_H_

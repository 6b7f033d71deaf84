// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: busy_meter.h
// -----------------------------------------------------------------------------
//
// How long a worker is busy, and how long its polls are on average. Internal to
// the scheduler.

#ifndef ROUSE_SCHEDULER_BUSY_METER_H_
#define ROUSE_SCHEDULER_BUSY_METER_H_

#include <atomic>
#include <cstdint>

#include "rouse/scheduler/metrics.h"

namespace rouse::scheduler {

// BusyMeter
//
// Belongs to one worker. The worker reads the clock, and not with each poll.
// `Read()` can be called by any thread.
class BusyMeter {
 public:
  // Polls are long if they take more than `long_poll_cycles` on average.
  explicit BusyMeter(uint64_t long_poll_cycles)
      : long_poll_cycles_(long_poll_cycles) {}

  // Begins to measure, after `polls` polls of the worker: the worker is busy
  // from `now` on, in cycles. `now_ms` is this time in the form given to tasks.
  void Start(uint64_t now, uint32_t now_ms, uint64_t polls) {
    busy_since_ = measured_since_ = now;
    measured_polls_ = polls;
    last_ms_ = now_ms;
  }

  // Adds the time from the last call of `Start()` or `Measure()` to `now`,
  // during which the worker was busy, after `polls` polls. Returns whether the
  // mean has changed, because the worker has polled in the meantime.
  bool Measure(uint64_t now, uint32_t now_ms, uint64_t polls);

  // Excludes `cycles` cycles, which were no part of a poll, from the mean.
  void Exclude(uint64_t cycles) { measured_since_ += cycles; }

  // Returns whether polls were long recently: so long that the cost of sharing
  // tasks before others ask does not matter.
  bool has_long_polls() const { return has_long_polls_; }

  // Returns the time of the last reading of the clock, in cycles, and in the
  // form given to tasks.
  uint64_t last_cycles() const { return busy_since_; }
  uint32_t last_ms() const { return last_ms_; }

  // Adds the times to `metrics`.
  void Read(WorkerMetrics& metrics) const;

 private:
  const uint64_t long_poll_cycles_;
  uint32_t last_ms_ = 1;
  bool has_long_polls_ = false;
  uint64_t busy_since_ = 0;
  uint64_t measured_since_ = 0;
  uint64_t measured_polls_ = 0;
  // Written only by the worker, and relaxed, since they order nothing.
  std::atomic<uint64_t> busy_cycles_{0};
  std::atomic<uint64_t> mean_poll_cycles_{0};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_BUSY_METER_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: worker_counts.h
// -----------------------------------------------------------------------------
//
// What a worker counts. Internal to the scheduler.

#ifndef ROUSE_SCHEDULER_WORKER_COUNTS_H_
#define ROUSE_SCHEDULER_WORKER_COUNTS_H_

#include <atomic>
#include <cstdint>

#include "rouse/base/atomic.h"
#include "rouse/scheduler/metrics.h"

namespace rouse::scheduler {

// WorkerCounts
//
// Counts, written only by the worker, read by any thread, and all relaxed,
// since they order nothing. From the numbers of polls and parks, other threads
// guess whether the worker is stuck in a poll: searching workers, in
// RunQueues::RescueIfStuck(), and the watchdog. A thread that reads an old
// value may take a worker for stuck by mistake, or overlook a stuck worker. In
// the first case the worker's tasks are taken by way of a lock; in the second,
// the next check finds the worker. Therefore neither count is a protocol.
class WorkerCounts {
 public:
  uint64_t polls() const { return polls_.load(std::memory_order_relaxed); }
  uint64_t parks() const { return parks_.load(std::memory_order_relaxed); }

  void CountPoll() { Add(polls_); }
  void CountForcedYield() { Add(forced_yields_); }
  void CountPark() {
    if (polls() == polls_at_park_) Add(noop_parks_);
    polls_at_park_ = polls();
    Add(parks_);
  }

  // Adds the counts to `metrics`.
  void Read(WorkerMetrics& metrics) const {
    metrics.polls = polls();
    metrics.parks = parks();
    metrics.noop_parks = noop_parks_.load(std::memory_order_relaxed);
    metrics.forced_yields = forced_yields_.load(std::memory_order_relaxed);
  }

 private:
  template <class Count>
  static void Add(Count& count) {
    count.store(count.load(std::memory_order_relaxed) + 1,
                std::memory_order_relaxed);
  }

  Atomic<uint64_t> polls_{0};
  std::atomic<uint64_t> parks_{0};
  // The other counts are for metrics. The model checker need not follow them.
  std::atomic<uint64_t> noop_parks_{0};
  std::atomic<uint64_t> forced_yields_{0};
  // Number of polls when the worker last parked.
  uint64_t polls_at_park_ = UINT64_MAX;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_WORKER_COUNTS_H_

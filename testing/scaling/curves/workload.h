// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: workload.h
// -----------------------------------------------------------------------------
//
// Programs that keep any number of workers busy, for the curves of
// docs/internals/scaling.md.

#ifndef ROUSE_TESTING_SCALING_CURVES_WORKLOAD_H_
#define ROUSE_TESTING_SCALING_CURVES_WORKLOAD_H_

#include "rouse/base/cxx20.h"

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "absl/time/time.h"
#include "rouse/base/cycle_clock.h"
#include "rouse/testing/scaling/curves/workers.h"

namespace rouse::curves {

// Window
//
// The time in which operations count: from the end of a warm-up.
class Window {
 public:
  Window(absl::Duration warm_up, absl::Duration length);

  // Counts `operations`, done since the previous call, if the time has come.
  // Returns whether the time is not over. Call this once for many operations.
  bool Continues(uint64_t operations) {
    const uint64_t now = CycleClock::Now();
    if (now >= end_) return false;
    // Relaxed, and without a price in the simulator: read when all has ended.
    if (now >= begin_) {
      operations_.fetch_add(operations, std::memory_order_relaxed);
    }
    return true;
  }

  // Returns the operations that were counted, in operations per second.
  double Rate() const;

 private:
  const double cycles_per_nanosecond_;
  const uint64_t begin_;
  const uint64_t end_;
  std::atomic<uint64_t> operations_{0};
};

// Workload
struct Workload {
  std::string_view name;
  // What the workload does, and what counts as an operation.
  std::string_view description;
  // Runs for the time of `window`. Called on a thread that is not a worker.
  void (*run)(Workers& workers, Window& window);
  // How much virtual time is simulated.
  absl::Duration simulated = absl::Milliseconds(2);
};

// Return the workloads of one kind each.
std::span<const Workload> TaskWorkloads();
std::span<const Workload> SyncWorkloads();
std::span<const Workload> DriverWorkloads();

// Computes for `duration`, without any access to shared memory.
void Compute(absl::Duration duration);

}  // namespace rouse::curves

#endif  // ROUSE_TESTING_SCALING_CURVES_WORKLOAD_H_

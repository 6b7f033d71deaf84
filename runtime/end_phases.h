// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: end_phases.h
// -----------------------------------------------------------------------------
//
// Internal to runtime/: which thread of a multi-thread runtime takes which step
// at the runtime's end. There are three counts of remaining events:
//
//   workers   The thread that ends the last worker finishes the scheduler, and
//             then ends the drivers for the workers.
//   drivers   The workers and the shutdown each end the drivers once, in either
//             order. The second of the two shuts the drivers down.
//   threads   The thread that ends last, of the threads that were started for
//             the workers, reports that all have ended.
//
// The invariant is that each step is taken once, and after everything for which
// the step waits: actions before a decrement are visible to the thread taking
// the step. Workers and threads have separate counts, because a thread can end
// long before its worker (after another thread has taken the worker over), and
// long after the worker.

#ifndef ROUSE_RUNTIME_END_PHASES_H_
#define ROUSE_RUNTIME_END_PHASES_H_

#include <atomic>
#include <cstddef>

#include "rouse/base/atomic.h"

namespace rouse::internal {

// EndPhases
//
// `Host` takes the steps:
//
//   void FinishScheduler();
//   void ShutdownDrivers();
//   void OnThreadsEnded();
template <class Host>
class EndPhases {
 public:
  // REQUIRES: `host` outlives the object.
  explicit EndPhases(Host& host) : host_(host) {}
  EndPhases(const EndPhases&) = delete;
  EndPhases& operator=(const EndPhases&) = delete;

  // Sets the number of workers and of threads. Call before any of the functions
  // below, and before a thread is started.
  void Begin(size_t workers) {
    // Relaxed: the start of a thread orders the stores before the thread's
    // steps.
    workers_.store(workers, std::memory_order_relaxed);
    threads_.store(workers, std::memory_order_relaxed);
  }

  // In each of the functions below, release and acquire pair with each other:
  // the last call follows all actions of the other callers.

  // Counts `count` workers as ended.
  void EndWorkers(size_t count) {
    if (workers_.fetch_sub(count, std::memory_order_acq_rel) != count) return;
    host_.FinishScheduler();
    EndDrivers();
  }

  // Ends the drivers for either side: all workers have ended, or the runtime is
  // being shut down. An exception may end the workers alone.
  void EndDrivers() {
    if (drivers_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    host_.ShutdownDrivers();
  }

  // Counts `count` threads as ended.
  void EndThreads(size_t count) {
    if (threads_.fetch_sub(count, std::memory_order_acq_rel) != count) return;
    host_.OnThreadsEnded();
  }

 private:
  Host& host_;
  Atomic<size_t> workers_{0};
  Atomic<size_t> threads_{0};
  Atomic<size_t> drivers_{2};
};

}  // namespace rouse::internal

#endif  // ROUSE_RUNTIME_END_PHASES_H_

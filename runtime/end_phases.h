// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: end_phases.h
// -----------------------------------------------------------------------------
//
// For runtime/ itself: which thread of a multi-thread runtime takes which step
// at its end. There are three counts of what is still to come:
//
//   workers   whoever ends the last of them finishes the scheduler, and ends
//             the drivers on the part of the workers
//   drivers   are ended on the part of the workers and on that of the shutdown,
//             in either order: whoever is second shuts them down
//   threads   whoever ends the last of those that were started for the workers
//             says so
//
// The invariant is that each step is taken once, and after all that it waits
// for: what was done before a count went down is visible to who takes the step.
// Workers and threads have counts of their own, because a thread may end long
// before its worker, which another thread has taken over, and long after it.

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
  // `host` outlives this.
  explicit EndPhases(Host& host) : host_(host) {}
  EndPhases(const EndPhases&) = delete;
  EndPhases& operator=(const EndPhases&) = delete;

  // Before any of the following, and before a thread is started.
  void Begin(size_t workers) {
    // Relaxed: the start of the threads orders this before what they do.
    workers_.store(workers, std::memory_order_relaxed);
    threads_.store(workers, std::memory_order_relaxed);
  }

  // In each of the following, release and acquire pair with one another: the
  // last one follows all that the others did.

  // So many workers have ended.
  void EndWorkers(size_t count) {
    if (workers_.fetch_sub(count, std::memory_order_acq_rel) != count) return;
    host_.FinishScheduler();
    EndDrivers();
  }

  // Either all workers have ended, or the runtime is being shut down. An
  // exception may end the workers alone.
  void EndDrivers() {
    if (drivers_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    host_.ShutdownDrivers();
  }

  // So many threads have ended.
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

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: worker.h
// -----------------------------------------------------------------------------
//
// A worker takes tasks from its scheduler and polls them, on one thread.
// Internal to the scheduler and the runtime.

#ifndef ROUSE_SCHEDULER_WORKER_H_
#define ROUSE_SCHEDULER_WORKER_H_

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "rouse/base/fast_rand.h"
#include "rouse/scheduler/parker.h"
#include "rouse/scheduler/run_queue.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/timer/clock.h"

namespace rouse::scheduler {

class Worker {
 public:
  // `scheduler` outlives the worker.
  Worker(Scheduler& scheduler, FastRand rand)
      : scheduler_(scheduler), rand_(rand), parker_(scheduler.driver()) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs tasks until the scheduler is closed.
  void Run() {
    RunUntil([] { return false; });
  }

  // Runs tasks until `done()`, which is asked before every task and after every
  // park, or until the scheduler is closed.
  void RunUntil(absl::FunctionRef<bool()> done);

  // Any thread.
  void Unpark() { parker_.Unpark(); }

  FastRand& rand() { return rand_; }

  // The worker that this thread is running, or null.
  static Worker* Current();

  // Whether the worker's thread is in the driver, waking what is due, and will
  // look for the tasks of `scheduler` afterwards.
  bool IsDispatchingFor(const Scheduler& scheduler) const {
    return dispatching_ && &scheduler_ == &scheduler;
  }

 private:
  friend class Scheduler;

  // After how many tasks the driver is asked for events, so that a full queue
  // does not keep I/O and timers waiting. Each such turn costs a system call;
  // at the usual microsecond a task that is a hundredth.
  static constexpr uint32_t kEventInterval = 61;
  // After how many tasks a worker with a queue of its own looks into the shared
  // one.
  static constexpr uint32_t kSharedQueueInterval = 31;

  bool IsTimeToShare() const { return tick_ % kSharedQueueInterval == 0; }

  void PollDriver();
  void Park();

  Scheduler& scheduler_;
  FastRand rand_;
  Parker parker_;
  uint32_t tick_ = 0;
  // What is woken on its own thread, if it is the only worker.
  RunQueue own_queue_;
  bool dispatching_ = false;
  // Under the scheduler's lock.
  bool idle_ = false;
  bool searching_ = false;
  // While it is not idle, if the driver's clock advances by itself.
  std::unique_ptr<Clock::AutoAdvanceHold> clock_hold_;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_WORKER_H_

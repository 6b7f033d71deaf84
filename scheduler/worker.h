// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: worker.h
// -----------------------------------------------------------------------------
//
// A worker takes tasks from its scheduler and polls them, on one thread at a
// time. Internal to the scheduler and the runtime.

#ifndef ROUSE_SCHEDULER_WORKER_H_
#define ROUSE_SCHEDULER_WORKER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "rouse/base/adaptive_spin.h"
#include "rouse/base/atomic.h"
#include "rouse/base/fast_rand.h"
#include "rouse/scheduler/baton.h"
#include "rouse/scheduler/metrics.h"
#include "rouse/scheduler/parker.h"
#include "rouse/scheduler/poll_times.h"
#include "rouse/scheduler/run_queues.h"
#include "rouse/scheduler/running_here.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/timer/clock.h"

namespace rouse::scheduler {

class Scheduler;

// On cache lines of its own: it counts with every poll.
class alignas(ABSL_CACHELINE_SIZE) Worker {
 public:
  // `scheduler` outlives the worker.
  Worker(Scheduler& scheduler, size_t index, FastRand rand);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs tasks until the scheduler is closed, to which the caller has a
  // reference meanwhile. False: the worker was given away, by `BlockInPlace()`,
  // and is another thread's to run.
  bool Run() {
    return RunUntil([] { return false; });
  }

  // Runs tasks until `done()`, which is asked before every turn (a task from a
  // queue, and those that then come by the slot) and after every park, or until
  // the scheduler is closed.
  bool RunUntil(absl::FunctionRef<bool()> done);

  // For `done()`, if it is not: something that is not a task has yielded. The
  // worker runs the tasks that there are, and asks again instead of waiting.
  void OnYield() { must_ask_again_ = true; }

  // Any thread.
  void Unpark() { parker_.Unpark(); }

  // The worker that this thread is running, or null.
  static Worker* Current();

  Scheduler& scheduler() const { return scheduler_; }
  size_t index() const { return index_; }

  // ---- Being run by one thread after another. The first one just does.

  // Lets the next thread that calls `TakeOver()` run the worker. The caller
  // does not touch it any more.
  void Offer() { baton_.PutDown(); }
  // Whether the worker was offered, and is the caller's to run. Any thread.
  bool TakeOver() { return baton_.TryTake(); }

  // ---- For the scheduler, on the worker's thread.

  // Takes a task that was woken or spawned.
  void Schedule(task::Header* task);
  // Takes a task that is to run again after the others.
  void ScheduleLast(task::Header* task);

  // ---- For the scheduler, on any thread.

  // Until the worker is idle again the driver's clock does not advance by
  // itself: so it never does while a task can run. (A task is only queued where
  // a worker is not idle, is taken from the idle ones, or is dispatching.)
  void HoldClock();

  // Grows with each poll.
  uint64_t tick() const { return tick_.load(std::memory_order_relaxed); }

  WorkerMetrics metrics() const;

 private:
  friend class BlockingSection;
  class Here;

  // How often in a row the next task may come from the slot: two tasks that
  // wake each other must not keep all others from running (tokio #5712).
  static constexpr int kMaxLifoPolls = 3;

  bool UsesSlot() const;
  task::Header* Next();
  // Whether it is time to look into the shared queue.
  bool IsSharedDue();
  // Polls `task`, and what it wakes. The worker may be gone when it returns.
  void Execute(task::Header* task, Here& here);
  void Poll(task::Header* task, Here& here);
  void PollOnce(task::Header* task, Here& here);
  // There is nothing to do: returns when there may be.
  void Wait();
  // Looks for a short while. Whether there may be something to do now.
  bool Spin();
  void Park();
  // After a park of so many cycles, which another thread may have ended.
  void LearnToSpin(bool woken, uint64_t cycles);
  // A task that was woken from the driver.
  ABSL_ATTRIBUTE_NOINLINE void ScheduleDispatched(task::Header* task);
  // Between polls, every so often.
  void Maintain();
  void PollDriver();
  // The driver has woken tasks: others may have some.
  void AfterDispatch();
  // The worker is asleep.
  void ReleaseClock();
  // The worker is run by a thread, or is not any more.
  void BeginHoldingClock();
  void EndHoldingClock();
  void StartMeasuring();
  void MeasurePolls();

  Scheduler& scheduler_;
  const size_t index_;
  RunQueues<task::Header, Scheduler>::Own queues_;
  FastRand rand_;
  Parker parker_;
  const bool may_spin_;
  Baton baton_;

  // The thread is in the driver, waking what is due, and will look for tasks
  // afterwards.
  bool dispatching_ = false;
  int lifo_polls_ = 0;
  // When it last looked for events, and into the shared queue; by `tick_`.
  uint64_t last_maintained_ = 0;
  uint64_t last_shared_ = 0;
  // When it last parked.
  uint64_t tick_at_park_ = UINT64_MAX;
  bool must_ask_again_ = false;
  uint32_t turns_without_task_ = 0;  // since it last looked for events
  bool came_from_shared_ = false;    // the latest task, because it was time to
  // How often it looks into the shared queue: after so many polls, or so many
  // cycles.
  const uint32_t shared_interval_;
  const uint64_t shared_period_;
  uint64_t last_shared_cycles_ = 0;
  uint32_t turns_ = 0;
  bool has_long_polls_ = false;  // of late
  AdaptiveSpin spin_;
  bool spun_in_vain_ = false;  // before the latest park
  uint64_t last_events_ = 0;   // when it last asked for them before a spin

  // Counts: written by the worker alone, read by any thread, ordering nothing.
  Atomic<uint64_t> tick_{0};
  Atomic<uint64_t> parks_{0};
  Atomic<uint64_t> noop_parks_{0};
  Atomic<uint64_t> forced_yields_{0};
  Atomic<uint64_t> busy_cycles_{0};
  Atomic<uint64_t> mean_poll_cycles_{0};
  uint32_t turn_ms_ = 1;
  uint64_t busy_since_ = 0;
  uint64_t measured_since_ = 0;
  uint64_t measured_tick_ = 0;
  const std::unique_ptr<PollTimes> poll_times_;  // null: not asked for

  // Whether a thread runs the worker; then, while it is not idle, and if the
  // clock advances by itself, there is a hold.
  absl::Mutex clock_mu_;
  bool holds_clock_ ABSL_GUARDED_BY(clock_mu_) = false;
  std::unique_ptr<Clock::AutoAdvanceHold> clock_hold_
      ABSL_GUARDED_BY(clock_mu_);
};

// BlockingSection
//
// While it lives, the worker of this thread, if there is one, may be run by
// another, so that this thread may block. At its end this thread takes the
// worker back; if another runs it already, this thread ends its poll without a
// worker, and its `Run()` returns false.
class BlockingSection {
 public:
  BlockingSection();
  BlockingSection(const BlockingSection&) = delete;
  BlockingSection& operator=(const BlockingSection&) = delete;
  ~BlockingSection();

 private:
  const RunningHere may_block_;
  Worker* worker_;  // that was given away; or null
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_WORKER_H_

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
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/fast_rand.h"
#include "rouse/base/lock/adaptive_spin.h"
#include "rouse/scheduler/baton.h"
#include "rouse/scheduler/current_poll.h"
#include "rouse/scheduler/metrics.h"
#include "rouse/scheduler/parker.h"
#include "rouse/scheduler/poll_times.h"
#include "rouse/scheduler/queue/run_queues.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/scheduler/worker_clock.h"
#include "rouse/waker/runtime_scope.h"

namespace rouse::scheduler {

class Scheduler;

// Worker
//
// Occupies cache lines of its own, because it counts with every poll.
class alignas(ABSL_CACHELINE_SIZE) Worker {
 public:
  // REQUIRES: `scheduler` outlives the worker.
  Worker(Scheduler& scheduler, size_t index, FastRand rand);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs tasks until the scheduler is closed. Returns false if `BlockInPlace()`
  // has given the worker away to be run by another thread.
  //
  // REQUIRES: the caller has a reference to the scheduler during the call.
  bool Run() {
    return RunUntil([] { return false; });
  }

  // Like `Run()`, but also ends when `done()` returns true. `done()` is called
  // before every turn (a task from a queue, and the tasks from the LIFO slot
  // after it) and after every park.
  bool RunUntil(absl::FunctionRef<bool()> done);

  // Called by a `done()` that is about to return false, if something other than
  // a task has yielded. The worker treats this yield like a task's:
  // `IsYielding()` is true until the tasks waiting now have had their turn, and
  // the driver has been checked. The worker does not park in the meantime. If
  // `by_force`, because the budget is used up, the driver is checked only at
  // the usual intervals, as after polls of tasks.
  void BeginYield(bool by_force) {
    yield_turns_ = queues_.depth() + 1;
    yields_by_force_ = by_force;
  }
  void EndYield() { yield_turns_ = 0; }
  bool IsYielding() const { return yield_turns_ != 0; }

  // Unparks the worker. Can be called by any thread.
  void Unpark() { parker_.Unpark(); }

  // Returns the worker run by the calling thread, or null.
  static Worker* Current();

  Scheduler& scheduler() const { return scheduler_; }
  size_t index() const { return index_; }

  // ---- Being run by one thread after another. The first need not take over.

  // Lets the next thread that calls `TakeOver()` run the worker. The caller
  // must not access the worker afterwards.
  void Offer() { baton_.PutDown(); }
  // Takes over the worker if it was offered, and returns whether it was. The
  // worker is then the caller's to run. Can be called by any thread.
  bool TakeOver() { return baton_.TryTake(); }

  // ---- For the scheduler, on the worker's thread.

  // Takes a task that was woken or spawned.
  void Schedule(task::Header* task);
  // Takes a task that must run again after the others.
  void ScheduleLast(task::Header* task);

  // ---- For the scheduler, on any thread.

  // Keeps the driver's clock from auto-advancing until the worker is idle
  // again, so that the clock never does so while a task can run. (A task is
  // queued only if a worker is not idle, is taken from the idle workers, or is
  // dispatching.)
  void HoldClock() { clock_.Hold(); }

  // Returns a number that grows with each poll.
  uint64_t tick() const { return tick_.load(std::memory_order_relaxed); }
  // Returns a number that grows with each poll and each park.
  uint64_t progress() const {
    return tick() + parks_.load(std::memory_order_relaxed);
  }

  // Counts and reports a long poll. Called by the watchdog, which has found the
  // worker in the same poll at two checks. If there is an `on_long_poll` hook,
  // and the poll has not lasted for `at_least` yet or there is no poll, does
  // nothing and returns false.
  bool OnFoundInPoll(absl::Duration at_least);

  WorkerMetrics metrics() const;

 private:
  friend class BlockingSection;
  class Here;

  // Number of times in a row that the next task may come from the LIFO slot:
  // two tasks that wake each other must not keep all others from running (tokio
  // #5712).
  static constexpr int kMaxLifoPolls = 3;
  // A worker shares before each turn: a poll, and the polls from the LIFO slot
  // after it.
  static_assert(1 + kMaxLifoPolls < kPollsUntilShared);

  bool UsesSlot() const;
  task::Header* Next();
  // Returns whether it is time to check the global queue.
  bool IsGlobalDue();
  // Polls `task` and the tasks it wakes. The worker may have been given away
  // when the call returns.
  void Execute(task::Header* task, Here& here);
  void Poll(task::Header* task, Here& here);
  template <bool kIsObserved>
  void PollOnce(task::Header* task, Here& here);
  // Like `PollOnce()`, for a scheduler with an observer of each poll.
  ABSL_ATTRIBUTE_NOINLINE void PollObserved(task::Header* task, Here& here);
  // Reports `task` after a long poll.
  void ReportLongPoll(task::Header* task, absl::Duration duration);
  // Waits until there may be something to do.
  void Wait();
  // Searches for a short while. Returns whether there may be something to do
  // now.
  bool Spin();
  void Park();
  // Called after a park of `cycles` cycles. `woken` says whether another thread
  // has ended the park.
  void LearnToSpin(bool woken, uint64_t cycles);
  // Takes a task that has used up its budget. Like `ScheduleLast()`, but
  // without a check for events before the task runs again.
  void ScheduleForced(task::Header* task);
  // Puts `task` behind the others.
  void PushLast(task::Header* task);
  // Puts `task` where it runs soon.
  void PushSoon(task::Header* task);
  // Like `PushSoon()`, but for a task woken by the driver, or a task whose wait
  // is measured.
  ABSL_ATTRIBUTE_NOINLINE void ScheduleAside(task::Header* task);
  void BeginDispatching() { aside_ |= kDispatching; }
  void EndDispatching() { aside_ &= ~kDispatching; }
  // Ends a yield: the future that has yielded like a task comes next.
  void FinishYield();
  // Returns the number of polls of tasks, plus the number of polls of anything
  // else before which the driver was not checked (after forced yields).
  uint64_t PollsToMaintain() const { return tick() + ends_of_forced_yields_; }
  // Does the periodic work between polls.
  void Maintain();
  // Checks the driver for events, unless another worker does. Returns whether
  // it has checked.
  bool PollDriver();
  // Checks for events before a poll of `task`, which has yielded. Returns false
  // if the events have woken tasks, which come first; `task` is in the queue
  // again.
  ABSL_ATTRIBUTE_NOINLINE bool LookBefore(task::Header* task);
  void CountLook() {
    if (++looks_ == 0) looks_ = 1;
  }
  // Lets others have some of the tasks woken by the driver.
  void AfterDispatch();
  void StartMeasuring();
  void MeasurePolls();

  Scheduler& scheduler_;
  const size_t index_;
  RunQueues<task::Header, Scheduler>::Own queues_;
  FastRand rand_;
  Parker parker_;
  const bool may_spin_;
  Baton baton_;

  // Reasons why tasks are not just pushed. `kDispatching`: the thread is in the
  // driver, waking the waiters of due events, and will check for tasks
  // afterwards. `kMarkingTime`: the time that tasks wait is measured.
  static constexpr unsigned kDispatching = 1;
  static constexpr unsigned kMarkingTime = 2;
  unsigned aside_;
  int lifo_polls_ = 0;
  // When the worker last checked for events, as a value of `PollsToMaintain()`,
  // and the global queue, as a value of `tick_`.
  uint64_t last_maintained_ = 0;
  uint64_t last_global_ = 0;
  // Value of `tick_` when the worker last parked.
  uint64_t tick_at_park_ = UINT64_MAX;
  // Number that grows with each check for events, and is not 0. A task that
  // yields is marked with this number: if the two are equal, there has been no
  // check since.
  uint16_t looks_ = 1;
  // Number of turns, at most, until `IsYielding()` ends.
  size_t yield_turns_ = 0;
  bool yields_by_force_ = false;
  uint64_t ends_of_forced_yields_ = 0;
  // True if the latest task came from the global queue because a check was due.
  bool came_from_global_ = false;
  // Number of polls, or of cycles, after which the worker checks the global
  // queue.
  const uint32_t global_interval_;
  const uint64_t global_period_;
  uint64_t last_global_cycles_ = 0;
  uint32_t turns_ = 0;
  bool has_long_polls_ = false;  // recently
  AdaptiveSpin spin_;
  bool spun_in_vain_ = false;  // before the latest park
  uint64_t last_events_ = 0;   // when it last checked for events before a spin

  // Counts, written only by the worker, read by any thread, and all relaxed,
  // since they order nothing. From the first two, other threads guess whether
  // the worker is stuck in a poll: searching workers, in
  // RunQueues::RescueIfStuck(), and the watchdog. A thread that reads an old
  // value may take a worker for stuck by mistake, or overlook a stuck worker.
  // In the first case the worker's tasks are taken by way of a lock; in the
  // second, the next check finds the worker. Therefore neither count is a
  // protocol.
  Atomic<uint64_t> tick_{0};
  std::atomic<uint64_t> parks_{0};
  // The other counts are for metrics. The model checker need not follow them.
  std::atomic<uint64_t> noop_parks_{0};
  std::atomic<uint64_t> forced_yields_{0};
  std::atomic<uint64_t> busy_cycles_{0};
  std::atomic<uint64_t> mean_poll_cycles_{0};
  uint32_t turn_ms_ = 1;
  uint64_t busy_since_ = 0;
  uint64_t measured_since_ = 0;
  uint64_t measured_tick_ = 0;
  // Null if not asked for.
  const std::unique_ptr<PollTimes> poll_times_;
  const std::unique_ptr<PollTimes> schedule_latencies_;
  // Null if long polls are not reported.
  const std::unique_ptr<CurrentPoll> current_poll_;
  // Also written by the watchdog.
  std::atomic<uint64_t> long_polls_{0};

  WorkerClock clock_;
};

// BlockingSection
//
// Allows the calling thread to block: while the section exists, another thread
// may run the calling thread's worker, if any. At the end of the section, the
// calling thread takes the worker back, unless another thread already runs the
// worker. In that case the calling thread ends its poll without a worker, and
// its `Run()` returns false.
class BlockingSection {
 public:
  BlockingSection();
  BlockingSection(const BlockingSection&) = delete;
  BlockingSection& operator=(const BlockingSection&) = delete;
  ~BlockingSection();

 private:
  const internal::RuntimeScope may_block_;
  Worker* worker_;  // the worker given away, or null
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_WORKER_H_

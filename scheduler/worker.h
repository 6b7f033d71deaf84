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

  // For `done()`, if it is not: something that is not a task has yielded. It is
  // in the place of a task that has: until the tasks that wait now have had
  // their turn, and the driver has been asked, `IsYielding()`. The worker does
  // not park meanwhile. If it yields `by_force`, since its budget is used up,
  // the driver is only asked every so often, as after polls of tasks.
  void BeginYield(bool by_force) {
    yield_turns_ = queues_.depth() + 1;
    yields_by_force_ = by_force;
  }
  void EndYield() { yield_turns_ = 0; }
  bool IsYielding() const { return yield_turns_ != 0; }

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
  void HoldClock() { clock_.Hold(); }

  // Grows with each poll.
  uint64_t tick() const { return tick_.load(std::memory_order_relaxed); }
  // Grows with each poll and each park.
  uint64_t progress() const {
    return tick() + parks_.load(std::memory_order_relaxed);
  }

  // By the watchdog, which has found the worker in the same poll at two looks:
  // counts that, and reports it. False if somebody is to be told, and the poll
  // has not lasted for `at_least` yet, or there is none.
  bool OnFoundInPoll(absl::Duration at_least);

  WorkerMetrics metrics() const;

 private:
  friend class BlockingSection;
  class Here;

  // How often in a row the next task may come from the slot: two tasks that
  // wake each other must not keep all others from running (tokio #5712).
  static constexpr int kMaxLifoPolls = 3;
  // It shares before each turn: a poll, and what then comes by the slot.
  static_assert(1 + kMaxLifoPolls < kPollsUntilShared);

  bool UsesSlot() const;
  task::Header* Next();
  // Whether it is time to look into the shared queue.
  bool IsGlobalDue();
  // Polls `task`, and what it wakes. The worker may be gone when it returns.
  void Execute(task::Header* task, Here& here);
  void Poll(task::Header* task, Here& here);
  template <bool kIsObserved>
  void PollOnce(task::Header* task, Here& here);
  // The same, where somebody wants to know of each poll.
  ABSL_ATTRIBUTE_NOINLINE void PollObserved(task::Header* task, Here& here);
  // After a poll that was long.
  void ReportLongPoll(task::Header* task, absl::Duration duration);
  // There is nothing to do: returns when there may be.
  void Wait();
  // Looks for a short while. Whether there may be something to do now.
  bool Spin();
  void Park();
  // After a park of so many cycles, which another thread may have ended.
  void LearnToSpin(bool woken, uint64_t cycles);
  // Takes a task that has used up its budget: as `ScheduleLast()`, but without
  // a look for events before it runs again.
  void ScheduleForced(task::Header* task);
  // Puts `task` behind the others.
  void PushLast(task::Header* task);
  // Puts a task where it runs soon.
  void PushSoon(task::Header* task);
  // The same for one that was woken from the driver, or is to know when.
  ABSL_ATTRIBUTE_NOINLINE void ScheduleAside(task::Header* task);
  void BeginDispatching() { aside_ |= kDispatching; }
  void EndDispatching() { aside_ &= ~kDispatching; }
  // What was in the place of a task that has yielded comes next.
  void FinishYield();
  // How many polls there were, those of what is no task included where the
  // driver was not asked for them.
  uint64_t PollsToMaintain() const { return tick() + ends_of_forced_yields_; }
  // Between polls, every so often.
  void Maintain();
  // Returns whether it has looked: not while another worker does.
  bool PollDriver();
  // Looks for events before `task` is polled, which has yielded. False: what
  // they have woken comes first, and the task is in the queue again.
  ABSL_ATTRIBUTE_NOINLINE bool LookBefore(task::Header* task);
  void CountLook() {
    if (++looks_ == 0) looks_ = 1;
  }
  // The driver has woken tasks: others may have some.
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

  // Why tasks are not just pushed: the thread is in the driver, waking what is
  // due, and will look for tasks afterwards; somebody wants to know how long
  // they wait.
  static constexpr unsigned kDispatching = 1;
  static constexpr unsigned kMarkingTime = 2;
  unsigned aside_;
  int lifo_polls_ = 0;
  // When it last looked for events, by `PollsToMaintain()`, and into the shared
  // queue, by `tick_`.
  uint64_t last_maintained_ = 0;
  uint64_t last_global_ = 0;
  // When it last parked.
  uint64_t tick_at_park_ = UINT64_MAX;
  // Grows with each look for events, and is not 0. A task that yields is marked
  // with it, and there has been no look since where the two are the same.
  uint16_t looks_ = 1;
  // How many turns, at the most, until `IsYielding()` ends.
  size_t yield_turns_ = 0;
  bool yields_by_force_ = false;
  uint64_t ends_of_forced_yields_ = 0;
  bool came_from_global_ = false;  // the latest task, because it was time to
  // How often it looks into the shared queue: after so many polls, or so many
  // cycles.
  const uint32_t global_interval_;
  const uint64_t global_period_;
  uint64_t last_global_cycles_ = 0;
  uint32_t turns_ = 0;
  bool has_long_polls_ = false;  // of late
  AdaptiveSpin spin_;
  bool spun_in_vain_ = false;  // before the latest park
  uint64_t last_events_ = 0;   // when it last asked for them before a spin

  // Counts: written by the worker alone, read by any thread, and all relaxed,
  // since they order nothing. From the first two others guess that the worker
  // is stuck in a poll: who searches, in RunQueues::RescueIfStuck(), and the
  // watchdog. Whoever reads an old value takes a worker for stuck that is not,
  // or the other way round. In the first case its tasks are taken by way of a
  // lock, in the second the next look finds it. So neither is a protocol.
  Atomic<uint64_t> tick_{0};
  std::atomic<uint64_t> parks_{0};
  // The rest are for metrics, and no business of the model checker's.
  std::atomic<uint64_t> noop_parks_{0};
  std::atomic<uint64_t> forced_yields_{0};
  std::atomic<uint64_t> busy_cycles_{0};
  std::atomic<uint64_t> mean_poll_cycles_{0};
  uint32_t turn_ms_ = 1;
  uint64_t busy_since_ = 0;
  uint64_t measured_since_ = 0;
  uint64_t measured_tick_ = 0;
  // Null: not asked for.
  const std::unique_ptr<PollTimes> poll_times_;
  const std::unique_ptr<PollTimes> schedule_latencies_;
  // Null: nobody wants to know of long polls.
  const std::unique_ptr<CurrentPoll> current_poll_;
  // By the watchdog, too.
  std::atomic<uint64_t> long_polls_{0};

  WorkerClock clock_;
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
  const internal::RuntimeScope may_block_;
  Worker* worker_;  // that was given away; or null
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_WORKER_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: worker.h
// -----------------------------------------------------------------------------
//
// A worker takes tasks from its scheduler and polls them, on one thread at a
// time. Internal to the scheduler and the runtime.
//
// # How a scheduler works
//
//  1. Start. `Scheduler`'s constructor makes the workers. `Watchdog::Start()`
//     starts the watchdog, if any. A thread calls `Worker::Run()` for each
//     worker.
//  2. Loop. `Worker::RunUntil()` repeats steps 3 to 7 until the scheduler is
//     closed, or its caller's condition holds.
//  3. Check for events. Every `Options::event_interval` polls, `Check()` checks
//     the driver, which wakes the tasks that wait for due events.
//     `CheckBefore()` does so before the poll of a task that has yielded.
//  4. Take a task. `Check()` tries the global queue if `GlobalQueueCheck` says
//     so; then `Next()` tries the LIFO slot, then the worker's own queues.
//  5. Steal. If these are empty, `Next()` calls `RunQueues::Own::Steal()`. It
//     takes half of another worker's stealable queue, or tasks from the global
//     queue, or the private tasks of a worker stuck in a poll.
//  6. Share and poll. `RunQueues::Own::Share()` moves tasks to where others can
//     steal them, if another worker has nothing to do. `Execute()` polls the
//     task, and the tasks that come to the LIFO slot. `Schedule()` queues the
//     tasks that a poll wakes or spawns.
//  7. Park. Without a task, `Wait()` first spins (`Spin()`) if spins have found
//     tasks recently, then parks (`Park()`): `RunQueues::Own::Sleep()`
//     registers the worker as asleep unless a queue has a task,
//     `WorkerClock::Release()` lets an auto-advancing clock advance, and
//     `Parker::Park()` blocks, in the driver if no other worker does.
//  8. Wake. A thread that queues a task calls `Scheduler::UnparkWorker()` for a
//     sleeping worker that `Idle` chooses. The worker searches, from step 3 on.
//  9. Hand over. In a `BlockInPlace()`, `BlockingSection` gives the tasks to
//     others (`RunQueues::Own::GiveUp()`) and offers the worker (`Offer()`). A
//     replacement thread takes the worker over (`TakeOver()`) and runs it.
//     In the loop of another library, a current-thread runtime's worker leaves
//     after each turn, and sleeps from `BeginWait()` until it is run again.
// 10. Shut down. `Scheduler::Close()` closes the queues and wakes all workers.
//     Each leaves `RunUntil()` after its current poll. Its thread calls
//     `Scheduler::CancelTasks()`, and the last thread `Scheduler::Finish()`.

#ifndef ROUSE_SCHEDULER_WORKER_H_
#define ROUSE_SCHEDULER_WORKER_H_

#include <cstddef>
#include <cstdint>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/fast_rand.h"
#include "rouse/scheduler/busy_meter.h"
#include "rouse/scheduler/event_check.h"
#include "rouse/scheduler/global_queue_check.h"
#include "rouse/scheduler/main_yield.h"
#include "rouse/scheduler/metrics.h"
#include "rouse/scheduler/parker.h"
#include "rouse/scheduler/poll_observer.h"
#include "rouse/scheduler/queue/run_queues.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/scheduler/try_lock.h"
#include "rouse/scheduler/worker_clock.h"
#include "rouse/scheduler/worker_counts.h"
#include "rouse/scheduler/worker_spin.h"
#include "rouse/waker/runtime_scope.h"

namespace rouse::internal {
class ForkStack;
}  // namespace rouse::internal

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
    return RunUntil([] { return false; }, kNever);
  }

  // Like `Run()`, but also ends when `done()` returns true. `done()` is called
  // before the first turn (a task from a queue, and the tasks from the LIFO
  // slot after it), after the end of each yield begun by `BeginYield()`, and
  // before every turn and after every park if `due` is true.
  bool RunUntil(absl::FunctionRef<bool()> done, const Atomic<bool>& due);
  // Calls `done()` before every turn and after every park.
  bool RunUntil(absl::FunctionRef<bool()> done) {
    return RunUntil(done, kAlways);
  }

  // Called by a `done()` that is about to return false, if something other than
  // a task has yielded. The worker treats this yield like a task's:
  // `IsYielding()` is true until the tasks waiting now have had their turn, and
  // the driver has been checked. The worker does not park in the meantime. If
  // `by_force`, because the budget is used up, the driver is checked only at
  // the usual intervals, as after polls of tasks.
  void BeginYield(bool by_force) {
    main_yield_.Begin(queues_.depth() + 1, by_force);
  }
  void EndYield() { main_yield_.Cancel(); }
  bool IsYielding() const { return main_yield_.IsInProgress(); }

  // Puts the worker, which no thread runs, to sleep in an event loop other than
  // the driver, and returns how long the loop may wait at most; zero if the
  // worker has something to do. Until the worker is run again, an unpark of the
  // worker makes the driver's descriptor readable.
  //
  // REQUIRES: the scheduler has no other worker.
  absl::Duration BeginWait();
  // Returns whether the worker has begun to wait, and was not run since.
  bool IsWaiting() const { return is_waiting_; }
  // Returns whether the worker has a task to run.
  bool HasTasks() const;
  // Checks for events, unless another worker does. Must be called by a `done()`
  // of `RunUntil()`.
  void CheckForEvents() { PollDriver(); }

  // Unparks the worker. Can be called by any thread.
  void Unpark() { parker_.Unpark(); }

  // Returns the worker run by the calling thread, or null.
  static Worker* Current();
  // Returns the forks in the polls of the calling thread, or null if the thread
  // runs no worker.
  static internal::ForkStack* CurrentForks();
  // Returns null also if no further fork should begin inside these, or if the
  // thread has no ample room on its stack. One function, because a fork's first
  // poll is inlined into coroutines and must not inline an access to a
  // thread-local variable.
  static internal::ForkStack* CurrentForksIfRoom();

  Scheduler& scheduler() const { return scheduler_; }
  size_t index() const { return index_; }

  // ---- Being run by one thread after another. The first need not take over.

  // Lets the next thread that calls `TakeOver()` run the worker. The caller
  // must not access the worker afterwards.
  void Offer() { run_lock_.Release(); }
  // Takes over the worker if it was offered, and returns whether it was. The
  // worker is then the caller's to run. Can be called by any thread.
  bool TakeOver() { return run_lock_.TryAcquire(); }

  // ---- For the scheduler, on the worker's thread.

  // Takes a task that was woken or spawned.
  void Schedule(task::Header* task);
  // Takes a task that must run again after the others.
  ABSL_ATTRIBUTE_ALWAYS_INLINE inline void ScheduleLast(task::Header* task);
  // Takes a task that other workers must be able to steal at once.
  void ScheduleForOthers(task::Header* task);

  // ---- For the scheduler, on any thread.

  // Keeps the driver's clock from auto-advancing until the worker is idle
  // again, so that the clock never does so while a task can run. (A task is
  // queued only if a worker is not idle, is taken from the idle workers, or is
  // dispatching.)
  void HoldClock() { clock_.Hold(); }

  // Returns a number that grows with each poll.
  uint64_t tick() const { return counts_.polls(); }
  // Returns a number that grows with each poll and each park.
  uint64_t progress() const { return counts_.polls() + counts_.parks(); }

  // Counts and reports a long poll. Called by the watchdog, which has found the
  // worker in the same poll at two checks. If there is an `on_long_poll` hook,
  // and the poll has not lasted for `at_least` yet or there is no poll, does
  // nothing and returns false.
  bool OnFoundInPoll(absl::Duration at_least);

  WorkerMetrics metrics() const;

 private:
  friend class BlockingSection;
  friend class Scheduler;
  class Here;

  // Number of times in a row that the next task may come from the LIFO slot:
  // two tasks that wake each other must not keep all others from running (tokio
  // #5712).
  static constexpr int kMaxLifoPolls = 3;
  // A worker shares before each turn: a poll, and the polls from the LIFO slot
  // after it.
  static_assert(1 + kMaxLifoPolls < kPollsUntilShared);

  static const Atomic<bool> kNever;
  static const Atomic<bool> kAlways;

  bool UsesSlot() const;
  // Does the periodic work between polls. Returns a task of the global queue,
  // or null. Sets `next_check_`.
  ABSL_ATTRIBUTE_NOINLINE task::Header* Check();
  // The following functions are parts of the loop of `RunUntil()`.
  ABSL_ATTRIBUTE_ALWAYS_INLINE inline task::Header* Next();
  // Polls `task` and the tasks it wakes. Returns false if the worker was given
  // away.
  ABSL_ATTRIBUTE_ALWAYS_INLINE inline bool Execute(task::Header* task,
                                                   Here& here);
  ABSL_ATTRIBUTE_ALWAYS_INLINE inline void Poll(task::Header* task, Here& here);
  template <bool kIsObserved>
  ABSL_ATTRIBUTE_ALWAYS_INLINE inline void PollOnce(task::Header* task,
                                                    Here& here);
  // Schedules `task` again after a poll that has yielded.
  template <bool kIsObserved>
  ABSL_ATTRIBUTE_NOINLINE void AfterYield(task::Header* task, task::Ran ran,
                                          Here& here);
  // Like `PollOnce()`, for a scheduler with an observer of each poll.
  ABSL_ATTRIBUTE_NOINLINE void PollObserved(task::Header* task, Here& here);
  // Waits until there may be something to do.
  void Wait();
  // Searches for a short while. Returns whether there may be something to do
  // now.
  bool Spin();
  void Park();
  // Ends the wait begun by `BeginWait()`, and checks for events.
  void EndWait();
  // Called after a park of `cycles` cycles.
  void LearnToSpin(uint64_t cycles);
  // Puts `task` behind the others, with a mark: before the task runs again,
  // the worker checks for events unless it has done so since the check with the
  // number `yielded_at`.
  ABSL_ATTRIBUTE_ALWAYS_INLINE inline void PushLast(task::Header* task,
                                                    uint16_t yielded_at);
  // Puts `task` where it runs soon. Not inlined, so that a task woken by the
  // driver does not pay for it.
  ABSL_ATTRIBUTE_NOINLINE void PushSoon(task::Header* task);
  void BeginDispatching() { aside_ |= kDispatching; }
  void EndDispatching() { aside_ &= ~kDispatching; }
  // Prepares the worker for the first task that is queued in the driver.
  void BeforeDispatched();
  // Takes a task woken by the driver.
  void ScheduleDispatched(task::Header* task);
  // Marks the worker, which sleeps, as awake. Called after a park or, in the
  // driver, before the first task is queued: others pass over the queues of a
  // worker that sleeps, and the driver may take long.
  void EndSleep();
  // Ends a yield: the future that has yielded like a task comes next.
  void FinishYield();
  // Returns the number of polls of tasks, plus the number of polls of anything
  // else before which the driver was not checked (after forced yields).
  uint64_t PollsToMaintain() const { return tick() + main_yield_.forced(); }
  // Does the part of the periodic work that concerns events.
  void Maintain();
  // Checks the driver for events, unless another worker does. Returns whether
  // it has checked.
  bool PollDriver();
  // Checks for events before a poll of `task`, which has yielded. Returns false
  // if the events have woken tasks, which come first; `task` is in the queue
  // again.
  ABSL_ATTRIBUTE_NOINLINE bool CheckBefore(task::Header* task);
  // Lets others have some of the tasks woken by the driver.
  void AfterDispatch();
  void StartMeasuring();
  void MeasurePolls();

  Scheduler& scheduler_;
  const size_t index_;
  RunQueues<task::Header, Scheduler>::Own queues_;
  FastRand rand_;
  Parker parker_;
  // Held by the thread that runs the worker; free if the worker is on offer.
  TryLock run_lock_;

  // Reasons why tasks are not just pushed. `kDispatching`: the thread is in the
  // driver, waking the waiters of due events, and will check for tasks
  // afterwards. `kSleeping`: the worker is marked as asleep. `kMarkingTime`:
  // the time that tasks wait is measured.
  static constexpr unsigned kDispatching = 1;
  static constexpr unsigned kMarkingTime = 2;
  static constexpr unsigned kSleeping = 4;
  unsigned aside_;

  // Written with each poll or each turn, and therefore close together.
  int lifo_polls_ = 0;
  // `Check()` has nothing to do before `tick()` is this.
  uint64_t next_check_ = 0;

  EventCheck event_check_;
  GlobalQueueCheck global_check_;
  MainYield main_yield_;
  WorkerCounts counts_;

  // Written less often.
  bool is_waiting_ = false;  // from `BeginWait()` to `EndWait()`
  bool was_woken_ = false;   // whether another thread ended the latest sleep
  BusyMeter meter_;
  WorkerSpin spin_;
  PollObserver observer_;
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

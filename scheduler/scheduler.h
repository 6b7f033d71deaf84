// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: scheduler.h
// -----------------------------------------------------------------------------
//
// A scheduler decides which task runs next, and where. Programs use it through
// `Runtime` and `Spawn()`; who embeds Rouse elsewhere may build on this, as
// docs/park_stack.md does.
//
// Each worker has a run queue of its own, from which the others steal when they
// have nothing to do (run_queues.h says which task comes next, and idle.h who
// is woken for it). One worker at a time parks in the driver, the others on
// futexes (parker.h). A worker that is stuck in a long poll is stood in for by
// others (watchdog.h).
//
// # The end
//
//   Close()      no task is polled any more, and the workers leave. Tasks that
//                are spawned are not run from now on; those from outside are
//                cancelled at once, on the thread that spawns them.
//   CancelTasks()each worker's thread, when it has left: destroys tasks, all of
//                them beside one another. What is spawned now is cancelled at
//                once. A task that a thread is still polling, in
//                `BlockInPlace()`, is cancelled by that thread.
//   Finish()     the last one: what is still in the queues goes.
//
// Who is to be told that a task goes is told in each of these: none waits for
// another, and what comes late finds the queues closed, or all tasks complete.

#ifndef ROUSE_SCHEDULER_SCHEDULER_H_
#define ROUSE_SCHEDULER_SCHEDULER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/lock/adaptive_spin.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/future.h"
#include "rouse/scheduler/awake_bell.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/metrics.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/queue/run_queues.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/owned_tasks.h"
#include "rouse/scheduler/task/spawn_options.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/scheduler/task_dump.h"
#include "rouse/waker/task_id.h"

namespace rouse::scheduler {

class Worker;

// Scheduler
//
// Shared by its runtime and its handles. Whoever drops the last reference has
// seen to its end before: see above. Thread-safe.
class Scheduler final : public task::Schedule {
 public:
  using Queues = RunQueues<task::Header, Scheduler>;

  // Starts with one reference, the caller's. Its workers are there and run
  // nothing until a thread calls `Worker::Run()`.
  explicit Scheduler(std::unique_ptr<AnyDriver> driver, Options options = {});
  ~Scheduler() override;

  // Makes a task of `f`, which is a future or a callable that returns one.
  // After the scheduler has been closed it is not run, and is cancelled. The
  // caller's reference lasts until the call returns, even if the task has ended
  // before that.
  // `where` is the place that a list of tasks gives.
  template <class F>
  auto Spawn(F&& f, const SpawnOptions& options = {},
             std::source_location where = std::source_location::current()) {
    task::CheckSpawnable<F>();
    using Future = internal::FutureFrom<std::decay_t<F>>;
    auto* task = new task::Cell<Future>(this, task::NextTaskId(),
                                        std::forward<F>(f), options, where);
    JoinHandle<FutureOutput<Future>> handle(task);
    Adopt(task);
    return handle;
  }

  SharedDriver& driver() { return driver_; }
  const Options& options() const { return options_; }

  size_t worker_count() const { return workers_.size(); }
  Worker& worker(size_t index) { return *workers_[index]; }

  // How many tasks have not ended. O(workers).
  size_t alive_tasks() const;
  Metrics metrics() const;

  // ---- The end: see above.

  void Close();
  bool IsClosed() const { return queues_.IsClosed(); }
  // Whether an exception did it: see `UnhandledException`.
  bool IsClosedByException() const {
    // Acquire pairs with the release of Threw.
    return closed_by_exception_.load(std::memory_order_acquire);
  }
  // Which task ended with which one; empty if none did.
  std::string ClosedByException() const;
  // To be called after `Close()`, on a thread that tasks may be destroyed on,
  // for each worker that has been run, when no thread runs it any more; at
  // least once. The calls share the work.
  void CancelTasks(size_t worker);
  // To be called once, when no worker runs, after all `CancelTasks()`. What a
  // joiner's waker throws is passed on when all is done.
  void Finish();
  // Both, for a scheduler whose workers are not run any more.
  void CancelAll() {
    CancelTasks(0);
    Finish();
  }

  // ---- For workers, and the watchdog.

  Queues& queues() { return queues_; }
  const Queues& queues() const { return queues_; }
  // Whether somebody wants to know of each poll.
  bool observes_polls() const { return observes_polls_; }
  // Whether tasks are to know since when they wait.
  bool marks_time() const { return options_.schedule_latency_histogram; }
  // Whether there is a watchdog, which has tasks run that a worker keeps to
  // itself for too long.
  bool is_watched() const {
    return options_.long_poll_bound != absl::InfiniteDuration();
  }
  double cycles_per_nanosecond() const { return cycles_per_nanosecond_; }
  // What tasks are told of the time: not 0, and modulo 2^32.
  uint32_t ToMilliseconds(uint64_t cycles) const {
    const auto ms = static_cast<uint32_t>(cycles / cycles_per_millisecond_);
    return ms != 0 ? ms : 1;
  }

  // All tasks, with what they wait for: see task_dump.h.
  TaskDump Dump();

  // Rung when a worker has been parked and is awake again.
  AwakeBell& awake_bell() { return awake_bell_; }

  // ---- For the queues.

  void UnparkWorker(size_t worker);
  uint64_t PollsBegun(size_t worker) const;
  template <class Ready>
  bool AwaitBriefly(Ready ready) const {
    return SpinFor(long_poll_cycles_, ready);
  }
  void Discard(task::Header* task);
  task::OwnedTasks::Adder AdderFor(size_t worker) { return {tasks_, worker}; }

  // task::Schedule:
  void Submit(task::Header* task) override;
  void Resubmit(task::Header* task) override;
  bool Release(task::Header* task) override;
  void Threw(task::Header* task, const std::exception_ptr& exception) override;
  void Unhandled(task::Header* task,
                 const std::exception_ptr& exception) override;

 private:
  // Takes over a new task, with the references of the list and the queue.
  // What comes from outside is put into the list when a worker takes it from
  // the queue, so that those who spawn there do not meet with the workers.
  void Adopt(task::Header* task);

  // The task has been spawned: tells the hook, and has the task know when.
  void ObserveSpawn(task::Header* task);

  // The worker of this thread, if it is one of this scheduler's.
  Worker* WorkerHere();

  // For a task from another thread than a worker's.
  void SubmitFromOutside(task::Header* task);

  // Calls `f()`, and keeps a clock that advances by itself where it is
  // meanwhile: a task that can run is on its way to a worker.
  template <class F>
  std::invoke_result_t<F&> HoldingClock(F f);

  const Options options_;
  const bool observes_polls_;
  const bool observes_spawns_;
  const double cycles_per_nanosecond_;
  const uint64_t cycles_per_millisecond_;
  // As long as a poll after which others take what its worker keeps to itself.
  const uint64_t long_poll_cycles_;
  SharedDriver driver_;
  Queues queues_;
  // As long-lived as the scheduler: a thread that submits a task may unpark a
  // worker that has just left.
  std::vector<std::unique_ptr<Worker>> workers_;
  task::OwnedTasks tasks_;
  // How many tasks were discarded that had never been put into the list.
  Atomic<size_t> discarded_new_{0};
  Atomic<bool> closed_by_exception_{false};
  mutable absl::Mutex closed_by_mu_;
  std::string closed_by_ ABSL_GUARDED_BY(closed_by_mu_);
  bool finished_ = false;
  AwakeBell awake_bell_;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_SCHEDULER_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: scheduler.h
// -----------------------------------------------------------------------------
//
// A scheduler decides which task runs next, and where. Programs use it through
// `Runtime` and `Spawn()`. To embed Rouse elsewhere, build on `Scheduler`, as
// docs/internals/park_stack.md does.
//
// Each worker has queues of its own. Workers without work steal from the
// stealable queues of the others. (run_queues.h explains the order of tasks,
// and idle.h the choice of the worker to wake.) One worker at a time parks in
// the driver, the others on futexes (parker.h). If a worker is stuck in a long
// poll, others do its work (watchdog.h).
//
// # The end
//
//   Close()        No task is polled any more, and the workers leave. Tasks
//                  spawned from now on are not run; tasks from outside are
//                  cancelled at once, on the thread that spawns them.
//   CancelTasks()  Called by each worker's thread after leaving the worker:
//                  destroys tasks, concurrently with the other threads. Tasks
//                  spawned now are cancelled at once. A task that a thread is
//                  still polling, in `BlockInPlace()`, is cancelled by that
//                  thread.
//   Finish()       Called by the last thread: discards the tasks still in
//                  queues.
//
// The waiters of a task are notified in the step that ends the task. None of
// these functions waits for another to return. A late spawn or wake finds the
// queues closed, or all tasks complete.

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

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/lock/adaptive_spin.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/future.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/event_count.h"
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
// Shared by its runtime and its handles. The last reference may be dropped only
// after the end described above. Thread-safe.
class Scheduler final : public task::Schedule {
 public:
  using Queues = RunQueues<task::Header, Scheduler>;

  // Creates a scheduler with one reference, owned by the caller. The workers
  // exist, but run nothing until a thread calls `Worker::Run()`.
  explicit Scheduler(std::unique_ptr<AnyDriver> driver, Options options = {});
  ~Scheduler() override;

  // Makes a task of `f`, a future or a callable returning a future. If the
  // scheduler has been closed, the task is not run, but cancelled. `where` is
  // the place shown by a list of tasks.
  //
  // REQUIRES: the caller's reference to the scheduler lasts until the call
  // returns, even if the task has ended by then.
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

  // Like `Spawn()`, but nobody joins the task, and other workers can take the
  // task at once, even if the calling thread's worker does not return from its
  // poll for long.
  template <Future F>
  void SpawnForOthers(F f) {
    auto* task = new task::Cell<F>(this, task::NextTaskId(), std::move(f));
    const JoinHandle<FutureOutput<F>> handle(task);
    AdoptForOthers(task);
  }

  // Returns the driver, and the options given to the constructor.
  SharedDriver& driver() { return driver_; }
  const Options& options() const { return options_; }

  // Returns the number of workers, or one of the workers.
  size_t worker_count() const { return workers_.size(); }
  Worker& worker(size_t index) { return *workers_[index]; }

  // Returns the number of tasks that have not ended. Costs O(workers).
  size_t alive_tasks() const;
  // Returns the counters so far, and the state of the queues now.
  Metrics metrics() const;

  // ---- The end: see above.

  // Closes the scheduler, or returns whether the scheduler has been closed.
  void Close();
  bool IsClosed() const { return queues_.IsClosed(); }
  // Returns whether an exception closed the scheduler: see
  // `UnhandledException`.
  bool IsClosedByException() const {
    // Acquire pairs with the release of Threw.
    return closed_by_exception_.load(std::memory_order_acquire);
  }
  // Returns which task ended with which exception; empty if none did.
  std::string ClosedByException() const;
  // Cancels tasks. Must be called at least once: after `Close()`, for each
  // worker that has been run, when no thread runs the worker any more, and on a
  // thread allowed to destroy tasks. The calls share the work.
  void CancelTasks(size_t worker);
  // Discards the remaining tasks. Must be called once, when no worker runs,
  // after all calls of `CancelTasks()`. An exception of a joiner's waker is
  // rethrown when everything is done.
  void Finish();
  // Calls `CancelTasks()` and `Finish()`, for a scheduler whose workers are no
  // longer run.
  void CancelAll() {
    CancelTasks(0);
    Finish();
  }

  // ---- For workers, and the watchdog.

  // Returns the run queues.
  Queues& queues() { return queues_; }
  const Queues& queues() const { return queues_; }
  // Returns whether something observes each poll.
  bool observes_polls() const { return observes_polls_; }
  // Returns whether tasks must record the beginning of each wait.
  bool marks_time() const { return options_.schedule_latency_histogram; }
  // Returns whether a watchdog makes others run tasks kept private by a worker
  // for too long. (Also true for a current-thread runtime with a finite bound.
  // It has no watchdog, but its only worker shares no tasks anyway.)
  bool is_watched() const { return is_watched_; }
  double cycles_per_nanosecond() const { return cycles_per_nanosecond_; }
  uint64_t ToCycles(absl::Duration d) const {
    return static_cast<uint64_t>(absl::ToDoubleNanoseconds(d) *
                                 cycles_per_nanosecond_);
  }
  // Returns the time in the form given to tasks: in milliseconds, not 0, and
  // modulo 2^32.
  uint32_t ToMilliseconds(uint64_t cycles) const {
    const auto ms = static_cast<uint32_t>(cycles / cycles_per_millisecond_);
    return ms != 0 ? ms : 1;
  }

  // Returns all tasks, and where each of them waits: see task_dump.h.
  TaskDump Dump();

  // Returns the event count on which the watchdog waits. Notified by a worker
  // that is awake again after a park, and by a thread that wakes a worker.
  EventCount& awake_event() { return awake_event_; }

  // ---- For the queues.

  // Wakes a worker if the worker is parked. The worker must no longer be marked
  // as asleep: no other call would wake it, so this one needs no memory, and
  // does not throw.
  void UnparkWorker(size_t worker);
  // Returns the number of polls that a worker has begun.
  uint64_t PollsBegun(size_t worker) const;
  // Spins until `ready()` returns true, or for at most the delay of a rescue.
  // Returns whether `ready()` returned true.
  template <class Ready>
  bool AwaitBriefly(Ready ready) const {
    return SpinFor(rescue_delay_cycles_, ready);
  }
  // Drops a task that was taken from a queue and will not run.
  void Discard(task::Header* task);
  // Returns the way to add tasks to the list of a worker's tasks.
  task::OwnedTasks::Adder AdderFor(size_t worker) { return {tasks_, worker}; }

  // task::Schedule. Never inlined into a coroutine, because they find the
  // thread's worker.
  ABSL_ATTRIBUTE_NOINLINE void Submit(task::Header* task) override;
  ABSL_ATTRIBUTE_NOINLINE void Resubmit(task::Header* task) override;
  ABSL_ATTRIBUTE_NOINLINE bool Release(task::Header* task) override;
  void Threw(task::Header* task, const std::exception_ptr& exception) override;
  void Unhandled(task::Header* task,
                 const std::exception_ptr& exception) override;

 private:
  // Takes over a new task, with the references of the list and of the queue. A
  // task from outside enters the list only when taken from the queue by a
  // worker, so that threads spawning outside do not contend with the workers.
  // Not inlined, like `Release()`, because it finds the thread's worker: a
  // coroutine with an inlined copy might keep the address of a thread-local
  // variable while it moves to another thread.
  ABSL_ATTRIBUTE_NOINLINE void Adopt(task::Header* task);
  // Like `Adopt()`, but puts the task where other workers can take it at once.
  ABSL_ATTRIBUTE_NOINLINE void AdoptForOthers(task::Header* task);
  void AdoptFromOutside(task::Header* task);

  // Calls the hook for a spawned task, and makes the task record the time.
  void ObserveSpawn(task::Header* task);

  // Returns the calling thread's worker if it is one of this scheduler's, or
  // null.
  ABSL_ATTRIBUTE_ALWAYS_INLINE inline Worker* WorkerHere();

  // Queues a task on behalf of a thread other than a worker's.
  void SubmitFromOutside(task::Header* task);

  // Calls `f()` and returns the result. Keeps an auto-advancing clock from
  // advancing during the call, because a runnable task is on its way to a
  // worker.
  template <class F>
  std::invoke_result_t<F&> HoldingClock(F f);

  const Options options_;
  const bool observes_polls_;
  const bool observes_spawns_;
  const bool is_watched_;
  const double cycles_per_nanosecond_;
  const uint64_t cycles_per_millisecond_;
  // `kRescueDelay` in cycles.
  const uint64_t rescue_delay_cycles_;
  SharedDriver driver_;
  Queues queues_;
  // The workers live as long as the scheduler, because a thread submitting a
  // task may unpark a worker that has just left.
  std::vector<std::unique_ptr<Worker>> workers_;
  task::OwnedTasks tasks_;
  // Number of discarded tasks that had never entered the list.
  Atomic<size_t> discarded_new_{0};
  Atomic<bool> closed_by_exception_{false};
  mutable absl::Mutex closed_by_mu_;
  std::string closed_by_ ABSL_GUARDED_BY(closed_by_mu_);
  bool finished_ = false;
  EventCount awake_event_;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_SCHEDULER_H_

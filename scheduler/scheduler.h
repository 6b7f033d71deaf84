// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: scheduler.h
// -----------------------------------------------------------------------------
//
// A scheduler decides which task runs next, and where. Programs use it through
// `Runtime` and `Spawn()`; who embeds Rouse elsewhere may build on this.
//
// In this version several workers share one queue under a lock, and a worker
// that has left the driver for a long poll leaves it to nobody: events wait for
// the next worker that finds the queue empty. One worker alone has a queue of
// its own besides, for what its tasks wake. Part 5 replaces what is behind this
// header by local queues that are stolen from, and a driver that is handed on.

#ifndef ROUSE_SCHEDULER_SCHEDULER_H_
#define ROUSE_SCHEDULER_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "rouse/base/atomic.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/future/future.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/run_queue.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/task.h"

namespace rouse::scheduler {

class Worker;

// Scheduler
//
// Shared by its runtime, its workers and its tasks. Thread-safe.
class Scheduler final : public task::Schedule {
 public:
  // Starts with one reference, the caller's. Its workers are there and run
  // nothing until a thread calls `Worker::Run()`. `seed` is that of their
  // random choices.
  Scheduler(std::unique_ptr<AnyDriver> driver, size_t workers, uint64_t seed);
  ~Scheduler() override;

  // Makes a task of `f`, which is a future or a callable that returns one.
  // After `Close()` the task is cancelled at once.
  template <class F>
    requires task::Spawnable<std::decay_t<F>>
  auto Spawn(F&& f) {
    using Future = typename task::SpawnedFuture<std::decay_t<F>>::type;
    auto* task =
        new task::Cell<Future>(this, task::NextTaskId(), std::forward<F>(f));
    JoinHandle<FutureOutput<Future>> handle(task);
    Adopt(task);
    return handle;
  }

  SharedDriver& driver() { return driver_; }

  size_t worker_count() const { return workers_.size(); }
  Worker& worker(size_t index) { return *workers_[index]; }

  // How many tasks have not ended.
  size_t alive_tasks() const;

  // ---- For workers.

  // The task that has waited longest, with the queue's hold on it, or null.
  // A `worker` that finds one while others are left wakes another worker.
  task::Header* Pop(Worker& worker);

  // Whether `worker` may park: there is nothing to run, and a task that is
  // submitted from now on unparks it or another.
  bool PrepareToPark(Worker& worker);
  // `worker` runs: it begins, or has parked.
  void LeaveIdle(Worker& worker);
  // `worker` has stopped running.
  void Leave(Worker& worker);

  // ---- For the runtime.

  // No task runs any more, and new ones are cancelled. Unparks all workers.
  void Close();
  bool IsClosed() const {
    // Acquire pairs with the release of Close.
    return closed_.load(std::memory_order_acquire);
  }

  // Cancels all tasks, on this thread. To be called once, after `Close()`, when
  // no worker is running a task.
  void CancelAll();

  // task::Schedule:
  void Submit(task::Header* task) override;
  void Resubmit(task::Header* task) override;
  bool Release(task::Header* task) override;

 private:
  // Takes over a new task, with the references of the list and the queue.
  void Adopt(task::Header* task);

  // The worker of this thread, if it is this scheduler's only one: it need not
  // be told of what it is to run.
  Worker* OnlyWorkerHere();

  void Push(task::Header* task);

  // A worker to unpark, outside the lock, so that what is in the queue is seen
  // to; null if none is idle, or one that was unparked is still searching.
  Worker* WorkerToUnpark() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // REQUIRES: there is one.
  Worker* TakeIdleWorker() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void StopSearching(Worker& worker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RemoveFromIdle(Worker& worker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Until `worker` is idle again the driver's clock does not advance by itself:
  // so it never does while a task can run. (A task is only queued where a
  // worker is not idle, is taken from the idle ones, or is dispatching.)
  void HoldClock(Worker& worker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  SharedDriver driver_;
  // As long-lived as the scheduler: a thread that submits a task may unpark a
  // worker that has just left.
  std::vector<std::unique_ptr<Worker>> workers_;
  Atomic<bool> closed_{false};

  mutable absl::Mutex mu_;
  RunQueue queue_ ABSL_GUARDED_BY(mu_);
  IntrusiveList<task::Header, task::AllTasksTag> tasks_ ABSL_GUARDED_BY(mu_);
  size_t task_count_ ABSL_GUARDED_BY(mu_) = 0;
  // Parked, or about to be; the last one parked is the first to be unparked.
  std::vector<Worker*> idle_ ABSL_GUARDED_BY(mu_);
  // Unparked for a task and not yet back with one.
  size_t searching_ ABSL_GUARDED_BY(mu_) = 0;
  // `CancelAll()` is through: nobody looks into the queue any more.
  bool drained_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_SCHEDULER_H_

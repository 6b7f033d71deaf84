// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: local_schedule.h
// -----------------------------------------------------------------------------
//
// The queues of a `LocalSet`, shared by the set, the set's tasks and their
// wakers. Internal to the scheduler.
//
// # Thread ownership
//
// The owner is the thread that made the schedule. Only the owner runs tasks.
// Everything except the remote queue and the list of drivers belongs to the
// owner, and needs no lock. Other threads only wake tasks: a waking thread puts
// the task into the remote queue, under the lock, and wakes the drivers. A
// driver is a future that has polled the set.
//
// # No wake is lost
//
// A driver registers its waker, and then checks the remote queue. Another
// thread puts a task into the remote queue, and then takes the wakers. Both
// hold the lock, so either the driver finds the task, or the other thread finds
// the waker. All drivers are woken, so destroying a woken driver does not keep
// the other drivers from running the task.
//
// The owner's own wakes go to the local queue. Before the owner stops driving,
// it checks the local queue, and wakes the drivers if tasks are left. At any
// other time the wake itself wakes the drivers. The owner also wakes the
// drivers when no task is left, because a driver may be waiting for the end of
// all tasks.

#ifndef ROUSE_SCHEDULER_LOCAL_LOCAL_SCHEDULE_H_
#define ROUSE_SCHEDULER_LOCAL_LOCAL_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "rouse/base/fast_rand.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/scheduler/queue/run_queue.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::scheduler {

class LocalSchedule final : public task::Schedule {
 public:
  // A future that polls the set. Linked into the list while waiting.
  struct Driver : IntrusiveListNode<> {
    AtomicWaker waker;
    bool registered = false;  // like `IsLinked()`, without the lock
  };

  // Driving
  //
  // While the guard exists, the owner is running tasks, or about to run them.
  class Driving {
   public:
    explicit Driving(LocalSchedule& schedule);
    Driving(const Driving&) = delete;
    Driving& operator=(const Driving&) = delete;
    ~Driving();

    // Returns whether this guard is inside another guard. The outer guard's
    // poll will run the queued tasks.
    bool is_nested() const { return nested_; }

   private:
    LocalSchedule& schedule_;
    const bool nested_;
    LocalSchedule* const outer_;
  };

  // Makes the calling thread the owner. The caller owns the first reference.
  LocalSchedule();

  // Calls `Panic()` unless the calling thread is the owner. The message names
  // `call`.
  void CheckOwner(std::string_view call) const;

  // ---- For the owner.

  // Takes over a new task, with the references of the list and the queue.
  void Adopt(task::Header* task);

  // Registers `waker`, to wake `driver` when a task can run. Must be called
  // before `RunTasks()`: otherwise a task may be missed.
  void Register(Driver& driver, const Waker& waker);
  // Removes `driver` from the list, and drops its waker. Can be called from any
  // thread.
  void Deregister(Driver& driver);

  // Runs tasks until no task is queued, except for tasks yielding during the
  // call, or until a limit is reached. Returns whether tasks are left. The
  // remaining tasks must wait until other tasks of the thread have had their
  // turn, and the thread's I/O and timers have been polled.
  [[nodiscard]] bool RunTasks(FastRand* rand);

  // Called after `RunTasks()` has left tasks: causes the task of `cx`, waiting
  // as `driver`, to be polled again behind other tasks of the task's own
  // scheduler.
  static void YieldAs(Driver& driver, Context& cx);

  // Cancels all tasks. Tasks that come later are cancelled immediately.
  void Close();

  bool is_driving() const { return driving_; }
  bool is_closed() const { return closed_; }
  size_t alive_tasks() const { return task_count_; }

  // ---- task::Schedule:
  void Submit(task::Header* task) override;
  void Resubmit(task::Header* task) override;
  bool Release(task::Header* task) override;

 private:
  // Maximum number of tasks that one poll of the set runs, so that the poll
  // takes no longer than a few polls of a task.
  static constexpr int kTasksPerPoll = 61;
  // Number of tasks after which the remote queue is checked even if the local
  // queue is not empty.
  static constexpr uint32_t kRemoteInterval = 31;

  ~LocalSchedule() override = default;

  bool IsOwner() const;
  task::Header* Pop();
  // Wakes all drivers. Takes the lock.
  void WakeDrivers();
  // Puts a task into the remote queue. Called on a thread other than the owner.
  void SubmitRemotely(task::Header* task);

  const uint64_t owner_;

  // These members belong to the owner.
  RunQueue<task::Header> local_;
  // Tasks queued behind the current `RunTasks()`.
  RunQueue<task::Header> yielded_;
  bool running_tasks_ = false;
  IntrusiveList<task::Header, task::AllTasksTag> tasks_;
  size_t task_count_ = 0;
  uint32_t tick_ = 0;
  bool driving_ = false;
  bool emptied_ = false;  // the last task has ended since the last wake
  bool closed_ = false;

  ThreadMutex mu_;
  RunQueue<task::Header> remote_ ABSL_GUARDED_BY(mu_);
  bool remote_closed_ ABSL_GUARDED_BY(mu_) = false;
  IntrusiveList<Driver> drivers_ ABSL_GUARDED_BY(mu_);
};

// Returns the set used by `SpawnLocal()` on the calling thread, or null.
LocalSchedule* CurrentLocal();

// Like `CurrentLocal()`, but calls `Panic()` if no set is current.
LocalSchedule& CurrentLocalOrPanic();

// Makes `schedule` the current set of the calling thread. Returns the previous
// set.
LocalSchedule* SetCurrentLocal(LocalSchedule* schedule);

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_LOCAL_LOCAL_SCHEDULE_H_

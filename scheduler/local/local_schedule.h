// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: local_schedule.h
// -----------------------------------------------------------------------------
//
// The queues of a `LocalSet`, which its tasks and their wakers share with it.
// Internal to the scheduler.
//
// # Who touches what
//
// The owner is the thread that made it. It alone runs tasks, and all but the
// remote queue and the list of drivers is its own, without a lock. Other
// threads wake: they put a task into the remote queue, under the lock, and wake
// the drivers, which are the futures that have polled the set.
//
// # No wake is lost
//
// A driver registers its waker and then looks into the remote queue. Who puts a
// task there then takes the wakers. Both hold the lock, so either the driver
// finds the task, or its waker is found. All drivers are woken: one that was
// destroyed since it was woken keeps no other from running the task.
//
// The owner's own wakes go to the local queue. While it is driving it looks
// there before it leaves, and wakes the drivers if there is more; at any other
// time the wake itself does. It wakes them also if there are no tasks any more:
// one of them may wait for that.

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
  // A future that polls the set. In the list while it waits.
  struct Driver : IntrusiveListNode<> {
    AtomicWaker waker;
    bool registered = false;  // as `IsLinked()`, without the lock
  };

  // Driving
  //
  // The owner is running tasks, or about to, until the guard goes.
  class Driving {
   public:
    explicit Driving(LocalSchedule& schedule);
    Driving(const Driving&) = delete;
    Driving& operator=(const Driving&) = delete;
    ~Driving();

    // Whether this is a part of another one, which will run what is queued.
    bool is_nested() const { return nested_; }

   private:
    LocalSchedule& schedule_;
    const bool nested_;
    LocalSchedule* const outer_;
  };

  // The caller is the owner, and has the first reference.
  LocalSchedule();

  // A `Panic()` unless this thread is the owner. `call` is for its message.
  void CheckOwner(std::string_view call) const;

  // ---- For the owner.

  // Takes over a new task, with the references of the list and the queue.
  void Adopt(task::Header* task);

  // Wakes `driver` with `waker` when there is something to run. Done before
  // `RunTasks()`, which may otherwise miss it.
  void Register(Driver& driver, const Waker& waker);
  // Any thread.
  void Deregister(Driver& driver);

  // Runs tasks until none is queued but those that have yielded meanwhile, up
  // to a limit. Whether there are some left: they are to wait until other tasks
  // of the thread have had their turn, and the drivers have been asked.
  [[nodiscard]] bool RunTasks(FastRand* rand);

  // After `RunTasks()` has left some: has `cx`, which waits as `driver`, polled
  // again behind other tasks of its own.
  static void YieldAs(Driver& driver, Context& cx);

  // Cancels all tasks. From then on all that comes is cancelled.
  void Close();

  bool is_driving() const { return driving_; }
  bool is_closed() const { return closed_; }
  size_t alive_tasks() const { return task_count_; }

  // ---- task::Schedule:
  void Submit(task::Header* task) override;
  void Resubmit(task::Header* task) override;
  bool Release(task::Header* task) override;

 private:
  // So that one poll of the set takes no longer than a few polls of a task.
  static constexpr int kTasksPerPoll = 61;
  // After how many tasks the remote queue is looked into though the local one
  // is not empty.
  static constexpr uint32_t kRemoteInterval = 31;

  ~LocalSchedule() override = default;

  bool IsOwner() const;
  task::Header* Pop();
  // Wakes all drivers. Takes the lock.
  void WakeDrivers();
  // Puts a task into the remote queue, from another thread.
  void SubmitRemotely(task::Header* task);

  const uint64_t owner_;

  // Of the owner.
  RunQueue<task::Header> local_;
  // Those that are queued behind the current `RunTasks()`.
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

// The set that `SpawnLocal()` finds on this thread, or null.
LocalSchedule* CurrentLocal();

// As `CurrentLocal()`; a `Panic()` if there is none.
LocalSchedule& CurrentLocalOrPanic();

// Makes `schedule` the current one of this thread, and gives the one before.
LocalSchedule* SetCurrentLocal(LocalSchedule* schedule);

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_LOCAL_LOCAL_SCHEDULE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: owned_tasks.h
// -----------------------------------------------------------------------------
//
// All tasks of a scheduler that have not ended, so that it can cancel them when
// it is shut down, and list them. Internal to the scheduler.
//
//   bool Adopt(Header* task) {
//     if (tasks_.Add(task, this_worker)) return true;
//     task::CancelNew(task);       // too late: the scheduler is closed
//     return false;
//   }
//   bool Release(Header* task) override { return tasks_.Remove(task); }
//
// A task that nobody looks for yet, because it waits in a queue that is
// searched as well, may be added when it is taken out of there (see `Adder`).
// Whoever makes the tasks then does not meet those who run them.

#ifndef ROUSE_SCHEDULER_TASK_OWNED_TASKS_H_
#define ROUSE_SCHEDULER_TASK_OWNED_TASKS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/biased_lock.h"
#include "rouse/scheduler/task/task.h"

namespace rouse::task {

// OwnedTasks
//
// A set in shards, each with a lock and a cache line of its own, so that
// workers that spawn and finish tasks in their own shards do not meet. The
// lock of a shard favours its owner, until another thread removes a task from
// it: a worker from which nobody steals pays for no read-modify-write.
//
// Each shard has one owner at a time, and who becomes it is ordered behind who
// was it before. All that does not ask for the owner is thread-safe. No lock is
// held while a task is cancelled or destroyed.
class OwnedTasks {
 public:
  // Rounds `shards` up to a power of two.
  explicit OwnedTasks(size_t shards);
  OwnedTasks(const OwnedTasks&) = delete;
  OwnedTasks& operator=(const OwnedTasks&) = delete;
  // REQUIRES: there is no task left.
  ~OwnedTasks() = default;

  // By the owner of `shard`, for which any number does: takes over the set's
  // reference to a new task. False when the set is closed: the reference is
  // still the caller's, which cancels the task. O(1).
  //
  // A task is either added, and `CloseAndShutdownAll()` finds it there, or
  // refused: the shard is closed and added to under the same lock.
  bool Add(Header* task, size_t shard);

  // Whether `task` was there; its reference is the caller's then. False too for
  // one that was never added. `own_shard` is the shard whose owner the caller
  // is, if it is one's. O(1).
  bool Remove(Header* task, std::optional<size_t> own_shard = std::nullopt);

  // Adds tasks that wait elsewhere: see below.
  class Adder;

  // Whether `task` has been added, be it that it is not there any more. For who
  // has taken it out of a queue.
  static bool WasAdded(const Header* task) {
    return task->shard != Header::kNoShard;
  }

  // Takes no more tasks, and cancels those that there are, on this thread,
  // those of the shard `start` first. A task that another thread is running
  // ends there, at the end of its poll.
  //
  // May be called by several threads at once, best with a start for each: they
  // share the work. When one of them returns the set is empty, but others may
  // still be cancelling what they have taken. If a joiner's waker throws, the
  // rest is cancelled all the same, and the first exception passed on.
  void CloseAndShutdownAll(size_t start);

  // How many tasks there are. While others add and remove, a number that may
  // never have been right, but is not off by more than they have done
  // meanwhile. Takes no lock. O(shards).
  size_t size() const;

  // How many tasks `Add()` has ever added, as exactly as `size()`.
  size_t added() const;

  // How many tasks an `Adder` has ever added. What came before that is visible
  // to who sees them counted here.
  size_t added_late() const;

  // Calls `visit` for every task, under the lock of its shard: `visit` must be
  // short, and neither use the set nor drop the last reference to a task. What
  // is added and removed meanwhile may be visited or not.
  void ForEach(absl::FunctionRef<void(Header&)> visit);

  size_t shards() const { return mask_ + 1; }

 private:
  struct alignas(64) Shard {
    Header* PopFront();
    bool Remove(Header* task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

    BiasedLock mu;
    rouse::Cell<bool> closed ABSL_GUARDED_BY(mu){false};
    rouse::Cell<IntrusiveList<Header, AllTasksTag>> tasks ABSL_GUARDED_BY(mu);
    // Written under the lock, so that relaxed loads and stores do.
    Atomic<size_t> size{0};
    // How many `Add()` has added. Likewise; a count for metrics is no business
    // of the model checker's.
    std::atomic<size_t> added{0};
    Atomic<size_t> added_late{0};
  };

  uint32_t IndexOf(size_t shard) const {
    return static_cast<uint32_t>(shard & mask_);
  }

  const size_t mask_;
  const std::unique_ptr<Shard[]> shards_;
};

// OwnedTasks::Adder
//
// By the owner of a shard: holds its lock while tasks are taken out of a queue
// and added. Who looks for tasks in the queue first, and then in the set, so
// misses none.
//
// The tasks come with the set's reference.
//
// (The analysis of locks does not follow one that is returned by a function.)
class OwnedTasks::Adder {
 public:
  Adder(OwnedTasks& tasks, size_t shard) ABSL_NO_THREAD_SAFETY_ANALYSIS
      : index_(tasks.IndexOf(shard)),
        shard_(tasks.shards_[index_]) {
    shard_.mu.LockAsOwner();
  }
  Adder(const Adder&) = delete;
  Adder& operator=(const Adder&) = delete;
  ~Adder() ABSL_NO_THREAD_SAFETY_ANALYSIS;

  // None may be added any more: they are to be left where they are.
  bool IsClosed() const ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return shard_.closed.Read();
  }

  // Adds `task`, if it has not been added before.
  void Add(Header* task) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (WasAdded(task)) return;
    task->shard = index_;
    shard_.tasks.Write().PushBack(task);
    ++added_;
  }

 private:
  const uint32_t index_;
  Shard& shard_;
  size_t added_ = 0;
};

}  // namespace rouse::task

#endif  // ROUSE_SCHEDULER_TASK_OWNED_TASKS_H_

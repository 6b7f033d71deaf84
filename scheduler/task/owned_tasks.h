// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: owned_tasks.h
// -----------------------------------------------------------------------------
//
// All tasks of a scheduler that have not ended. The scheduler can list them,
// and cancels them when it is shut down. Internal to the scheduler.
//
//   bool Adopt(Header* task) {
//     if (tasks_.Add(task, this_worker)) return true;
//     task::CancelNew(task);       // too late: the scheduler is closed
//     return false;
//   }
//   bool Release(Header* task) override { return tasks_.Remove(task); }
//
// A task in a queue need not be in the set as long as every search for tasks
// covers the queue too. Such a task may be added when it is taken out of the
// queue (see `Adder`). Threads that make tasks then do not contend with threads
// that run tasks.

#ifndef ROUSE_SCHEDULER_TASK_OWNED_TASKS_H_
#define ROUSE_SCHEDULER_TASK_OWNED_TASKS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/biased_lock.h"
#include "rouse/base/mutable_step.h"
#include "rouse/scheduler/task/task.h"

namespace rouse::task {

// OwnedTasks
//
// A set in shards. Each shard has a lock and a cache line of its own, so
// workers that spawn and finish tasks in their own shards do not contend. The
// lock of a shard favours the shard's owner, until another thread removes a
// task from the shard: a worker from which no other worker steals does not pay
// for a read-modify-write.
//
// An owner can have several shards, among which its tasks are distributed. The
// more threads steal the tasks that one owner adds, the more of them remove
// tasks at once.
//
// Each shard has one owner at a time, and a new owner must be ordered after the
// previous one. All functions that do not require the owner are thread-safe. No
// lock is held while a task is cancelled or destroyed.
class OwnedTasks {
 public:
  // Makes the shards of `owners` owners. Rounds both numbers up to a power of
  // two.
  explicit OwnedTasks(size_t owners, size_t shards_for_each = 1);
  OwnedTasks(const OwnedTasks&) = delete;
  OwnedTasks& operator=(const OwnedTasks&) = delete;
  // REQUIRES: no task is left.
  ~OwnedTasks() = default;

  // Takes over the set's reference to a new task. Called by `owner`, which can
  // be any number. Returns false if the set is closed: the caller keeps the
  // reference, and cancels the task. O(1).
  //
  // A task is either added, and `CloseAndShutdownAll()` finds the task, or
  // refused: the shard is closed and added to under the same lock.
  bool Add(Header* task, size_t owner);

  // Returns whether `task` was in the set; if so, the caller takes over the
  // set's reference. Returns false for a task that was never added. `owner` is
  // the caller, if it is an owner. O(1).
  bool Remove(Header* task, std::optional<size_t> owner = std::nullopt);

  // Adds tasks that wait in a queue: see below.
  class Adder;

  // Returns whether `task` has ever been added, even if it has since been
  // removed. For a thread that has taken the task out of a queue.
  static bool WasAdded(const Header* task) {
    return task->shard != Header::kNoShard;
  }

  // Closes the set to new tasks, and cancels its tasks on this thread,
  // beginning with the shards of owner `start`. A task running on another
  // thread ends there, at the end of the poll.
  //
  // Several threads may call this concurrently, best with different values of
  // `start`: they share the work. When one call returns the set is empty, but
  // other threads may still be cancelling tasks taken from the set. If a
  // joiner's waker throws, the other tasks are cancelled all the same, and the
  // first exception is rethrown.
  void CloseAndShutdownAll(size_t start);

  // Returns the number of tasks. While other threads add and remove tasks, the
  // result may be a number that was never correct; the error is at most the
  // number of tasks added and removed meanwhile. Takes no lock. O(shards).
  size_t size() const;

  // Returns how many tasks `Add()` has ever added, as exactly as `size()`.
  size_t added() const;

  // Returns how many tasks an `Adder` has ever added. Everything before an
  // addition is visible to a caller whose result includes the addition.
  size_t added_late() const;

  // Calls `visit` for every task, under the lock of the task's shard: `visit`
  // must be short, and must neither use the set nor drop the last reference to
  // a task. Tasks that are added or removed meanwhile may or may not be
  // visited.
  void ForEach(absl::FunctionRef<void(Header&)> visit);

  size_t shards() const { return mask_ + 1; }

 private:
  struct alignas(64) Shard {
    Header* PopFront();
    bool Remove(Header* task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

    BiasedLock mu;
    rouse::Cell<bool> closed ABSL_GUARDED_BY(mu){false};
    rouse::Cell<IntrusiveList<Header, AllTasksTag>> tasks ABSL_GUARDED_BY(mu);
    // Written under the lock, so relaxed loads and stores suffice.
    Atomic<size_t> size{0};
    // The number of tasks that `Add()` has added. Also written under the lock;
    // a count for metrics does not concern the model checker.
    std::atomic<size_t> added{0};
    Atomic<size_t> added_late{0};
    // In the owner's first shard: the number of its adders so far. Used by the
    // owner alone.
    uint32_t adders = 0;
  };

  // Returns the index of an owner's first shard.
  uint32_t FirstOf(size_t owner) const {
    return static_cast<uint32_t>((owner << log2_for_each_) & mask_);
  }
  // Returns the index of the owner's shard for a task at this address.
  uint32_t IndexFor(const Header* task, size_t owner) const;
  // Called by the thread that holds the lock. Relaxed: the functions that read
  // the counter promise no order.
  template <class Counter>
  static void Count(Counter& count, size_t change) {
    count.store(count.load(std::memory_order_relaxed) + change,
                std::memory_order_relaxed);
  }
  bool IsOwner(size_t owner, const Header* task) const {
    return (FirstOf(owner) ^ task->shard) >> log2_for_each_ == 0;
  }
  uint32_t NextForAdder(size_t owner);
  // Does what `Remove()` does, for a caller that is not the owner.
  ABSL_ATTRIBUTE_NOINLINE bool RemoveAsOther(Header* task);

  const int log2_for_each_;
  const size_t mask_;
  const std::unique_ptr<Shard[]> shards_;
};

// OwnedTasks::Adder
//
// Holds the lock of one of an owner's shards while tasks are taken out of a
// queue and added. Used by the owner. A thread that searches first the queue
// and then the set therefore misses no task.
//
// The tasks come with the set's reference.
//
// (The lock analysis does not follow a lock returned by a function.)
class OwnedTasks::Adder {
 public:
  Adder(OwnedTasks& tasks, size_t owner) ABSL_NO_THREAD_SAFETY_ANALYSIS
      : index_(tasks.NextForAdder(owner)),
        shard_(tasks.shards_[index_]) {
    shard_.mu.LockAsOwner();
  }
  Adder(const Adder&) = delete;
  Adder& operator=(const Adder&) = delete;
  ~Adder() ABSL_NO_THREAD_SAFETY_ANALYSIS;

  // Returns whether the set is closed: no task may be added any more, and tasks
  // must be left in the queue.
  bool IsClosed() const ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return shard_.closed.Read();
  }

  // Adds `task`, unless it has been added before.
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

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

// The steps of the owner are inlined into the two functions of a scheduler that
// every task passes.

inline uint32_t OwnedTasks::IndexFor(const Header* task, size_t owner) const {
  // Tasks of any size are distributed evenly by the upper bits of a product
  // with 2^64 divided by the golden ratio (Knuth, The Art of Computer
  // Programming, volume 3, 6.4: Fibonacci hashing).
  const uint64_t hash =
      reinterpret_cast<uintptr_t>(task) * uint64_t{0x9e3779b97f4a7c15};
  return FirstOf(owner) |
         (static_cast<uint32_t>(hash >> 48) & ((1U << log2_for_each_) - 1));
}

inline bool OwnedTasks::Add(Header* task, size_t owner) {
  const uint32_t index = IndexFor(task, owner);
  Shard& home = shards_[index];
  const BiasedLock::OwnerHolder lock(home.mu);
  if (MutableCondition(home.closed.Read())) return false;
  task->shard = index;
  home.tasks.Write().PushBack(task);
  Count(home.size, 1);
  Count(home.added, 1);
  return true;
}

inline bool OwnedTasks::Remove(Header* task, std::optional<size_t> owner) {
  if (!WasAdded(task)) return false;
  if (owner.has_value() && MutableCondition(IsOwner(*owner, task))) {
    Shard& home = shards_[task->shard];
    const BiasedLock::OwnerHolder lock(home.mu);
    return home.Remove(task);
  }
  return RemoveAsOther(task);
}

inline bool OwnedTasks::Shard::Remove(Header* task) {
  // The list owns the task's links.
  static_cast<void>(tasks.Write());
  if (MutableCondition(!task->IsLinked())) return false;
  task->Unlink();
  Count(size, size_t{0} - 1);
  return true;
}

}  // namespace rouse::task

#endif  // ROUSE_SCHEDULER_TASK_OWNED_TASKS_H_

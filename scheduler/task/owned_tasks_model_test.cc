// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tasks come and end while their set is closed. The checker finds a task that
// is never ended, or that is freed twice or never.
//
// The set has no memory orders of its own to weaken: it is as correct as its
// locks. The mutants are those of the lock.

#include <cstddef>
#include <utility>

#include "rouse/base/fast_rand.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/owned_tasks.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::task {
namespace {

using model::Require;
using model::Thread;
using PlainInt = model::Cell<int>;

// A future that is ready at its first poll. Counts its destructions, which must
// not race.
class Once {
 public:
  explicit Once(PlainInt* ended) : ended_(ended) {}
  Once(Once&& other) noexcept : ended_(std::exchange(other.ended_, nullptr)) {}
  Once& operator=(Once&&) = delete;
  ~Once() {
    if (ended_ != nullptr) ++ended_->Write();
  }
  PollResult<void> Poll(Context&) { return {}; }

 private:
  PlainInt* ended_;
};

class ModelSchedule final : public Schedule {
 public:
  explicit ModelSchedule(size_t shards) : tasks(shards) {}
  void Submit(Header*) override { Require(false, "nobody wakes"); }
  void Resubmit(Header*) override { Require(false, "nobody wakes"); }
  bool Release(Header* task) override { return tasks.Remove(task); }

  OwnedTasks tasks;
};

// A task that is added to the set when it is made, or not.
class TestTask {
 public:
  explicit TestTask(ModelSchedule* schedule)
      : task_(new Cell<Once>(schedule, 1, Once(&ended_))), handle_(task_) {}

  // Adds the task like a scheduler. Returns whether the task must be run.
  bool Add(OwnedTasks& tasks, size_t shard) {
    if (tasks.Add(task_, shard)) return true;
    task::Shutdown(task_);
    task::Unref(task_);
    task::Unref(task_);
    return false;
  }
  void Run() {
    FastRand rand(1);
    task::Run(task_, &rand);
  }
  // Drops the hold of the queue.
  void Dequeue() { task::Unref(task_); }
  // Ends a task that was removed.
  void End() {
    task::Shutdown(task_);
    task::Unref(task_);
    Dequeue();
  }
  Header* task() { return task_; }

  void RequireEnded() {
    Require(handle_.IsFinished(), "nobody ends the task");
    Require(ended_.Read() == 1);
  }

 private:
  PlainInt ended_{0};
  Header* const task_;
  JoinHandle<void> handle_;
};

class Model {
 public:
  explicit Model(size_t shards) : schedule(new ModelSchedule(shards)) {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model() {
    Require(schedule->tasks.size() == 0);
    schedule->Unref();
  }

  ModelSchedule* const schedule;
};

// Trap S18: the closing thread finds a task, or the set refuses the task.
MODEL_TEST(OwnedTasks, ATaskIsAddedDuringAClose, .spurious_failures = 0) {
  Model model(2);
  TestTask task(model.schedule);
  Thread closing([&] { model.schedule->tasks.CloseAndShutdownAll(0); });
  if (task.Add(model.schedule->tasks, 1)) task.Dequeue();
  closing.Join();
  task.RequireEnded();
}

// The set's reference is dropped once, regardless of which thread removes the
// task.
MODEL_TEST(OwnedTasks, ATaskEndsDuringAClose, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Model model(1);
  TestTask task(model.schedule);
  Require(task.Add(model.schedule->tasks, 0));
  Thread closing([&] { model.schedule->tasks.CloseAndShutdownAll(0); });
  task.Run();
  closing.Join();
  task.RequireEnded();
}

MODEL_TEST(OwnedTasks, TwoThreadsCloseTheSet, .mode = model::Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  Model model(1);
  TestTask task(model.schedule);
  Require(task.Add(model.schedule->tasks, 0));
  task.Dequeue();
  Thread closing([&] { model.schedule->tasks.CloseAndShutdownAll(0); });
  model.schedule->tasks.CloseAndShutdownAll(0);
  Require(model.schedule->tasks.size() == 0);
  closing.Join();
  task.RequireEnded();
}

// The owner ends one task, while another task was stolen.
MODEL_TEST(OwnedTasks, TwoTasksAreAddedAndRemoved,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  Model model(1);
  OwnedTasks& tasks = model.schedule->tasks;
  TestTask first(model.schedule);
  TestTask second(model.schedule);
  Require(first.Add(tasks, 0));
  Require(tasks.size() == 1);
  Thread thief([&] { Require(tasks.Remove(first.task())); });
  Require(second.Add(tasks, 0));
  Require(tasks.Remove(second.task(), 0));
  thief.Join();
  Require(tasks.size() == 0);
  first.End();
  second.End();
}

// The owner of a shard is not the owner of another shard.
MODEL_TEST(OwnedTasks, AnOwnerEndsATaskOfAnotherOwner,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  Model model(2);
  OwnedTasks& tasks = model.schedule->tasks;
  TestTask first(model.schedule);
  TestTask second(model.schedule);
  Require(first.Add(tasks, 0));
  Thread other([&] { Require(tasks.Remove(first.task(), 1)); });
  Require(second.Add(tasks, 0));
  Require(tasks.Remove(second.task(), 0));
  other.Join();
  Require(tasks.size() == 0);
  first.End();
  second.End();
}

MODEL_MUTANTS(
    OwnedTasks, "base/lock/biased_lock|scheduler/task/owned_tasks.",
    "biased_lock.cc:21: store skipped: killed by "
    "biased_lock_model_test",
    "biased_lock.cc:41: killed by biased_lock_model_test, or listed "
    "there",
    "OwnedTasks::Remove at owned_tasks.h:237: condition always false: "
    "the owner takes the lock as any other thread does");

}  // namespace
}  // namespace rouse::task

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A task is spawned from outside while the scheduler is shut down (trap S14):
// it ends, and no reference to it is left, whichever phase it meets. A leak is
// a failure here. What is modelled is what `Scheduler` does with its parts, in
// its order.

#include <cstddef>
#include <utility>

#include "rouse/base/fast_rand.h"
#include "rouse/scheduler/run_queues.h"
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
#include "rouse/waker/thread_parker.h"

namespace rouse::scheduler {
namespace {

using model::Require;
using model::Thread;

// Never ready. Counts its end, which must not race.
class Never {
 public:
  explicit Never(model::Cell<int>* ended) : ended_(ended) {}
  Never(Never&& other) noexcept
      : ended_(std::exchange(other.ended_, nullptr)) {}
  Never& operator=(Never&&) = delete;
  ~Never() {
    if (ended_ != nullptr) ++ended_->Write();
  }
  PollResult<void> Poll(Context&) { return kPending; }

 private:
  model::Cell<int>* ended_;
};

// A scheduler of one worker, without drivers.
class World final : public task::Schedule {
 public:
  using Queues = RunQueues<task::Header, World, 2>;

  // Host:
  void UnparkWorker(size_t) { parker.unparker().Unpark(); }
  void Discard(task::Header* task) {
    if (task::OwnedTasks::WasAdded(task)) return task::Discard(task);
    task::CancelNew(task);
  }
  task::OwnedTasks::Adder AdderFor(size_t worker) { return {tasks, worker}; }

  // task::Schedule:
  void Submit(task::Header* task) override { queues.Inject(task); }
  void Resubmit(task::Header* task) override { queues.Inject(task); }
  bool Release(task::Header* task) override { return tasks.Remove(task); }

  void Spawn(task::Header* task) { queues.InjectNew(task); }

  // The worker's thread, to the end.
  void Work() {
    FastRand rand(0);
    while (!queues.IsClosed()) {
      if (task::Header* const task = queues.Of(0).Steal(rand)) {
        queues.Of(0).EndSearching();
        task::Run(task, &rand);
      } else if (queues.Of(0).Sleep()) {
        parker.Park();
        queues.Of(0).Awake();
      }
    }
    queues.Of(0).Leave();
    Finish();
  }
  void Finish() {
    tasks.CloseAndShutdownAll(0);
    queues.DrainAll([this](task::Header* task) { Discard(task); });
  }

  ThreadParker parker;
  Queues queues{*this, 1};
  task::OwnedTasks tasks{1};
};

// A task that has not been spawned yet.
class TestTask {
 public:
  explicit TestTask(World* world)
      : task(new task::Cell<Never>(world, 1, Never(&ended_))), handle_(task) {}

  void RequireEnded() {
    Require(handle_.IsFinished());
    Require(ended_.Read() == 1);
  }

 private:
  model::Cell<int> ended_{0};

 public:
  task::Header* const task;

 private:
  JoinHandle<void> handle_;
};

MODEL_TEST(Shutdown, ATaskIsSpawnedWhileNoWorkerRuns, .spurious_failures = 0) {
  auto* const world = new World;
  {
    TestTask task(world);
    Thread spawner([&] { world->Spawn(task.task); });
    world->queues.Close();
    world->Finish();
    spawner.Join();
    task.RequireEnded();
    Require(world->tasks.size() == 0);
  }
  world->Unref();
}

MODEL_TEST(Shutdown, ATaskIsSpawnedBesideAWorker, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto* const world = new World;
  {
    TestTask task(world);
    Thread worker([&] { world->Work(); });
    Thread spawner([&] { world->Spawn(task.task); });
    world->queues.Close();
    worker.Join();
    spawner.Join();
    task.RequireEnded();
    Require(world->tasks.size() == 0);
  }
  world->Unref();
}

// A list of all tasks has one that is just being taken from the queue.
MODEL_TEST(Shutdown, WhoLooksForTasksMissesNone, .spurious_failures = 0) {
  auto* const world = new World;
  {
    TestTask task(world);
    world->Spawn(task.task);
    task::Header* taken = nullptr;
    Thread worker([&] { taken = world->queues.Of(0).PopShared(); });
    int seen = 0;
    world->queues.ForEachInjected([&seen](task::Header*) { ++seen; });
    world->tasks.ForEach([&seen](task::Header&) { ++seen; });
    Require(seen > 0);
    worker.Join();
    Require(taken == task.task);
    task::Unref(taken);
    world->queues.Close();
    world->Finish();
    task.RequireEnded();
  }
  world->Unref();
}

// Else a count of all tasks might be less than none.
MODEL_TEST(AddedLate, WhatIsCountedAsTakenIsCountedAsMade,
           .spurious_failures = 0) {
  auto* const world = new World;
  {
    TestTask task(world);
    Thread worker([&] {
      world->Spawn(task.task);
      task::Unref(world->queues.Of(0).PopShared());
    });
    const size_t taken = world->tasks.added_late();
    Require(world->queues.injected_new() >= taken);
    worker.Join();
    Require(world->tasks.added_late() == 1);
    world->queues.Close();
    world->Finish();
    task.RequireEnded();
  }
  world->Unref();
}

MODEL_MUTANTS(AddedLate, "scheduler/task/owned_tasks");

MODEL_MUTANTS(Shutdown, "scheduler/run_queues.h",
              "RunQueues::IsClosed: killed by run_queues_model_test");

}  // namespace
}  // namespace rouse::scheduler

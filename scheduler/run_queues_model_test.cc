// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstddef>
#include <vector>

#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/fast_rand.h"
#include "rouse/scheduler/run_queues.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::scheduler {
namespace {

using model::Require;
using model::Thread;

// Written before it is pushed and when it is run: a second run, or one that is
// not ordered behind the push, is a race or a failure.
struct Task {
  Cell<int> runs{0};
  Task* next_in_queue = nullptr;
  Task* previous_in_queue = nullptr;
  bool IsNew() const { return false; }
};

// Workers of a scheduler, without all that is not about the queues. When
// `total` tasks have run the queues are closed.
class World {
 public:
  using Queues = RunQueues<Task, World, 2>;

  World(size_t workers, int total)
      : queues(*this, workers), parkers(workers), left(total) {}

  // Host:
  void UnparkWorker(size_t worker) { parkers[worker].unparker().Unpark(); }
  void Discard(Task*) { Require(false); }
  struct Adder {
    static bool IsClosed() { return false; }
    static void Add(Task*) {}
  };
  static Adder AdderFor(size_t) { return {}; }

  void Run(Task* task) {
    ++task->runs.Write();
    if (left.fetch_sub(1, std::memory_order_relaxed) == 1) queues.Close();
  }

  // What a worker does until the queues are closed.
  void Work(size_t worker) {
    FastRand rand(0);
    while (!queues.IsClosed()) {
      Task* task = queues.Of(worker).PopNext();
      if (task == nullptr) task = queues.Of(worker).Pop();
      if (task == nullptr) task = queues.Of(worker).Steal(rand);
      if (task != nullptr) {
        queues.Of(worker).EndSearching();
        queues.Of(worker).Share(0);
        Run(task);
      } else if (queues.Of(worker).Sleep()) {
        parkers[worker].Park();
        queues.Of(worker).Awake();
      }
    }
  }

  void RequireAllHaveRun(int count) {
    for (int i = 0; i < count; ++i) Require(tasks[i].runs.Read() == 1);
  }

  Task tasks[4];
  Queues queues;
  std::vector<ThreadParker> parkers;
  Atomic<int> left;
};

// A worker alone, and a thread that has work for it while it goes to sleep.
MODEL_TEST(RunQueues, AWorkerAloneMissesNoTask, .mode = model::Mode::kBounded,
           .preemption_bound = 2) {
  World world(1, 2);
  Thread worker([&] { world.Work(0); });
  world.queues.Inject(&world.tasks[0]);
  world.queues.Inject(&world.tasks[1]);
  worker.Join();
  world.RequireAllHaveRun(2);
}

// One of the two is woken, or is searching, or finds the task before it sleeps.
MODEL_TEST(RunQueues, AnInjectedTaskIsFoundByOneOfTwo,
           .mode = model::Mode::kBounded, .preemption_bound = 1) {
  World world(2, 1);
  Thread one([&] { world.Work(0); });
  Thread two([&] { world.Work(1); });
  world.queues.Inject(&world.tasks[0]);
  one.Join();
  two.Join();
  world.RequireAllHaveRun(1);
}

// The second task comes while the first is being looked for.
MODEL_TEST(RunQueues, ATaskThatComesDuringASearchIsFound,
           .mode = model::Mode::kBounded, .preemption_bound = 1) {
  World world(2, 2);
  Thread one([&] { world.Work(0); });
  Thread two([&] { world.Work(1); });
  world.queues.Inject(&world.tasks[0]);
  world.queues.Inject(&world.tasks[1]);
  one.Join();
  two.Join();
  world.RequireAllHaveRun(2);
}

// Two tasks of a worker that comes back to them, and another one: either gets
// one of them, or one gets both, however they go to sleep and wake.
MODEL_TEST(RunQueues, WhatAWorkerPushesIsRunOnce, .mode = model::Mode::kBounded,
           .preemption_bound = 1) {
  World world(2, 2);
  Thread thief([&] { world.Work(1); });
  for (Task* task : {&world.tasks[0], &world.tasks[1]}) {
    world.queues.Of(0).Push(task);
    world.queues.Of(0).Share(1);
  }
  world.Work(0);
  thief.Join();
  world.RequireAllHaveRun(2);
}

// A worker that does not come back, and has given up what it has: the other one
// takes all of it.
MODEL_TEST(RunQueues, WhatABusyWorkerGivesUpIsStolen,
           .mode = model::Mode::kBounded, .preemption_bound = 2) {
  World world(2, 2);
  Thread thief([&] { world.Work(1); });
  world.queues.Of(0).Push(&world.tasks[0]);
  world.queues.Of(0).PushNext(&world.tasks[1]);
  world.queues.Of(0).GiveUp();
  thief.Join();
  world.RequireAllHaveRun(2);
}

// It has more than others can steal: tasks move to the shared queue beside the
// thief.
MODEL_TEST(RunQueues, WhatFlowsOverIsFound, .mode = model::Mode::kBounded,
           .preemption_bound = 1) {
  World world(2, 3);
  Thread thief([&] { world.Work(1); });
  for (Task* task : {&world.tasks[0], &world.tasks[1], &world.tasks[2]}) {
    world.queues.Of(0).Push(task);
  }
  world.queues.Of(0).GiveUp();
  thief.Join();
  world.RequireAllHaveRun(3);
}

// A worker shares one and does not come back: the watchdog takes the others,
// and what is not shared because the other worker did not sleep yet.
MODEL_TEST(RunQueues, TheWatchdogRescuesWhatABusyWorkerKeeps,
           .mode = model::Mode::kBounded, .preemption_bound = 1) {
  World world(2, 3);
  Thread thief([&] { world.Work(1); });
  for (Task* task : {&world.tasks[0], &world.tasks[1], &world.tasks[2]}) {
    world.queues.Of(0).PushNext(task);
    world.queues.Of(0).Share(1);
  }
  Thread watchdog([&] { world.queues.Rescue(0); });
  thief.Join();
  watchdog.Join();
  world.RequireAllHaveRun(3);
}

// The watchdog and the worker want the same task.
MODEL_TEST(RunQueues, ARescuedTaskIsRunOnce, .mode = model::Mode::kBounded,
           .preemption_bound = 1) {
  World world(2, 1);
  world.queues.Of(0).PushNext(&world.tasks[0]);
  Thread thief([&] { world.Work(1); });
  Thread watchdog([&] { world.queues.Rescue(0); });
  world.Work(0);
  watchdog.Join();
  thief.Join();
  world.RequireAllHaveRun(1);
}

// Whoever sleeps, or is about to, sees that it is over.
MODEL_TEST(RunQueues, CloseLeavesNobodyAsleep, .mode = model::Mode::kBounded,
           .preemption_bound = 1) {
  World world(2, 1);
  Thread one([&] { world.Work(0); });
  Thread two([&] { world.Work(1); });
  world.queues.Close();
  one.Join();
  two.Join();
}

// Such as why it was closed.
MODEL_TEST(RunQueues, WhoSeesThemClosedSeesWhatCameBefore) {
  World world(1, 1);
  Cell<int> reason(0);
  Thread other([&] {
    reason.Write() = 1;
    world.queues.Close();
  });
  if (world.queues.IsClosed()) Require(reason.Read() == 1);
  other.Join();
}

// The parts have models of their own.
MODEL_MUTANTS(RunQueues, "scheduler/run_queues.h");

}  // namespace
}  // namespace rouse::scheduler

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/cell.h"
#include "rouse/base/fast_rand.h"
#include "rouse/scheduler/baton.h"
#include "rouse/scheduler/queue/run_queues.h"
#include "rouse/scheduler/queue/run_queues_model_util.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::scheduler {
namespace {

using model::Require;
using model::Thread;

// A worker alone, and a thread that has work for it while it goes to sleep.
MODEL_TEST(RunQueues, AWorkerAloneMissesNoTask, .mode = model::Mode::kBounded,
           .preemption_bound = 2) {
  World world(1, 2);
  Thread worker([&] { world.Work(0); });
  world.queues.Inject(Written(world.tasks[0]));
  world.queues.Inject(Written(world.tasks[1]));
  worker.Join();
  world.RequireAllHaveRun(2);
}

// One of the two is woken, or is searching, or finds the task before it sleeps.
MODEL_TEST(RunQueues, AnInjectedTaskIsFoundByOneOfTwo,
           .mode = model::Mode::kBounded, .preemption_bound = 1) {
  World world(2, 1);
  Thread one([&] { world.Work(0); });
  Thread two([&] { world.Work(1); });
  world.queues.Inject(Written(world.tasks[0]));
  one.Join();
  two.Join();
  world.RequireAllHaveRun(1);
}

// The second task comes while the first is being looked for.
MODEL_TEST(RunQueues, ATaskThatComesDuringASearchIsFound,
           .mode = model::Mode::kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  World world(2, 2);
  Thread one([&] { world.Work(0); });
  Thread two([&] { world.Work(1); });
  world.queues.Inject(Written(world.tasks[0]));
  world.queues.Inject(Written(world.tasks[1]));
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
    world.queues.Of(0).Push(Written(*task));
    world.queues.Of(0).Share(1);
  }
  world.Work(0);
  thief.Join();
  world.RequireAllHaveRun(2);
}

// A worker that does not come back, and has given up what it has: the other one
// takes all of it.
MODEL_TEST(RunQueues, WhatABusyWorkerGivesUpIsStolen,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  World world(2, 2);
  Thread thief([&] { world.Work(1); });
  world.queues.Of(0).Push(Written(world.tasks[0]));
  world.queues.Of(0).PushNext(Written(world.tasks[1]));
  world.queues.Of(0).GiveUp();
  thief.Join();
  world.RequireAllHaveRun(2);
}

// A worker that does not come back, and has shared what it had: the other one,
// which may be asleep, is woken for it.
MODEL_TEST(RunQueues, WhatABusyWorkerSharesIsStolen,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  World world(2, 1);
  Thread thief([&] { world.Work(1); });
  world.queues.Of(0).SetSharing(Sharing::kInAdvance);
  world.queues.Of(0).Push(Written(world.tasks[0]));
  world.queues.Of(0).Share(0);
  thief.Join();
  world.RequireAllHaveRun(1);
}

// It has more than others can steal: tasks move to the shared queue beside the
// thief.
MODEL_TEST(RunQueues, WhatFlowsOverIsFound, .mode = model::Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  World world(2, 3);
  Thread thief([&] { world.Work(1); });
  for (Task* task : {&world.tasks[0], &world.tasks[1], &world.tasks[2]}) {
    world.queues.Of(0).Push(Written(*task));
  }
  world.queues.Of(0).GiveUp();
  thief.Join();
  world.RequireAllHaveRun(3);
}

// A worker shares one and does not come back: the watchdog takes the others,
// and what is not shared because the other worker did not sleep yet.
MODEL_TEST(RunQueues, TheWatchdogRescuesWhatABusyWorkerKeeps,
           .mode = model::Mode::kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  World world(2, 3);
  Thread thief([&] { world.Work(1); });
  for (Task* task : {&world.tasks[0], &world.tasks[1], &world.tasks[2]}) {
    world.queues.Of(0).PushNext(Written(*task));
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
  world.queues.Of(0).PushNext(Written(world.tasks[0]));
  Thread thief([&] { world.Work(1); });
  Thread watchdog([&] { world.queues.Rescue(0); });
  world.Work(0);
  watchdog.Join();
  thief.Join();
  world.RequireAllHaveRun(1);
}

// A worker that searches is left by its thread with nothing, or goes on with
// what it has found and does not come back. What came meanwhile woke nobody.
MODEL_TEST(RunQueues, ATaskThatComesDuringTheLastSearchWakesAnother,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  World world(2, 2);
  world.queues.Inject(Written(world.tasks[0]));
  Thread other([&] { world.Work(1); });
  Thread outside([&] { world.queues.Inject(Written(world.tasks[1])); });
  FastRand rand(0);
  Task* const task = world.queues.Of(0).Steal(rand);
  // What it may have taken besides.
  world.queues.Of(0).GiveUp();
  world.queues.Of(0).EndSearching();
  if (task != nullptr) world.Run(task);
  outside.Join();
  other.Join();
  world.RequireAllHaveRun(2);
}

MODEL_TEST(RunQueues, AWorkerThatLeavesDoesNotSearchAnyMore,
           .mode = model::Mode::kBounded, .preemption_bound = 2) {
  World world(2, 1);
  Thread other([&] { world.Work(1); });
  FastRand rand(0);
  Require(world.queues.Of(0).Steal(rand) == nullptr);
  world.queues.Of(0).Leave();
  world.queues.Inject(Written(world.tasks[0]));
  other.Join();
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
MODEL_MUTANTS(RunQueues, "scheduler/queue/run_queues.h",
              "Own::EndSearching at run_queues.h:377: condition always true: a "
              "worker is woken in vain",
              "Own::Add at run_queues.h:443: store skipped: it counts for "
              "metrics");

// ---- BlockInPlace(): a worker goes from the thread that blocks to one that
// stands in, and perhaps back.

// What a thread does before it blocks in a poll: as it should, in the wrong
// order, or not all of it.
enum class HandingOn : unsigned char { kRight, kGivesUpLate, kKeepsAll };

// A worker 0 that one thread after another runs.
class Handed : public World {
 public:
  using World::World;

  // The thread that runs the worker is in a poll, and about to block.
  void PutDown(HandingOn how = HandingOn::kRight) {
    if (how == HandingOn::kRight) queues.Of(0).GiveUp();
    baton.PutDown();
    if (how == HandingOn::kGivesUpLate) queues.Of(0).GiveUp();
  }
  // Runs the worker to the end, if it lies there.
  bool RunIfFree() {
    if (!baton.TryTake()) return false;
    Work(0);
    return true;
  }

  Baton baton;
};

// The worker of a thread that blocks has a task in its slot and one in its
// queue, and a third is woken meanwhile. The other worker is stuck.
void BlockBesideAReplacement(size_t workers, HandingOn how) {
  Handed world(workers, 3);
  Require(world.baton.TryTake());
  // Called for an earlier time, it may come at any moment.
  bool stood_in = false;
  Thread replacement([&] { stood_in = world.RunIfFree(); });
  Thread waker([&] { world.queues.Inject(&world.tasks[2]); });
  ++world.turns[0].Write();
  world.queues.Of(0).Push(&world.tasks[0]);
  world.queues.Of(0).PushNext(&world.tasks[1]);
  world.PutDown(how);
  const bool taken_back = world.RunIfFree();
  replacement.Join();
  waker.Join();
  Require(taken_back != stood_in);
  world.RequireAllHaveRun(3);
}

MODEL_TEST(BlockInPlace, EachTaskIsRunOnceWhoeverHasTheWorker,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  BlockBesideAReplacement(2, HandingOn::kRight);
}

// With one worker there is nobody to share with: its queue changes hands.
MODEL_TEST(BlockInPlace, AWorkerAloneTakesItsQueueAlong,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  BlockBesideAReplacement(1, HandingOn::kRight);
}

// The one that stands in has run a task, and blocks in another: the worker may
// come back to the first thread with what the other has left in it.
MODEL_TEST(BlockInPlace, AReplacementBlocksToo, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Handed world(2, 3);
  Require(world.baton.TryTake());
  bool stood_in = false;
  Thread replacement([&] {
    if (!world.baton.TryTake()) return;
    FastRand rand(0);
    world.Turn(0, rand);
    Task* const left = world.queues.Of(0).Pop();
    Require(left != nullptr);
    world.queues.Of(0).PushNext(left);
    world.PutDown();
    stood_in = world.RunIfFree();
  });
  Thread waker([&] { world.queues.Inject(&world.tasks[2]); });
  ++world.turns[0].Write();
  world.queues.Of(0).Push(&world.tasks[0]);
  world.queues.Of(0).PushNext(&world.tasks[1]);
  world.PutDown();
  const bool taken_back = world.RunIfFree();
  replacement.Join();
  waker.Join();
  Require(taken_back != stood_in);
  world.RequireAllHaveRun(3);
}

// The call waits for what would have run next, and nobody stands in: the other
// worker runs it (tokio #6596). Then the worker is still there.
void BlockUntilTheTasksHaveRun(HandingOn how) {
  Handed world(2, 2);
  Require(world.baton.TryTake());
  Thread other([&] { world.Work(1); });
  world.queues.Of(0).Push(&world.tasks[0]);
  world.queues.Of(0).PushNext(&world.tasks[1]);
  world.PutDown(how);
  other.Join();
  Require(world.baton.TryTake());
  world.RequireAllHaveRun(2);
}

MODEL_TEST(BlockInPlace, TheNextTaskDoesNotWaitForTheCall,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  BlockUntilTheTasksHaveRun(HandingOn::kRight);
}

TEST(BlockInPlace, WhoGivesUpWhatIsNotItsOwnAnyMoreLosesTasks) {
  EXPECT_TRUE(model::Check({.mode = model::Mode::kBounded}, [] {
                BlockBesideAReplacement(2, HandingOn::kGivesUpLate);
              }).failed);
}

TEST(BlockInPlace, WhoKeepsAllBlocksForEver) {
  const model::Result result =
      model::Check({.mode = model::Mode::kBounded},
                   [] { BlockUntilTheTasksHaveRun(HandingOn::kKeepsAll); });
  EXPECT_THAT(result.message, testing::HasSubstr("deadlock"));
}

MODEL_MUTANTS(BlockInPlace, "scheduler/baton.h");

}  // namespace
}  // namespace rouse::scheduler

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <list>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/scheduler/queue/run_queues.h"
#include "rouse/scheduler/queue/run_queues_model_util.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::scheduler {
namespace {

using model::Require;
using model::Thread;

// ---- A Rescue() while a worker gives up or leaves its tasks. The tasks taken
// by the watchdog are in no queue for a moment.

// How the worker gives up its tasks: always, as it should, or only if it seems
// to have any. (It seems to have none as soon as the watchdog has taken them.)
enum class GivingUp : unsigned char { kAlways, kUnlessItSeemsEmpty };

// When GiveUp() returns, other workers can find all the worker's tasks.
void GiveUpBesideARescue(GivingUp how) {
  World world(2, 2);
  const World::Queues::Own own = world.queues.Of(0);
  world.queues.Of(0).Push(&world.tasks[0]);
  world.queues.Of(0).PushNext(&world.tasks[1]);
  Thread watchdog([&] { world.queues.Rescue(0); });
  if (how == GivingUp::kAlways || own.depth() > 0) {
    world.queues.Of(0).GiveUp();
  }
  Require(world.queues.global_depth() + own.depth() == 2);
  Require(!own.HasNext());
  watchdog.Join();
  world.queues.DrainAll([](Task* task) { ++task->runs.Write(); });
  world.RequireAllHaveRun(2);
}

// No task enters a queue after it was emptied for the last time.
void LeaveBesideARescue(GivingUp how) {
  World world(2, 2);
  world.queues.Of(0).Push(&world.tasks[0]);
  world.queues.Of(0).PushNext(&world.tasks[1]);
  world.queues.Close();
  Thread watchdog([&] { world.queues.Rescue(0); });
  if (how == GivingUp::kAlways || world.queues.Of(0).depth() > 0) {
    world.queues.Of(0).Leave();
  }
  world.queues.DrainAll([](Task* task) { ++task->runs.Write(); });
  watchdog.Join();
  Require(!world.queues.HasWork());
  world.RequireAllHaveRun(2);
}

MODEL_TEST(Rescue, EndsBeforeTheWorkerGivesUpItsTasks, .spurious_failures = 0) {
  GiveUpBesideARescue(GivingUp::kAlways);
}

MODEL_TEST(Rescue, EndsBeforeTheWorkerLeaves, .mode = model::Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  LeaveBesideARescue(GivingUp::kAlways);
}

// The worker gets a task into its LIFO slot, and another in its place, while
// the watchdog empties the slot.
MODEL_TEST(Rescue, EmptiesALifoSlotThatIsRefilled,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  World world(2, 3);
  World::Queues::Own own = world.queues.Of(0);
  own.PushNext(&world.tasks[0]);
  Thread watchdog([&] { world.queues.Rescue(0); });
  own.PushNext(&world.tasks[1]);
  own.PushNext(&world.tasks[2]);
  own.Leave();
  world.queues.DrainAll([](Task* task) { ++task->runs.Write(); });
  watchdog.Join();
  Require(!world.queues.HasWork());
  world.RequireAllHaveRun(3);
}

// Others take the tasks from either of the two.
MODEL_TEST(Rescue, RacesWithAWorkerThatLeavesAndAThief,
           .mode = model::Mode::kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  World world(2, 2);
  Thread thief([&] { world.Work(1); });
  world.queues.Of(0).Push(&world.tasks[0]);
  world.queues.Of(0).PushNext(&world.tasks[1]);
  Thread watchdog([&] { world.queues.Rescue(0); });
  world.queues.Of(0).Leave();
  watchdog.Join();
  thief.Join();
  world.RequireAllHaveRun(2);
}

// The guarantee depends on the order of the steps, and on the lock that orders
// them.
TEST(Rescue, IsAwaitedByAWorkerThatSeemsToHaveNoTask) {
  EXPECT_TRUE(model::Check({}, [] {
                GiveUpBesideARescue(GivingUp::kUnlessItSeemsEmpty);
              }).failed);
  EXPECT_TRUE(model::Check({}, [] {
                LeaveBesideARescue(GivingUp::kUnlessItSeemsEmpty);
              }).failed);
}

MODEL_MUTANTS(Rescue, "base/lock/biased_lock",
              "SlowLockAsOwner at biased_lock.cc:21: store skipped: killed by "
              "biased_lock_model_test",
              "biased_lock.cc:41: killed by biased_lock_model_test, or listed "
              "there",
              "biased_lock.cc:42: store skipped: killed by "
              "biased_lock_model_test, or listed there");

// ---- A searching worker, and a worker that does not come out of its poll.

// A worker does not come out of its poll, and had no reason to share its
// private tasks, because the others were busy. The others become free, and no
// watchdog comes.
void TakeFromAStuckWorker(size_t others, int tasks, bool patience_ends = true) {
  World world(others + 1, tasks);
  world.patience_ends = patience_ends;
  for (int i = 0; i < tasks; ++i) {
    world.queues.Of(0).PushNext(Written(world.tasks[i]));
    world.queues.Of(0).Share(1);
  }
  std::list<Thread> threads;
  for (size_t i = 1; i <= others; ++i) {
    threads.emplace_back([&world, i] { world.Work(i); });
  }
  for (Thread& thread : threads) thread.Join();
  world.RequireAllHaveRun(tasks);
}

MODEL_TEST(StuckWorker, AnotherWorkerTakesAllItsTasks,
           .mode = model::Mode::kBounded, .preemption_bound = 2) {
  TakeFromAStuckWorker(1, 3);
}

MODEL_TEST(StuckWorker, TwoOtherWorkersTakeAllItsTasks,
           .mode = model::Mode::kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  TakeFromAStuckWorker(2, 2);
}

// The worker was not stuck after all. It continues with its tasks while the
// other takes them, and shares the tasks it gets.
MODEL_TEST(StuckWorker, ReturnsFromItsPollDuringARescue,
           .mode = model::Mode::kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  World world(2, 3);
  world.patience_ends = true;
  world.queues.Of(0).Push(Written(world.tasks[0]));
  world.queues.Of(0).PushNext(Written(world.tasks[1]));
  Thread other([&] { world.Work(1); });
  world.queues.Of(0).PushNext(Written(world.tasks[2]));
  world.queues.Of(0).Share(1);
  world.Work(0);
  other.Join();
  world.RequireAllHaveRun(3);
}

TEST(StuckWorker, KeepsItsTasksForeverIfOthersWaitForItsPoll) {
  const model::Result result =
      model::Check({.mode = model::Mode::kBounded},
                   [] { TakeFromAStuckWorker(1, 2, /*patience_ends=*/false); });
  EXPECT_THAT(result.message, testing::HasSubstr("deadlock"));
}

}  // namespace
}  // namespace rouse::scheduler

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/cell.h"
#include "rouse/base/fast_rand.h"
#include "rouse/scheduler/queue/run_queues.h"
#include "rouse/scheduler/queue/run_queues_model_util.h"
#include "rouse/scheduler/try_lock.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::scheduler {
namespace {

using model::Require;
using model::Thread;

// A single worker goes to sleep while a thread has work for it.
MODEL_TEST(RunQueues, ASingleWorkerMissesNoTask, .mode = model::Mode::kBounded,
           .preemption_bound = 2) {
  World world(1, 2);
  Thread worker([&] { world.Work(0); });
  world.queues.Inject(Written(world.tasks[0]));
  world.queues.Inject(Written(world.tasks[1]));
  worker.Join();
  world.RequireAllHaveRun(2);
}

// One of the two is woken, is searching, or finds the task before it sleeps.
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

// The second task comes during the search for the first.
MODEL_TEST(RunQueues, ATaskInjectedDuringASearchIsFound,
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

// Two tasks of a worker that comes back to them, and another worker. Each
// worker gets one task, or one gets both, however they go to sleep and wake.
MODEL_TEST(RunQueues, APushedTaskRunsOnce, .mode = model::Mode::kBounded,
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

// A worker does not come back, and has given up its tasks: the other worker
// takes all of them.
MODEL_TEST(RunQueues, TasksThatABusyWorkerGivesUpAreStolen,
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

// A worker does not come back, and has shared its tasks: the other worker,
// which may be asleep, is woken for them.
MODEL_TEST(RunQueues, TasksThatABusyWorkerSharesAreStolen,
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

// A worker has more tasks than others can steal: tasks move to the global queue
// while a thief steals.
MODEL_TEST(RunQueues, OverflowingTasksAreFound, .mode = model::Mode::kBounded,
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

// A worker shares one task and does not come back. The watchdog takes the
// others, and tasks not shared because the other worker did not sleep yet.
MODEL_TEST(RunQueues, TheWatchdogRescuesABusyWorkersTasks,
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
MODEL_TEST(RunQueues, ARescuedTaskRunsOnce, .mode = model::Mode::kBounded,
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

// A searching worker is left by its thread with nothing, or continues with a
// task it has found and does not come back. Tasks that came in the meantime
// woke no worker.
MODEL_TEST(RunQueues, ATaskInjectedDuringTheLastSearchWakesAnother,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  World world(2, 2);
  world.queues.Inject(Written(world.tasks[0]));
  Thread other([&] { world.Work(1); });
  Thread outside([&] { world.queues.Inject(Written(world.tasks[1])); });
  FastRand rand(0);
  Task* const task = world.queues.Of(0).Steal(rand);
  // Tasks that the worker may have taken as well.
  world.queues.Of(0).GiveUp();
  world.queues.Of(0).EndSearching();
  if (task != nullptr) world.Run(task);
  outside.Join();
  other.Join();
  world.RequireAllHaveRun(2);
}

MODEL_TEST(RunQueues, AWorkerThatLeavesStopsSearching,
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

// ---- More than four workers: fewer than half of them begin to search. They
// belong to three words of `Idle`.

// Lets `worker` search, and leaves it in the search, off its processor.
void SearchInVain(World& world, size_t worker) {
  FastRand rand(0);
  Require(world.queues.Of(worker).Steal(rand) == nullptr);
  Require(world.queues.Of(worker).IsSearching());
}

MODEL_TEST(RunQueues, AThirdOfFiveWorkersDoesNotBeginToSearch) {
  World world(5, 1);
  SearchInVain(world, 2);
  SearchInVain(world, 3);
  FastRand rand(0);
  Require(world.queues.Of(0).Steal(rand) == nullptr);
  Require(!world.queues.Of(0).IsSearching());
}

// Two workers of another word search. They find other tasks, and are busy with
// them for long. The worker may not search, but takes the task if it sees the
// task; otherwise it is woken for the task.
MODEL_TEST(RunQueues, AWorkerBeyondTheSearchLimitTakesATask,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  World world(5, 1);
  SearchInVain(world, 2);
  SearchInVain(world, 3);
  Thread worker([&] { world.Work(0); });
  world.queues.Inject(Written(world.tasks[0]));
  world.queues.Of(2).EndSearching();
  world.queues.Of(3).EndSearching();
  worker.Join();
  world.RequireAllHaveRun(1);
}

// The two searching workers stay off their processors. The worker sees the task
// before it can park.
MODEL_TEST(RunQueues, AWorkerBeyondTheSearchLimitNeitherParksNorSpins,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  World world(5, 1);
  SearchInVain(world, 2);
  SearchInVain(world, 3);
  world.queues.Inject(Written(world.tasks[0]));
  Thread worker([&] { world.Work(0); });
  worker.Join();
  world.RequireAllHaveRun(1);
}

// A worker is woken for a task during its check before the park, or finds the
// task there. The worker searches for that task only, and its later search has
// a limit.
MODEL_TEST(RunQueues, AWorkerWokenDuringItsCheckSearchesOnce) {
  World world(5, 1);
  Thread outside([&] { world.queues.Inject(Written(world.tasks[0])); });
  const bool may_park = world.queues.Of(0).Sleep();
  outside.Join();
  if (may_park) Require(world.queues.Of(0).Awake());
  FastRand rand(0);
  Require(world.queues.Of(0).Steal(rand) == &world.tasks[0]);
  world.queues.Of(0).EndSearching();
  SearchInVain(world, 2);
  SearchInVain(world, 3);
  Require(world.queues.Of(0).Steal(rand) == nullptr);
  Require(!world.queues.Of(0).IsSearching());
}

// Three workers want to search for two tasks, and only two of them may.
MODEL_TEST(RunQueues, TwoTasksAreFoundByThreeOfFiveWorkers,
           .mode = model::Mode::kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  World world(5, 2);
  Thread one([&] { world.Work(0); });
  Thread two([&] { world.Work(2); });
  Thread three([&] { world.Work(4); });
  world.queues.Inject(Written(world.tasks[0]));
  world.queues.Inject(Written(world.tasks[1]));
  one.Join();
  two.Join();
  three.Join();
  world.RequireAllHaveRun(2);
}

// ---- A search passes over the workers that sleep.

// A worker wakes by itself, shares a task, and does not come back. The thief
// may have seen the worker asleep, and have passed over its queue.
void ShareAfterASleep(size_t workers, size_t sleeper) {
  World world(workers, 1);
  Require(world.queues.Of(sleeper).Sleep());
  Thread thief([&] { world.Work(0); });
  Require(!world.queues.Of(sleeper).Awake());
  world.queues.Of(sleeper).SetSharing(Sharing::kInAdvance);
  world.queues.Of(sleeper).Push(Written(world.tasks[0]));
  world.queues.Of(sleeper).Share(0);
  world.queues.Of(sleeper).EndSearching();
  thief.Join();
  world.RequireAllHaveRun(1);
}

// A worker has shared a task when it is about to sleep, for example after a
// check of the driver.
MODEL_TEST(RunQueues, AWorkerWithASharedTaskDoesNotPark,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  World world(2, 1);
  Thread other([&] { world.Work(1); });
  world.queues.Of(0).Push(Written(world.tasks[0]));
  world.queues.Of(0).GiveUp();
  if (world.queues.Of(0).Sleep()) {
    world.parkers[0].Park();
    world.queues.Of(0).Awake();
  }
  world.Work(0);
  other.Join();
  world.RequireAllHaveRun(1);
}

MODEL_TEST(RunQueues, ATaskOfAWorkerThatHasSleptIsStolen,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  ShareAfterASleep(2, 1);
}

MODEL_TEST(RunQueues, ATaskOfAWorkerThatHasSleptInAnotherWordIsStolen,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  ShareAfterASleep(5, 4);
}

// A worker that has been woken for a task has more tasks than that one.
void GiveUpAfterAWake(size_t workers, size_t sleeper) {
  World world(workers, 2);
  Require(world.queues.Of(sleeper).Sleep());
  world.queues.Inject(Written(world.tasks[0]));
  Thread thief([&] { world.Work(0); });
  Require(world.queues.Of(sleeper).Awake());
  world.queues.Of(sleeper).Push(Written(world.tasks[1]));
  world.queues.Of(sleeper).GiveUp();
  world.queues.Of(sleeper).EndSearching();
  thief.Join();
  world.RequireAllHaveRun(2);
}

MODEL_TEST(RunQueues, ATaskOfAWorkerThatWasWokenIsStolen,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  GiveUpAfterAWake(2, 1);
}

MODEL_TEST(RunQueues, ATaskOfAWorkerThatWasWokenInAnotherWordIsStolen,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  GiveUpAfterAWake(5, 4);
}

// When a worker in the driver ends its sleep: before it queues the first task
// of a dispatch, as it should, or when it leaves the driver. The dispatch does
// not end before the tasks have run.
enum class SleepEnds : unsigned char { kBeforeThePush, kAfterTheDispatch };

void DispatchForLong(SleepEnds when) {
  World world(3, 2);
  world.patience_ends = true;
  Require(world.queues.Of(2).Sleep());
  if (when == SleepEnds::kBeforeThePush) world.queues.Of(2).Awake();
  world.queues.Of(2).Push(Written(world.tasks[0]));
  Thread other([&] { world.Work(0); });
  world.queues.Inject(Written(world.tasks[1]));
  other.Join();
  if (when == SleepEnds::kAfterTheDispatch) world.queues.Of(2).Awake();
  world.RequireAllHaveRun(2);
}

MODEL_TEST(RunQueues, ATaskOfALongDispatchIsFound,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  DispatchForLong(SleepEnds::kBeforeThePush);
}

TEST(RunQueues, ATaskOfAWorkerMarkedAsleepIsNotFound) {
  const model::Result result =
      model::Check({.mode = model::Mode::kBounded},
                   [] { DispatchForLong(SleepEnds::kAfterTheDispatch); });
  EXPECT_THAT(result.message, testing::HasSubstr("deadlock"));
}

// A worker in the driver is woken for a task, or has already ended its sleep by
// itself, when it queues the first task of a dispatch. The dispatch does not
// end before both tasks have run. `ends_search` says whether the worker ends
// its search before it queues the task, as it should.
void DispatchForLongAfterAWake(bool ends_search) {
  World world(2, 2);
  Require(world.queues.Of(1).Sleep());
  Thread other([&] { world.Work(0); });
  Thread in_driver([&] {
    world.queues.Of(1).Awake();
    if (ends_search) world.queues.Of(1).EndSearching();
    world.queues.Of(1).Push(Written(world.tasks[1]));
  });
  world.queues.Inject(Written(world.tasks[0]));
  in_driver.Join();
  // The watchdog takes the private task.
  world.queues.Rescue(1);
  other.Join();
  world.RequireAllHaveRun(2);
}

MODEL_TEST(RunQueues, AWokenWorkerInALongDispatchKeepsNoTask,
           .mode = model::Mode::kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  DispatchForLongAfterAWake(/*ends_search=*/true);
}

TEST(RunQueues, AWorkerThatSearchesDuringALongDispatchKeepsTasks) {
  const model::Result result =
      model::Check({.mode = model::Mode::kBounded, .preemption_bound = 1},
                   [] { DispatchForLongAfterAWake(/*ends_search=*/false); });
  EXPECT_THAT(result.message, testing::HasSubstr("deadlock"));
}

// ----

// A worker that sleeps, or is about to sleep, notices the close.
MODEL_TEST(RunQueues, CloseLeavesNoWorkerAsleep, .mode = model::Mode::kBounded,
           .preemption_bound = 1) {
  World world(2, 1);
  Thread one([&] { world.Work(0); });
  Thread two([&] { world.Work(1); });
  world.queues.Close();
  one.Join();
  two.Join();
}

// For example the reason for the close.
MODEL_TEST(RunQueues, TheCloseShowsWhatCameBefore) {
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
MODEL_MUTANTS(
    RunQueues, "scheduler/queue/run_queues.h",
    "Own::EndSearchingNow at run_queues.h:530: condition always true: a "
    "worker is woken in vain",
    "Own::Add at run_queues.h:476: store skipped: it counts for "
    "metrics");

// ---- BlockInPlace(): a worker goes from the blocking thread to a replacement
// thread, and perhaps back.

// What a thread does before it blocks in a poll: everything, as it should, the
// steps in the wrong order, or only a part.
enum class HandingOn : unsigned char { kRight, kGivesUpLate, kKeepsAll };

// Has a worker 0 that one thread after another runs.
class Handed : public World {
 public:
  using World::World;

  // Called when the thread that runs the worker is in a poll, and about to
  // block.
  void PutDown(HandingOn how = HandingOn::kRight) {
    if (how == HandingOn::kRight) queues.Of(0).GiveUp();
    run_lock.Release();
    if (how == HandingOn::kGivesUpLate) queues.Of(0).GiveUp();
  }
  // Runs the worker to the end, if it is available.
  bool RunIfFree() {
    if (!run_lock.TryAcquire()) return false;
    Work(0);
    return true;
  }

  TryLock run_lock;
};

// The worker of a blocking thread has a task in its LIFO slot and one in its
// queue, and a third is woken in the meantime. The other worker is stuck.
void BlockBesideAReplacement(size_t workers, HandingOn how) {
  Handed world(workers, 3);
  Require(world.run_lock.TryAcquire());
  // Called for an earlier block, the replacement thread may come at any moment.
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

MODEL_TEST(BlockInPlace, EachTaskRunsOnceOnEitherThread,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  BlockBesideAReplacement(2, HandingOn::kRight);
}

// A scheduler's only worker has no worker to share with: its queue changes
// hands.
MODEL_TEST(BlockInPlace, ASingleWorkersQueueMovesToTheReplacement,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  BlockBesideAReplacement(1, HandingOn::kRight);
}

// The replacement thread has run a task, and blocks in another. The worker may
// come back to the first thread, with the tasks that the other thread has left
// in it.
MODEL_TEST(BlockInPlace, AReplacementThreadBlocks,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  Handed world(2, 3);
  Require(world.run_lock.TryAcquire());
  bool stood_in = false;
  Thread replacement([&] {
    if (!world.run_lock.TryAcquire()) return;
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

// The call waits for the tasks that would have run next, and no replacement
// thread comes: the other worker runs them (tokio #6596). Afterwards the worker
// is still available.
void BlockUntilTheTasksHaveRun(HandingOn how) {
  Handed world(2, 2);
  Require(world.run_lock.TryAcquire());
  Thread other([&] { world.Work(1); });
  world.queues.Of(0).Push(&world.tasks[0]);
  world.queues.Of(0).PushNext(&world.tasks[1]);
  world.PutDown(how);
  other.Join();
  Require(world.run_lock.TryAcquire());
  world.RequireAllHaveRun(2);
}

MODEL_TEST(BlockInPlace, TheNextTaskDoesNotWaitForTheCall,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  BlockUntilTheTasksHaveRun(HandingOn::kRight);
}

TEST(BlockInPlace, GivingUpAnotherThreadsQueueLosesTasks) {
  EXPECT_TRUE(model::Check({.mode = model::Mode::kBounded}, [] {
                BlockBesideAReplacement(2, HandingOn::kGivesUpLate);
              }).failed);
}

TEST(BlockInPlace, KeepingAllTasksBlocksForever) {
  const model::Result result =
      model::Check({.mode = model::Mode::kBounded},
                   [] { BlockUntilTheTasksHaveRun(HandingOn::kKeepsAll); });
  EXPECT_THAT(result.message, testing::HasSubstr("deadlock"));
}

MODEL_MUTANTS(BlockInPlace, "scheduler/try_lock.h");

}  // namespace
}  // namespace rouse::scheduler

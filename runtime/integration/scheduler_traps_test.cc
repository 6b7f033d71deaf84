// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// The traps into which other schedulers have fallen, and where tests show that
// this scheduler does not. Numbers with a # are those of tokio's issues.
//
//   S1   #1768: a load is too weak to see a sleeper
//        models RunQueues, StealableQueue.HidesNo*; mutants of idle.h
//   S2   #2362: positions wrap
//        StealableQueueTest: positions wrap in each test
//   S3   #2387: a place is written while a thief reads it
//        models StealableQueue.OverflowsDuringATheft, .TakesABatchDuringATheft,
//        TwoThieves.*
//   S4   #5041: an old position comes back after 2^16 steps
//        positions have 32 bits: stealable_queue.h
//   S5   #8029: the wrong half overflows
//        RunQueuesTest.AnOverflowMovesTheLaterHalfToTheGlobalQueue
//   S6   #5705, #5908: batches are empty, or too large
//        RunQueuesTest.ABatchHasAtLeastOneTask,
//        .ABatchOfAWorkerThatSharesInAdvanceDoesNotOverflow
//   S7   #4383: a wake is used up by a worker that searches in vain
//        RunQueuesTest.TheLastSearchingWorkerWakesAnotherForTheRest; model
//        Idle.ATaskArrivesWhileTheLastSearchEnds
//   S8   #2349, #5686, #5712: the slot keeps the queue from running
//        here: TwoTasksThatWakeEachOther*, AChainOfTasks*
//   S9   #4941, #8065: a task is in the slot of a worker that is stuck
//        LongPoll.AnotherWorkerRunsTheTask*, WatchdogTest; model
//        RunQueues.TheWatchdogRescuesABusyWorkersTasks
//   S10  #6596: BlockInPlace leaves the slot full
//        BlockInPlaceTest.GivesTheWorkersPrivateTasksToOthers
//   S11  #5239, #5837: BlockInPlace is nested
//        BlockInPlace.CallsCanBeNested, BlockInPlaceTest.OneInsideAnother*
//   S12  #6999, #7216, #7879: deferred wakers are left behind
//        no list of them exists: a task that yields is back in a queue when
//        its poll has ended. BlockInPlace.ATaskThatHasYieldedRunsDuringTheCall
//   S13  #5223, #5251: tasks that yield keep the drivers from running
//        here: ATaskThatYieldsLetsTheDriverRun, AMainFutureThatYields*
//   S14  #2119, #2061, #2046, #2789: a shutdown hangs
//        here: AShutdown*; RuntimeTest.ATaskSpawnedByADestructor*; model
//        RunQueues.CloseLeavesNoWorkerAsleep
//   S15  #3869, #3752: a shutdown comes before the threads have begun
//        here: AShutdownRightAfterTheStart
//   S16  #2062, #1972: a wake comes while the future is destroyed, or
//        destroys the future
//        task_combinations_test; TaskAbortTest.AFutureCanWakeItsTaskWhile*,
//        .AbortNeverDestroysTheFutureItself
//   S17  #3929: an abort destroys the future on the aborting thread
//        tested like S16
//   S18  #3159, #3672: an abort meets a shutdown
//        task_combinations_test; model Task.IsAbortedAndShutDownDuring*
//   S19  #4430: the output's destructor throws in ~JoinHandle
//        does not compile: cell_nc_test
//   S20  #2096, #2044, #6986: the joiner's waker
//        models Task.*Join*; TaskTest.ADroppedHandleDropsItsWaker
//   S21  #7622: a wake of a task that is queued must order, too
//        model Task.APollSeesWhatCameBeforeEveryWake
//   S22  #5772: guards are destroyed in another order
//        guards can be neither moved nor copied; another order is a panic
//        (HandleTest.GuardsDestroyedInTheWrongOrderAbort)
//   S23  #7834, #8212, #8222: hooks make work
//        HooksTest.BeforeParkCanSpawn, .BeforeParkCanWakeATask,
//        .BeforeParkCanWakeTheMainFutureBesideATimer
//   S24  #8078: a random generator has the state zero
//        FastRand.SeedZeroIsValid
//   S25  #3564, #1861: each of many runtimes leaves something behind
//        here: ManyRuntimesLeaveNothingBehind
//   S26  #8391: a dump comes while the scheduler works
//        nothing is borrowed: models TaskTrace.*
//   S27  tokio 0.1 #459, #507: park against unpark
//        models Parker.*, ThreadParker.*; ParkerStress
//        tokio 0.1 #795: a permit to block is given to a task that does not
//        use the permit, and is lost
//        no such permits exist, but threads, and a queue for them: models
//        BlockingPool.*; BlockInPlace.TasksWaitBeyondTheThreadLimit. For
//        permits of a `Semaphore`: models
//        Semaphore.PermitsOfACancelledWaiterShowWhatTheReleaserDid,
//        .ConcurrentCancel, .AllWaitersAreCancelledDuringARelease
//   S27b #4730, #6315: the worker that had the driver is in a long poll
//        LongPoll.ATimer*, .ASocket*;
//        WatchdogTest.MakesASleepingWorkerParkInTheDriver
//   P1 to P6, about the blocking pool
//        blocking_pool_test.cc says where
//   L1   #1885, #1892, #1905: a local set hangs at its end, and under load
//        LocalSetShutdown.EndsAlthoughItsTasks*;
//        LocalSet.APollRunsALimitedNumberOfTasks
//   L2   #2460, #2462: all tasks of a set have a single budget
//        LocalSet.EachTaskHasItsOwnBudget
//   L3   #3117, #3369: a spawn into a set does not wake the set's poller
//        LocalSet.SpawningWakesAPollerOfTheSet
//   L4   #5020, #6016: a spawn inside a guard does not wake the poller
//        LocalSet.SpawningInsideAGuardWakesAPollerOfTheSet
//   L5   #3978: a task that is woken while its set is destroyed is never freed
//        LocalSetShutdown.ATaskWokenDuring*; models
//        LocalSet.*DuringShutdown
//   L6   #7368, #7372: BlockInPlace in a task of a set
//        the poll ends on its thread, wherever the worker goes:
//        BlockInPlaceInALocalSet.*

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/runtime_fixture.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;

// S22.
static_assert(!std::is_move_constructible_v<EnterGuard> &&
              !std::is_move_assignable_v<EnterGuard>);

Co<> Set(std::atomic<bool>* flag) {
  *flag = true;
  co_return;
}

Co<> SleepAndSet(std::atomic<bool>* flag) {
  co_await Sleep(absl::Milliseconds(1));
  *flag = true;
}

using SchedulerTrapsTest = EitherRuntimeTest;
INSTANTIATE_TEST_SUITE_P(Kinds, SchedulerTrapsTest, ::testing::Bool(),
                         &KindOfRuntime);

// Returns a runtime of either kind, with a single worker and a LIFO slot. No
// other thread helps the worker.
Runtime OneWorker(Builder builder) {
  absl::StatusOr<Runtime> runtime = builder.WorkerThreads(1)
                                        .LifoSlot(true)
                                        .LongPollBound(absl::InfiniteDuration())
                                        .Build();
  EXPECT_THAT(runtime, IsOk());
  return *std::move(runtime);
}

// S8. The two tasks always have the slot; the third task is in the queue.
TEST_P(SchedulerTrapsTest, TwoTasksThatWakeEachOtherLetOthersRun) {
  Runtime runtime = OneWorker(MakeBuilder());
  std::atomic<bool> ran{false};
  std::atomic<int> turn{0};
  AtomicWaker wakers[2];
  auto play = [&](int me) {
    return PollFn([&, me](Context& cx) -> PollResult<void> {
      wakers[me].Register(cx.waker());
      if (turn % 2 == me) ++turn;
      wakers[1 - me].Wake();
      if (ran) return {};
      return kPending;
    });
  };
  auto main = [&]() -> Co<> {
    JoinHandle<void> other = Spawn(Set(&ran));
    JoinHandle<void> ping = Spawn(play(0));
    JoinHandle<void> pong = Spawn(play(1));
    EXPECT_THAT(co_await other, IsOk());
    EXPECT_THAT(co_await ping, IsOk());
    EXPECT_THAT(co_await pong, IsOk());
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(main)), IsOk());
}

// S8. The main future has the task in the slot each time.
TEST(SchedulerTraps, AMainFutureAndATaskThatWakeEachOtherLetOthersRun) {
  Builder builder = Builder::CurrentThread();
  builder.LifoSlot(true);
  Runtime runtime = OneWorker(std::move(builder));
  bool ran = false;
  int turns = 0;
  AtomicWaker wakers[2];
  auto play = [&](int me) {
    return PollFn([&, me](Context& cx) -> PollResult<void> {
      wakers[me].Register(cx.waker());
      wakers[1 - me].Wake();
      if (ran || ++turns == 100'000) return {};
      return kPending;
    });
  };
  auto third = [&ran]() -> Co<> {
    ran = true;
    co_return;
  };
  auto main = [&]() -> Co<> {
    JoinHandle<void> other = Spawn(third);
    JoinHandle<void> task = Spawn(play(0));
    co_await play(1);
    EXPECT_TRUE(ran);
    EXPECT_THAT(co_await other, IsOk());
    EXPECT_THAT(co_await task, IsOk());
  };
  runtime.BlockOn(main);
}

// S8. Each task has its successor in the slot.
TEST_P(SchedulerTrapsTest, AChainOfTasksLetsOthersRun) {
  Runtime runtime = OneWorker(MakeBuilder());
  std::atomic<bool> ran{false};
  std::atomic<int> links{0};
  std::atomic<bool> ended{false};
  std::function<Co<>()> link = [&]() -> Co<> {
    ++links;
    if (ran) {
      ended = true;
    } else {
      Spawn(std::ref(link)).Detach();
    }
    co_return;
  };
  auto main = [&]() -> Co<> {
    Spawn(Set(&ran)).Detach();
    Spawn(std::ref(link)).Detach();
    while (!ended) co_await Yield();
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(main)), IsOk());
  // Three links come from the slot, and another one or two.
  EXPECT_LT(links, 20);
}

// Tasks of the worker do not keep tasks from outside waiting either.
TEST_P(SchedulerTrapsTest, TasksThatYieldLetInjectedTasksRun) {
  Runtime runtime = OneWorker(MakeBuilder());
  std::atomic<bool> begun{false};
  std::atomic<bool> ran{false};
  auto yields = [&]() -> Co<> {
    while (!ran) {
      begun = true;
      co_await Yield();
    }
  };
  std::thread outside([&] {
    while (!begun) std::this_thread::yield();
    runtime.Spawn(Set(&ran)).Detach();
  });
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(yields)), IsOk());
  outside.join();
}

// S13.
TEST_P(SchedulerTrapsTest, ATaskThatYieldsLetsTheDriverRun) {
  Runtime runtime = OneWorker(MakeBuilder());
  std::atomic<bool> slept{false};
  auto body = [&]() -> Co<> {
    Spawn(SleepAndSet(&slept)).Detach();
    while (!slept) co_await Yield();
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOk());
}

TEST_P(SchedulerTrapsTest, AMainFutureThatYieldsLetsTheDriverRun) {
  Runtime runtime = MakeRuntime();
  std::atomic<bool> slept{false};
  auto main = [&]() -> Co<> {
    Spawn(SleepAndSet(&slept)).Detach();
    while (!slept) co_await Yield();
  };
  runtime.BlockOn(main);
}

// S15.
TEST_P(SchedulerTrapsTest, AShutdownRightAfterTheStart) {
  for (int i = 0; i < 100; ++i) MakeRuntime();
}

// S14. Tasks arrive from before the shutdown until after it: each task runs, or
// is cancelled.
TEST_P(SchedulerTrapsTest, AShutdownRacesWithInjectedTasks) {
  for (int i = 0; i < 50; ++i) {
    std::optional<Runtime> runtime(MakeRuntime());
    const Handle handle = runtime->handle();
    std::atomic<int> spawned{0};
    std::vector<JoinHandle<void>> tasks;
    std::thread outside([&] {
      for (int t = 0; t < 200; ++t) {
        tasks.push_back(handle.Spawn([]() -> Co<> { co_await Yield(); }));
        ++spawned;
      }
    });
    while (spawned < 4 * i) std::this_thread::yield();
    runtime.reset();
    outside.join();
    for (const JoinHandle<void>& task : tasks) {
      EXPECT_TRUE(task.IsFinished());
    }
    EXPECT_EQ(handle.alive_tasks(), 0u);
  }
}

// S14. The tasks wait for each other, and each keeps the runtime's handle.
TEST_P(SchedulerTrapsTest, AShutdownOfTasksThatJoinEachOther) {
  std::optional<Runtime> runtime(MakeRuntime());
  const Handle handle = runtime->handle();
  auto forever = []() -> Co<> { co_await Sleep(absl::InfiniteDuration()); };
  JoinHandle<void> last = runtime->Spawn(forever);
  for (int i = 0; i < 20; ++i) {
    auto waits = [inner = std::move(last), handle]() mutable -> Co<> {
      EXPECT_THAT(co_await inner, StatusIs(absl::StatusCode::kCancelled));
    };
    last = runtime->Spawn(std::move(waits));
  }
  runtime->BlockOn([]() -> Co<> { co_await Yield(); });
  runtime.reset();
  EXPECT_TRUE(last.IsFinished());
  EXPECT_EQ(handle.alive_tasks(), 0u);
}

// S14. The shutdown comes while tasks wake each other all the time.
TEST_P(SchedulerTrapsTest, AShutdownAmidConstantWakes) {
  for (int i = 0; i < 20; ++i) {
    std::optional<Runtime> runtime(MakeRuntime());
    std::atomic<int> yields{0};
    auto busy = [&yields]() -> Co<> {
      for (;;) {
        ++yields;
        co_await Yield();
        Spawn([]() -> Co<> { co_await Sleep(absl::Milliseconds(1)); }).Detach();
      }
    };
    for (int t = 0; t < 8; ++t) runtime->Spawn(busy).Detach();
    auto wait = [&yields, i]() -> Co<> {
      while (yields < 10 * i) co_await Yield();
    };
    runtime->BlockOn(wait);
    runtime.reset();
  }
}

// Returns the number of files in a folder of /proc/self.
size_t CountIn(const char* folder) {
  using Iterator = std::filesystem::directory_iterator;
  const auto count = std::distance(Iterator(folder), Iterator());
  return static_cast<size_t>(count);
}

// S25. (The sanitizers check memory.)
TEST_P(SchedulerTrapsTest, ManyRuntimesLeaveNothingBehind) {
  const auto run = [] {
    Runtime runtime = MakeRuntime();
    std::atomic<bool> slept{false};
    EXPECT_THAT(runtime.BlockOn(runtime.Spawn(SleepAndSet(&slept))), IsOk());
    EXPECT_THAT(runtime.BlockOn(runtime.SpawnBlocking([] {})), IsOk());
  };
  run();
  const size_t descriptors = CountIn("/proc/self/fd");
  const size_t threads = CountIn("/proc/self/task");
  for (int i = 0; i < 50; ++i) run();
  EXPECT_EQ(CountIn("/proc/self/fd"), descriptors);
  // A joined thread may be listed for another moment.
  while (CountIn("/proc/self/task") > threads) std::this_thread::yield();
}

}  // namespace
}  // namespace rouse

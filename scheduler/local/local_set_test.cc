// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/local/local_set.h"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/future/join.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/task_local.h"
#include "rouse/future/yield.h"
#include "rouse/scheduler/group/join_set.h"
#include "rouse/scheduler/group/task_tracker.h"
#include "rouse/scheduler/local/local_schedule.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

// Ready when any thread has set it.
class Event {
 public:
  void Set() {
    set_.store(true, std::memory_order_relaxed);
    waker_.Wake();
  }

  class Wait {
   public:
    explicit Wait(Event& event) : event_(event) {}
    PollResult<void> Poll(Context& cx) {
      event_.waker_.Register(cx.waker());
      if (event_.set_.load(std::memory_order_relaxed)) return {};
      return kPending;
    }

   private:
    Event& event_;
  };

  Wait wait() { return Wait(*this); }

 private:
  std::atomic<bool> set_ = false;
  AtomicWaker waker_;
};

Co<> Note(std::vector<int>& log, int number) {
  log.push_back(number);
  co_return;
}

Co<> YieldTimes(int times) {
  for (int i = 0; i < times; ++i) co_await Yield();
}

TEST(LocalSet, RunsItsTasksWhenItIsPolled) {
  LocalSet set;
  static_assert(Future<LocalSet>);
  std::vector<int> log;
  for (int i = 0; i < 3; ++i) set.Spawn(Note(log, i)).Detach();
  EXPECT_THAT(log, ElementsAre());
  EXPECT_EQ(set.alive_tasks(), 3u);
  EXPECT_TRUE(PollOnce(set).IsReady());
  EXPECT_THAT(log, ElementsAre(0, 1, 2));
  EXPECT_EQ(set.alive_tasks(), 0u);
}

TEST(LocalSet, IsReadyEachTimeAllTasksHaveEnded) {
  LocalSet set;
  EXPECT_TRUE(PollOnce(set).IsReady());
  for (int round = 0; round < 2; ++round) {
    Event event;
    set.Spawn(event.wait()).Detach();
    EXPECT_TRUE(PollOnce(set).IsPending());
    event.Set();
    EXPECT_TRUE(PollOnce(set).IsReady());
  }
}

TEST(LocalSet, RunUntilRunsTasksAndItsFuture) {
  LocalSet set;
  auto child = []() -> Co<int> {
    co_await YieldTimes(3);
    co_return 7;
  };
  auto main = [&]() -> Co<absl::StatusOr<int>> {
    co_return co_await SpawnLocal(child);
  };
  EXPECT_THAT(BlockOn(set.RunUntil(main)), IsOkAndHolds(7));
}

TEST(LocalSet, RunUntilLeavesTasksForLater) {
  LocalSet set;
  Event event;
  set.Spawn(event.wait()).Detach();
  BlockOn(set.RunUntil(YieldTimes(2)));
  EXPECT_EQ(set.alive_tasks(), 1u);
  event.Set();
  BlockOn(set);
  EXPECT_EQ(set.alive_tasks(), 0u);
}

TEST(LocalSet, RunUntilTracesItsFuture) {
  LocalSet set;
  auto run = set.RunUntil(YieldTimes(1));
  ASSERT_TRUE(PollOnce(run).IsPending());
  AwaitTrace trace;
  trace.Add(run);
  EXPECT_THAT(trace.ToString(), HasSubstr("YieldTimes at "));
}

TEST(LocalSet, RunUntilPollsAnLvalueInPlace) {
  LocalSet set;
  Co<> co = YieldTimes(1);
  {
    EXPECT_TRUE(PollOnce(set.RunUntil(co)).IsPending());
  }
  EXPECT_TRUE(PollOnce(set.RunUntil(co)).IsReady());
}

TEST(LocalSet, SpawnLocalFindsTheInnermostSet) {
  LocalSet outer;
  LocalSet inner;
  const LocalSetGuard enter = outer.Enter();
  {
    const LocalSetGuard again = inner.Enter();
    SpawnLocal(YieldTimes(0)).Detach();
    EXPECT_EQ(inner.alive_tasks(), 1u);
  }
  SpawnLocal(YieldTimes(0)).Detach();
  EXPECT_EQ(outer.alive_tasks(), 1u);
  auto body = []() -> Co<> {
    SpawnLocal(YieldTimes(0)).Detach();
    co_return;
  };
  EXPECT_TRUE(PollOnce(inner.RunUntil(body)).IsReady());
  EXPECT_EQ(inner.alive_tasks(), 2u);
}

TEST(LocalSet, ATaskWokenByAnotherThreadRunsOnItsOwnThread) {
  LocalSet set;
  Event event;
  const std::thread::id here = std::this_thread::get_id();
  auto body = [&]() -> Co<bool> {
    co_await event.wait();
    co_return std::this_thread::get_id() == here;
  };
  JoinHandle<bool> handle = set.Spawn(body);
  std::thread other([&] { event.Set(); });
  EXPECT_THAT(BlockOn(set.RunUntil(handle)), IsOkAndHolds(true));
  other.join();
}

TEST(LocalSet, AnotherThreadCanJoinAndAbortATask) {
  LocalSet set;
  Event event;
  JoinHandle<void> handle = set.Spawn(event.wait());
  EXPECT_TRUE(PollOnce(set).IsPending());
  absl::Status result;
  std::thread other([&] {
    handle.Abort();
    result = BlockOn(handle);
  });
  BlockOn(set);
  other.join();
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kCancelled));
}

// L1, tokio #1905: a set hung under load.
TEST(LocalSet, APollRunsALimitedNumberOfTasks) {
  LocalSet set;
  std::vector<int> log;
  for (int i = 0; i < 100; ++i) set.Spawn(Note(log, i)).Detach();
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    EXPECT_TRUE(PollOnce(set, waker).IsPending());
    EXPECT_EQ(log.size(), 61u);
    EXPECT_EQ(task.wakes(), 1) << "there is more to run";
    EXPECT_TRUE(PollOnce(set, waker).IsReady());
    EXPECT_EQ(log.size(), 100u);
  }
}

TEST(LocalSet, BusyTasksDoNotDelayARemoteWake) {
  LocalSet set;
  Event event;
  bool woken = false;
  auto waits = [&]() -> Co<> {
    co_await event.wait();
    woken = true;
  };
  set.Spawn(waits).Detach();
  set.Spawn(YieldTimes(1'000'000)).Detach();
  EXPECT_TRUE(PollOnce(set).IsPending());
  std::thread other([&] { event.Set(); });
  other.join();
  EXPECT_TRUE(PollOnce(set).IsPending());
  EXPECT_TRUE(woken);
}

TEST(LocalSet, APollerOfTheSetIsWokenWithItsTasks) {
  LocalSet set;
  Event event;
  set.Spawn(event.wait()).Detach();
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    EXPECT_TRUE(PollOnce(set, waker).IsPending());
    EXPECT_EQ(task.wakes(), 0);
    event.Set();
    EXPECT_EQ(task.wakes(), 1);
    EXPECT_TRUE(PollOnce(set, waker).IsReady());
  }
  EXPECT_EQ(task.live(), 0);
}

TEST(LocalSet, ADestroyedPollerStrandsNoOther) {
  LocalSet set;
  CountingWaker first;
  CountingWaker second;
  Event event;
  Event never;
  {
    const Waker waker1 = first.NewWaker();
    const Waker waker2 = second.NewWaker();
    auto stays = set.RunUntil(set.Spawn(event.wait()));
    EXPECT_TRUE(PollOnce(stays, waker1).IsPending());
    {
      auto dropped = set.RunUntil(never.wait());
      EXPECT_TRUE(PollOnce(dropped, waker2).IsPending());
      event.Set();
      EXPECT_EQ(second.wakes(), 1);
    }
    EXPECT_EQ(first.wakes(), 1);
    EXPECT_TRUE(PollOnce(stays, waker1).IsPending()) << "ends the task";
    EXPECT_THAT(PollOnce(stays, waker1).value(), IsOk());
  }
}

TEST(LocalSet, SeveralPollersWaitAtOnce) {
  LocalSet set;
  auto body = [](int times) -> Co<int> {
    for (int i = 0; i < times; ++i) {
      const absl::Status joined = co_await SpawnLocal(YieldTimes(i));
      if (!joined.ok()) co_return -1;
    }
    co_return times;
  };
  EXPECT_EQ(BlockOn(Join(set.RunUntil(body(10)), set.RunUntil(body(40)),
                         set.RunUntil(body(20)))),
            std::tuple(10, 40, 20));
}

TEST(LocalSet, APollerIsNotifiedThatAnotherHasRunTheLastTask) {
  LocalSet set;
  Event event;
  CountingWaker waits;
  CountingWaker runs;
  const Waker waiting = waits.NewWaker();
  const Waker running = runs.NewWaker();
  set.Spawn(event.wait()).Detach();
  EXPECT_TRUE(PollOnce(set, waiting).IsPending());
  auto set_event = [&event](Context&) -> PollResult<void> {
    event.Set();
    return kPending;
  };
  {
    auto until = set.RunUntil(PollFn(set_event));
    EXPECT_TRUE(PollOnce(until, running).IsPending());
    EXPECT_EQ(set.alive_tasks(), 0u);
    EXPECT_EQ(waits.wakes(), 1);
    EXPECT_TRUE(PollOnce(set, waiting).IsReady());
  }
}

TEST(LocalSet, RunUntilWorksInsideItsOwnTask) {
  LocalSet set;
  auto inner = [&]() -> Co<absl::Status> {
    auto joined = SpawnLocal(YieldTimes(3));
    co_return co_await set.RunUntil(std::move(joined));
  };
  EXPECT_THAT(BlockOn(set.RunUntil(set.Spawn(inner))), IsOk());
}

// L2, tokio #2460 and #2462: with one budget for all, a future that used it up
// starved the tasks for which it waited.
TEST(LocalSet, EachTaskHasItsOwnBudget) {
  LocalSet set;
  const auto use_all = [](Context& cx) {
    int units = 0;
    for (;;) {
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return units;
      unit->MadeProgress();
      ++units;
    }
  };
  class Spender {
   public:
    Spender(decltype(use_all) use, std::vector<int>& log)
        : use_(use), log_(log) {}
    PollResult<void> Poll(Context& cx) {
      log_.push_back(use_(cx));
      if (std::exchange(again_, true)) return {};
      return kPending;
    }

   private:
    decltype(use_all) use_;
    std::vector<int>& log_;
    bool again_ = false;
  };
  std::vector<int> log;
  for (int i = 0; i < 2; ++i) set.Spawn(Spender(use_all, log)).Detach();
  EXPECT_TRUE(PollOnce(set.RunUntil(Spender(use_all, log))).IsPending());
  const int all = static_cast<int>(kBudgetPerPoll);
  ASSERT_GE(log.size(), 3u);
  for (const int units : log) EXPECT_EQ(units, all);
}

// L3, tokio #3117 and #3369.
TEST(LocalSet, SpawningWakesAPollerOfTheSet) {
  LocalSet set;
  Event never;
  auto runs = set.RunUntil(never.wait());
  auto spawns = [&]() -> Co<absl::Status> {
    co_return co_await set.Spawn(YieldTimes(0));
  };
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    EXPECT_TRUE(PollOnce(runs, waker).IsPending());
    Co<absl::Status> co = spawns();
    EXPECT_TRUE(PollOnce(co).IsPending());
    EXPECT_EQ(task.wakes(), 1);
    EXPECT_TRUE(PollOnce(runs, waker).IsPending());
    EXPECT_THAT(PollOnce(co).value(), IsOk());
  }
  never.Set();
  EXPECT_TRUE(PollOnce(runs).IsReady());
}

// L4, tokio #5020 and #6016: inside a guard, the set was mistaken for being
// polled.
TEST(LocalSet, SpawningInsideAGuardWakesAPollerOfTheSet) {
  LocalSet set;
  Event event;
  set.Spawn(event.wait()).Detach();
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    EXPECT_TRUE(PollOnce(set, waker).IsPending());
    const LocalSetGuard enter = set.Enter();
    SpawnLocal(YieldTimes(0)).Detach();
    EXPECT_EQ(task.wakes(), 1);
    event.Set();
    EXPECT_TRUE(PollOnce(set, waker).IsReady());
  }
}

TEST(LocalSet, ItsTasksDoNotSeeTheTaskLocalsOfThePoller) {
  static constinit TaskLocal<int> number("number");
  LocalSet set;
  auto child = []() -> Co<bool> { co_return number.Get() == nullptr; };
  auto main = [&]() -> Co<absl::StatusOr<bool>> {
    if (*number.Get() != 1) co_return false;
    co_return co_await SpawnLocal(child);
  };
  EXPECT_THAT(BlockOn(number.Scope(1, set.RunUntil(main))), IsOkAndHolds(true));
}

TEST(LocalSet, TakesTheTasksOfAJoinSetAndATracker) {
  LocalSet set;
  JoinSet<void> joined;
  const TaskTracker tracker;
  joined.SpawnOn(set, tracker.Track(YieldTimes(2)));
  tracker.SpawnOn(set, YieldTimes(1)).Detach();
  tracker.Close();
  BlockOn(set.RunUntil(tracker.Wait()));
  EXPECT_THAT(BlockOn(set.RunUntil(joined.Next())), Optional(IsOk()));
}

TEST(LocalSet, AMovedSetKeepsItsTasks) {
  LocalSet set;
  JoinHandle<void> handle = set.Spawn(YieldTimes(2));
  LocalSet moved(std::move(set));
  BlockOn(moved);
  EXPECT_TRUE(handle.IsFinished());
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(LocalSet, AnExceptionOfItsFutureLosesNoTask) {
  LocalSet set;
  auto main = []() -> Co<> {
    co_await Yield();
    SpawnLocal(YieldTimes(0)).Detach();
    throw std::runtime_error("no");
  };
  EXPECT_THROW(BlockOn(set.RunUntil(main)), std::runtime_error);
  EXPECT_EQ(scheduler::CurrentLocal(), nullptr);
  EXPECT_TRUE(PollOnce(set).IsReady());
}

TEST(LocalSet, UsingItOnAnotherThreadPanics) {
  LocalSet set;
  auto until = set.RunUntil(YieldTimes(0));
  std::thread other([&] {
    EXPECT_PANIC(static_cast<void>(PollOnce(set)),
                 "LocalSet::Poll was called on another thread");
    EXPECT_PANIC(static_cast<void>(PollOnce(until)),
                 "LocalSet::RunUntil was called on another thread");
    EXPECT_PANIC(set.Spawn(YieldTimes(0)),
                 "LocalSet::Spawn was called on another thread");
    EXPECT_PANIC(static_cast<void>(set.Enter()),
                 "LocalSet::Enter was called on another thread");
  });
  other.join();
  EXPECT_TRUE(PollOnce(until).IsReady());
}

TEST(LocalSet, ATaskThatWaitsForItsOwnSetPanics) {
  LocalSet set;
  auto body = [&]() -> Co<> { co_await set; };
  JoinHandle<void> handle = set.Spawn(body);
  BlockOn(set);
  EXPECT_THAT(
      BlockOn(handle),
      StatusIs(absl::StatusCode::kInternal,
               HasSubstr("LocalSet was polled by one of its own tasks")));
}

#endif  // ABSL_HAVE_EXCEPTIONS

TEST(LocalSet, SpawnLocalWithoutASetPanics) {
  EXPECT_PANIC(SpawnLocal(YieldTimes(0)),
               "SpawnLocal: this thread has no LocalSet");
}

TEST(LocalSet, PollingACompleteRunUntilPanics) {
  LocalSet set;
  auto until = set.RunUntil(YieldTimes(0));
  EXPECT_TRUE(PollOnce(until).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(until)), "call RunUntil()");
}

}  // namespace
}  // namespace rouse

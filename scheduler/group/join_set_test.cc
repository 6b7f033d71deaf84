// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/group/join_set.h"

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/future/stream.h"
#include "rouse/future/yield.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/worker.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/group_fixture.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Optional;

class JoinSetTest : public GroupTest {
 protected:
  // Returns the number that `Next()` gives now, or -1.
  static int NextNow(JoinSet<int>& set) {
    PollResult<std::optional<absl::StatusOr<int>>> next = PollOnce(set.Next());
    return next.IsReady() && next->has_value() ? (**next).value_or(-2) : -1;
  }
};

TEST_F(JoinSetTest, ReturnsResultsInTheOrderOfCompletion) {
  JoinSet<int> set;
  for (int i = 0; i < 4; ++i) set.Spawn(gates_.Task(i));
  RunReady();
  EXPECT_EQ(NextNow(set), -1);
  for (int i : {2, 0, 3}) OpenAndRun(i);
  EXPECT_EQ(NextNow(set), 2);
  EXPECT_EQ(NextNow(set), 0);
  OpenAndRun(1);
  EXPECT_EQ(NextNow(set), 3);
  EXPECT_EQ(NextNow(set), 1);
  EXPECT_TRUE(set.empty());
}

TEST_F(JoinSetTest, AnEmptySetReturnsNothingAtOnce) {
  JoinSet<int> set;
  EXPECT_FALSE(PollOnce(set.Next()).value().has_value());
  set.Spawn(gates_.Task(0));
  RunReady();
  OpenAndRun(0);
  EXPECT_EQ(NextNow(set), 0);
  EXPECT_FALSE(PollOnce(set.Next()).value().has_value());
  EXPECT_FALSE(PollOnce(set.NextWithId()).value().has_value());
}

TEST_F(JoinSetTest, WakesTheWaiterWhenATaskEnds) {
  JoinSet<int> set;
  set.Spawn(gates_.Task(0));
  set.Spawn(gates_.Task(1));
  RunReady();
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    auto next = set.Next();
    static_assert(Future<decltype(next)>);
    EXPECT_TRUE(PollOnce(next, waker).IsPending());
    EXPECT_EQ(task.wakes(), 0);
    OpenAndRun(1);
    EXPECT_EQ(task.wakes(), 1);
    EXPECT_THAT(PollOnce(next, waker).value(), Optional(IsOkAndHolds(1)));
  }
}

TEST_F(JoinSetTest, ACancelledNextTakesNoResult) {
  JoinSet<int> set;
  set.Spawn(gates_.Task(0));
  {
    auto next = set.Next();
    EXPECT_TRUE(PollOnce(next).IsPending());
    RunReady();
    OpenAndRun(0);
  }
  EXPECT_EQ(set.size(), 1u);
  EXPECT_EQ(NextNow(set), 0);
}

TEST_F(JoinSetTest, ACancelledNextIsNotWoken) {
  JoinSet<int> set;
  set.Spawn(gates_.Task(0));
  RunReady();
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    auto next = set.Next();
    EXPECT_TRUE(PollOnce(next, waker).IsPending());
    EXPECT_EQ(task.live(), 2);
  }
  EXPECT_EQ(task.live(), 0);
  OpenAndRun(0);
  EXPECT_EQ(task.wakes(), 0);
}

TEST_F(JoinSetTest, TryNextTakesAnAvailableResult) {
  JoinSet<int> set;
  EXPECT_FALSE(set.TryNext().has_value());
  set.Spawn(gates_.Task(0));
  RunReady();
  EXPECT_FALSE(set.TryNext().has_value());
  OpenAndRun(0);
  EXPECT_THAT(set.TryNext(), Optional(IsOkAndHolds(0)));
  EXPECT_FALSE(set.TryNext().has_value());
}

TEST_F(JoinSetTest, ReturnsTheIdOfTheTask) {
  JoinSet<int> set;
  const TaskId first = set.Spawn(gates_.Task(0));
  const TaskId second = set.Spawn(gates_.Task(1));
  EXPECT_NE(first, second);
  RunReady();
  OpenAndRun(1);
  OpenAndRun(0);
  const auto joined = PollOnce(set.NextWithId()).value();
  ASSERT_TRUE(joined.has_value());
  EXPECT_EQ(joined->id, second);
  EXPECT_THAT(joined->result, IsOkAndHolds(1));
  EXPECT_EQ(joined->exception, nullptr);
  EXPECT_EQ(set.TryNextWithId()->id, first);
}

TEST_F(JoinSetTest, SpawnsOnTheGivenScheduler) {
  JoinSet<int> set;
  set.SpawnOn(*scheduler_, gates_.Task(0));
  RunReady();
  OpenAndRun(0);
  EXPECT_EQ(NextNow(set), 0);
}

TEST_F(JoinSetTest, AcceptsACompleteTask) {
  JoinSet<int> set;
  gates_.Open(0);
  JoinHandle<int> handle = Spawn(gates_.Task(0));
  RunReady();
  set.Insert(std::move(handle));
  EXPECT_EQ(NextNow(set), 0);
}

TEST_F(JoinSetTest, HoldsTasksOfVoid) {
  JoinSet<void> set;
  auto body = []() -> Co<> { co_return; };
  set.Spawn(body);
  RunReady();
  EXPECT_THAT(PollOnce(set.Next()).value(), Optional(IsOk()));
}

TEST_F(JoinSetTest, AbortAllCancelsLiveTasks) {
  JoinSet<int> set;
  for (int i = 0; i < 3; ++i) set.Spawn(gates_.Task(i));
  RunReady();
  OpenAndRun(1);
  set.AbortAll();
  EXPECT_EQ(set.size(), 3u);
  RunReady();
  EXPECT_EQ(NextNow(set), 1);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(PollOnce(set.Next()).value(),
                Optional(StatusIs(absl::StatusCode::kCancelled)));
  }
  EXPECT_TRUE(set.empty());
}

TEST_F(JoinSetTest, DestroyingTheSetAbortsItsTasks) {
  {
    JoinSet<int> set;
    for (int i = 0; i < 3; ++i) set.Spawn(gates_.Task(i));
    RunReady();
    OpenAndRun(1);
    EXPECT_EQ(scheduler_->alive_tasks(), 2u);
  }
  RunReady();
  EXPECT_EQ(scheduler_->alive_tasks(), 0u);
}

TEST_F(JoinSetTest, DetachAllLetsTasksContinue) {
  bool ran = false;
  auto body = [&]() -> Co<int> {
    co_await Yield();
    ran = true;
    co_return 1;
  };
  JoinSet<int> set;
  set.Spawn(body);
  set.DetachAll();
  EXPECT_TRUE(set.empty());
  RunReady();
  RunReady();
  EXPECT_TRUE(ran);
  EXPECT_FALSE(PollOnce(set.Next()).value().has_value());
}

TEST_F(JoinSetTest, CanBeUsedAgainAfterDetachAll) {
  JoinSet<int> set;
  set.Spawn(gates_.Task(0));
  RunReady();
  set.DetachAll();
  set.Spawn(gates_.Task(1));
  OpenAndRun(0);
  EXPECT_EQ(NextNow(set), -1);
  OpenAndRun(1);
  EXPECT_EQ(NextNow(set), 1);
}

// A result that adds a task to a set when the result is destroyed.
class AddsATask {
 public:
  AddsATask(JoinSet<AddsATask>* set, int* destroyed)
      : set_(set), destroyed_(destroyed) {}
  AddsATask(AddsATask&& other) noexcept
      : set_(std::exchange(other.set_, nullptr)),
        destroyed_(other.destroyed_) {}
  AddsATask& operator=(AddsATask&&) = delete;
  ~AddsATask() {
    if (set_ == nullptr) return;
    ++*destroyed_;
    auto body = [set = set_, destroyed = destroyed_]() -> Co<AddsATask> {
      co_return AddsATask(set, destroyed);
    };
    set_->Spawn(body);
  }

 private:
  JoinSet<AddsATask>* set_;
  int* destroyed_;
};

TEST_F(JoinSetTest, DetachAllLeavesTasksAddedMeanwhile) {
  JoinSet<AddsATask> set;
  int destroyed = 0;
  auto body = [&]() -> Co<AddsATask> { co_return AddsATask(&set, &destroyed); };
  set.Spawn(body);
  RunReady();
  set.DetachAll();
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(set.size(), 1u);
  Close();
  const std::optional<absl::StatusOr<AddsATask>> next = set.TryNext();
  EXPECT_THAT(next, Optional(StatusIs(absl::StatusCode::kCancelled)));
}

TEST_F(JoinSetTest, AssignmentAbortsTasksAddedMeanwhile) {
  JoinSet<AddsATask> set;
  int destroyed = 0;
  auto body = [&]() -> Co<AddsATask> { co_return AddsATask(&set, &destroyed); };
  set.Spawn(body);
  RunReady();
  set = JoinSet<AddsATask>();
  EXPECT_EQ(destroyed, 1);
  EXPECT_TRUE(set.empty());
  RunReady();
  EXPECT_EQ(scheduler_->alive_tasks(), 0u);
}

// For a task that awaits `Next()` and concurrently empties the set.
TEST_F(JoinSetTest, ANextIsNotifiedThatTheSetIsEmpty) {
  for (const bool detach : {true, false}) {
    JoinSet<int> set;
    set.Spawn(gates_.Task(detach ? 0 : 1));
    RunReady();
    CountingWaker task;
    const Waker waker = task.NewWaker();
    {
      auto next = set.Next();
      EXPECT_TRUE(PollOnce(next, waker).IsPending());
      if (detach) {
        set.DetachAll();
      } else {
        OpenAndRun(1);
        EXPECT_THAT(set.TryNext(), Optional(IsOkAndHolds(1)));
      }
      EXPECT_EQ(task.wakes(), 1);
      EXPECT_EQ(PollOnce(next, waker).value(), std::nullopt);
    }
  }
}

TEST_F(JoinSetTest, ANextWaitsForTasksAddedAfterDetachAll) {
  JoinSet<int> set;
  set.Spawn(gates_.Task(0));
  RunReady();
  CountingWaker task;
  const Waker waker = task.NewWaker();
  auto next = set.Next();
  EXPECT_TRUE(PollOnce(next, waker).IsPending());
  set.DetachAll();
  set.Spawn(gates_.Task(1));
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(next, waker).IsPending());
  OpenAndRun(1);
  EXPECT_EQ(task.wakes(), 2);
  EXPECT_THAT(PollOnce(next, waker).value(), Optional(IsOkAndHolds(1)));
}

TEST_F(JoinSetTest, ShutdownWaitsForAllTasks) {
  JoinSet<int> set;
  for (int i = 0; i < 3; ++i) set.Spawn(gates_.Task(i));
  RunReady();
  OpenAndRun(2);
  auto shutdown = set.Shutdown();
  static_assert(Future<decltype(shutdown)>);
  EXPECT_TRUE(PollOnce(shutdown).IsPending());
  EXPECT_EQ(scheduler_->alive_tasks(), 2u);
  RunReady();
  EXPECT_TRUE(PollOnce(shutdown).IsReady());
  EXPECT_EQ(scheduler_->alive_tasks(), 0u);
  EXPECT_TRUE(set.empty());
}

TEST_F(JoinSetTest, ACancelledShutdownLeavesTheRestAborted) {
  JoinSet<int> set;
  for (int i = 0; i < 2; ++i) set.Spawn(gates_.Task(i));
  RunReady();
  {
    EXPECT_TRUE(PollOnce(set.Shutdown()).IsPending());
  }
  RunReady();
  EXPECT_EQ(set.size(), 2u);
  EXPECT_THAT(set.TryNext(), Optional(StatusIs(absl::StatusCode::kCancelled)));
}

TEST_F(JoinSetTest, TasksSpawnedAfterTheSchedulerEndsAreCancelled) {
  JoinSet<int> set;
  Close();
  set.Spawn(gates_.Task(0));
  EXPECT_THAT(set.TryNext(), Optional(StatusIs(absl::StatusCode::kCancelled)));
}

TEST_F(JoinSetTest, TasksEndWithTheirScheduler) {
  JoinSet<int> set;
  set.Spawn(gates_.Task(0));
  RunReady();
  Close();
  EXPECT_THAT(set.TryNext(), Optional(StatusIs(absl::StatusCode::kCancelled)));
}

TEST_F(JoinSetTest, EachResultTakesAUnitOfTheBudget) {
  JoinSet<int> set;
  const int count = 2 * static_cast<int>(kBudgetPerPoll);
  for (int i = 0; i < count; ++i) {
    gates_.Open(i);
    set.Spawn(gates_.Task(i));
  }
  RunReady();
  const Waker waker;
  Context cx(waker);
  int taken = 0;
  while (set.PollNext(cx).IsReady()) ++taken;
  EXPECT_EQ(taken, static_cast<int>(kBudgetPerPoll));
  // A pending poll takes nothing of the budget.
  Context again(waker);
  while (!set.empty() && set.PollNext(again).IsReady()) ++taken;
  EXPECT_EQ(taken, count);
}

TEST_F(JoinSetTest, AMovedSetKeepsItsTasks) {
  JoinSet<int> set;
  set.Spawn(gates_.Task(0));
  RunReady();
  JoinSet<int> moved(std::move(set));
  EXPECT_EQ(moved.size(), 1u);
  OpenAndRun(0);
  JoinSet<int> assigned;
  assigned.Spawn(gates_.Task(1));
  assigned = std::move(moved);
  EXPECT_EQ(NextNow(assigned), 0);
  RunReady();
  EXPECT_EQ(scheduler_->alive_tasks(), 0u) << "what it had was not aborted";
}

TEST_F(JoinSetTest, IsAStream) {
  static_assert(Stream<JoinSet<int>>);
  JoinSet<int> set;
  gates_.Open(5);
  set.Spawn(gates_.Task(5));
  RunReady();
  EXPECT_THAT(PollOnce(Next(set)).value(), Optional(IsOkAndHolds(5)));
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST_F(JoinSetTest, AnExceptionIsTheResultOfItsTask) {
  auto body = []() -> Co<int> {
    throw std::runtime_error("broken");
    co_return 1;
  };
  JoinSet<int> set;
  set.Spawn(body);
  RunReady();
  const auto joined = PollOnce(set.NextWithId()).value();
  EXPECT_THAT(joined->result,
              StatusIs(absl::StatusCode::kInternal, HasSubstr("broken")));
  EXPECT_THROW(std::rethrow_exception(joined->exception), std::runtime_error);
}

#endif  // ABSL_HAVE_EXCEPTIONS

TEST_F(JoinSetTest, PollingACompleteFuturePanics) {
  JoinSet<int> set;
  auto next = set.Next();
  EXPECT_TRUE(PollOnce(next).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(next)),
               "JoinSet::Next was polled after");
  auto with_id = set.NextWithId();
  EXPECT_TRUE(PollOnce(with_id).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(with_id)),
               "JoinSet::NextWithId was polled after");
  auto shutdown = set.Shutdown();
  EXPECT_TRUE(PollOnce(shutdown).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(shutdown)),
               "JoinSet::Shutdown was polled after");
}

// Two threads run the tasks, which end, are aborted, detached and joined in any
// order.
TEST_F(JoinSetTest, LosesNoTaskThatOtherThreadsRun) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 2; ++i) {
    threads.emplace_back([this, i] { scheduler_->worker(i).Run(); });
  }
  auto body = [](int number) -> Co<int> {
    for (int i = 0; i < number % 4; ++i) co_await Yield();
    co_return number;
  };
  auto main = [&]() -> Co<int> {
    int joined = 0;
    for (int round = 0; round < 60; ++round) {
      JoinSet<int> set;
      for (int i = 0; i < 20; ++i) set.Spawn(body(i));
      if (round % 3 == 1) set.AbortAll();
      if (round % 3 == 2) continue;  // destroyed while some tasks run
      while (auto result = co_await set.Next()) ++joined;
    }
    co_return joined;
  };
  EXPECT_EQ(BlockOn(main()), 40 * 20);
  scheduler_->Close();
  for (std::thread& thread : threads) thread.join();
}

TEST_F(JoinSetTest, TheOutcomeOfATaskIsPrinted) {
  EXPECT_EQ(absl::StrCat(JoinedTask<int>(7, 1, nullptr, false)), "task 7: OK");
  EXPECT_EQ(absl::StrCat(JoinedTask<void>(8, absl::CancelledError("aborted"),
                                          nullptr, true)),
            "task 8: CANCELLED: aborted");
}

TEST_F(JoinSetTest, AJoinHandleIsPrinted) {
  JoinHandle<int> handle = Spawn(gates_.Task(0));
  EXPECT_EQ(absl::StrCat(handle), absl::StrCat("task ", handle.id()));
  RunReady();
  OpenAndRun(0);
  EXPECT_THAT(PollOnce(handle).value(), IsOkAndHolds(0));
}

}  // namespace
}  // namespace rouse

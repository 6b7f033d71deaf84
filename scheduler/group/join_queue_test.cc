// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/group/join_queue.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/future/stream.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/group/join_set.h"
#include "rouse/scheduler/task/join_handle.h"
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
using ::testing::ElementsAre;
using ::testing::Optional;

static_assert(Stream<JoinQueue<int>>);

class JoinQueueTest : public GroupTest {
 protected:
  // Returns the number that `Next()` gives now, or -1.
  static int NextNow(JoinQueue<int>& queue) {
    PollResult<std::optional<absl::StatusOr<int>>> next =
        PollOnce(queue.Next());
    return next.IsReady() && next->has_value() ? (**next).value_or(-2) : -1;
  }
};

TEST_F(JoinQueueTest, ReturnsResultsInTheOrderOfSpawning) {
  JoinQueue<int> queue;
  for (int i = 0; i < 3; ++i) queue.Spawn(gates_.Task(i));
  RunReady();
  OpenAndRun(1);
  EXPECT_EQ(NextNow(queue), -1);
  OpenAndRun(0);
  EXPECT_EQ(queue.size(), 3u);
  EXPECT_EQ(NextNow(queue), 0);
  EXPECT_EQ(NextNow(queue), 1);
  EXPECT_EQ(NextNow(queue), -1);
  OpenAndRun(2);
  EXPECT_EQ(NextNow(queue), 2);
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(PollOnce(queue.Next()).value().has_value());
  EXPECT_FALSE(PollOnce(queue.NextWithId()).value().has_value());
}

TEST_F(JoinQueueTest, WakesTheWaiterWhenTheFirstTaskEnds) {
  JoinQueue<int> queue;
  queue.Spawn(gates_.Task(0));
  queue.Spawn(gates_.Task(1));
  RunReady();
  CountingWaker task;
  const Waker waker = task.NewWaker();
  auto next = queue.Next();
  static_assert(Future<decltype(next)>);
  EXPECT_TRUE(PollOnce(next, waker).IsPending());
  OpenAndRun(1);
  EXPECT_EQ(task.wakes(), 0);
  OpenAndRun(0);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_THAT(PollOnce(next, waker).value(), Optional(IsOkAndHolds(0)));
  EXPECT_PANIC(static_cast<void>(PollOnce(next)),
               "JoinQueue::Next was polled after");
}

TEST_F(JoinQueueTest, ACancelledNextTakesNoResult) {
  JoinQueue<int> queue;
  queue.Spawn(gates_.Task(0));
  {
    auto next = queue.Next();
    EXPECT_TRUE(PollOnce(next).IsPending());
    RunReady();
    OpenAndRun(0);
  }
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(NextNow(queue), 0);
}

TEST_F(JoinQueueTest, TryNextTakesTheFirstResultIfAvailable) {
  JoinQueue<int> queue;
  EXPECT_FALSE(queue.TryNext().has_value());
  queue.Spawn(gates_.Task(0));
  const TaskId second = queue.SpawnOn(*scheduler_, gates_.Task(1));
  RunReady();
  OpenAndRun(1);
  EXPECT_FALSE(queue.TryNext().has_value());
  OpenAndRun(0);
  EXPECT_THAT(queue.TryNext(), Optional(IsOkAndHolds(0)));
  const std::optional<JoinedTask<int>> joined = queue.TryNextWithId();
  ASSERT_TRUE(joined.has_value());
  EXPECT_EQ(joined->id, second);
  EXPECT_THAT(joined->result, IsOkAndHolds(1));
  EXPECT_FALSE(joined->was_cancelled);
  EXPECT_FALSE(queue.TryNext().has_value());
}

TEST_F(JoinQueueTest, EachResultTakesAUnitOfTheBudget) {
  JoinQueue<int> queue;
  constexpr int kTasks = kBudgetPerPoll + 1;
  for (int i = 0; i < kTasks; ++i) queue.Spawn(gates_.Task(i));
  RunReady();
  for (int i = 0; i < kTasks; ++i) gates_.Open(i);
  RunReady();
  const Waker waker;
  Context cx(waker);
  int ready = 0;
  while (queue.PollNext(cx).IsReady()) ++ready;
  EXPECT_EQ(ready, static_cast<int>(kBudgetPerPoll));
  EXPECT_EQ(NextNow(queue), kTasks - 1);
}

TEST_F(JoinQueueTest, HoldsTasksOfVoid) {
  JoinQueue<void> queue;
  auto body = []() -> Co<> { co_return; };
  queue.Spawn(body);
  queue.Insert(Spawn(body));
  RunReady();
  EXPECT_THAT(PollOnce(queue.Next()).value(), Optional(IsOk()));
  EXPECT_THAT(PollOnce(queue.Next()).value(), Optional(IsOk()));
}

TEST_F(JoinQueueTest, JoinAllGivesAllResultsInOrder) {
  JoinQueue<int> queue;
  for (int i = 0; i < 3; ++i) queue.Spawn(gates_.Task(i));
  RunReady();
  auto all = queue.JoinAll();
  EXPECT_TRUE(PollOnce(all).IsPending());
  for (const int i : {2, 0, 1}) OpenAndRun(i);
  const auto results = PollOnce(all);
  ASSERT_TRUE(results.IsReady());
  EXPECT_THAT(*results,
              ElementsAre(IsOkAndHolds(0), IsOkAndHolds(1), IsOkAndHolds(2)));
  EXPECT_PANIC(static_cast<void>(PollOnce(all)),
               "JoinQueue::JoinAll was polled after");
}

TEST_F(JoinQueueTest, AbortAllCancelsLiveTasks) {
  JoinQueue<int> queue;
  for (int i = 0; i < 2; ++i) queue.Spawn(gates_.Task(i));
  RunReady();
  OpenAndRun(1);
  queue.AbortAll();
  EXPECT_EQ(queue.size(), 2u);
  RunReady();
  EXPECT_THAT(PollOnce(queue.Next()).value(),
              Optional(StatusIs(absl::StatusCode::kCancelled)));
  EXPECT_EQ(NextNow(queue), 1);
}

TEST_F(JoinQueueTest, ShutdownAbortsAndWaits) {
  JoinQueue<int> queue;
  for (int i = 0; i < 2; ++i) queue.Spawn(gates_.Task(i));
  RunReady();
  auto shutdown = queue.Shutdown();
  EXPECT_EQ(scheduler_->alive_tasks(), 2u);
  EXPECT_TRUE(PollOnce(shutdown).IsPending());
  RunReady();
  EXPECT_TRUE(PollOnce(shutdown).IsReady());
  EXPECT_TRUE(queue.empty());
  EXPECT_PANIC(static_cast<void>(PollOnce(shutdown)),
               "JoinQueue::Shutdown was polled after");
}

TEST_F(JoinQueueTest, DestroyingOrReplacingTheQueueAbortsItsTasks) {
  {
    JoinQueue<int> queue;
    queue.Spawn(gates_.Task(0));
    JoinQueue<int> other;
    other.Spawn(gates_.Task(1));
    RunReady();
    EXPECT_EQ(scheduler_->alive_tasks(), 2u);
    queue = std::move(other);
    RunReady();
    EXPECT_EQ(scheduler_->alive_tasks(), 1u);
    EXPECT_EQ(queue.size(), 1u);
    JoinQueue<int> moved(std::move(queue));
    RunReady();
    EXPECT_EQ(scheduler_->alive_tasks(), 1u);
  }
  RunReady();
  EXPECT_EQ(scheduler_->alive_tasks(), 0u);
}

TEST_F(JoinQueueTest, DetachAllLetsTasksContinue) {
  JoinQueue<int> queue;
  queue.Spawn(gates_.Task(0));
  RunReady();
  queue.DetachAll();
  EXPECT_TRUE(queue.empty());
  RunReady();
  EXPECT_EQ(scheduler_->alive_tasks(), 1u);
  OpenAndRun(0);
  EXPECT_EQ(scheduler_->alive_tasks(), 0u);
}

}  // namespace
}  // namespace rouse

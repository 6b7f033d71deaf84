// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/group/abort_on_drop_handle.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/future.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/group_fixture.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;

using AbortOnDropHandleTest = GroupTest;

static_assert(Future<AbortOnDropHandle<int>>);

TEST_F(AbortOnDropHandleTest, GivesTheResult) {
  AbortOnDropHandle<int> handle(Spawn(gates_.Task(0)));
  RunReady();
  EXPECT_TRUE(PollOnce(handle).IsPending());
  EXPECT_FALSE(handle.IsFinished());
  {
    const Waker waker;
    Context cx(waker);
    EXPECT_TRUE(handle.PollFinished(cx).IsPending());
  }
  OpenAndRun(0);
  EXPECT_TRUE(handle.IsFinished());
  EXPECT_THAT(*PollOnce(handle), IsOkAndHolds(0));
  EXPECT_FALSE(handle.was_cancelled());
  EXPECT_EQ(handle.exception(), nullptr);
}

TEST_F(AbortOnDropHandleTest, ItsDestructorAbortsTheTask) {
  std::optional<AbortOnDropHandle<int>> handle(Spawn(gates_.Task(0)));
  RunReady();
  EXPECT_EQ(scheduler_->alive_tasks(), 1u);
  handle.reset();
  RunReady();
  EXPECT_EQ(scheduler_->alive_tasks(), 0u);
}

TEST_F(AbortOnDropHandleTest, AnAssignmentAbortsTheReplacedTask) {
  AbortOnDropHandle<int> handle(Spawn(gates_.Task(0)));
  AbortOnDropHandle<int> next(Spawn(gates_.Task(1)));
  const TaskId id = next.id();
  RunReady();
  EXPECT_EQ(scheduler_->alive_tasks(), 2u);
  handle = std::move(next);
  RunReady();
  EXPECT_EQ(scheduler_->alive_tasks(), 1u);
  EXPECT_EQ(handle.id(), id);
  OpenAndRun(1);
  EXPECT_THAT(*PollOnce(handle), IsOkAndHolds(1));
}

TEST_F(AbortOnDropHandleTest, AMovedFromHandleAbortsNothing) {
  std::optional<AbortOnDropHandle<int>> handle(Spawn(gates_.Task(0)));
  AbortOnDropHandle<int> moved = *std::move(handle);
  handle.reset();
  RunReady();
  OpenAndRun(0);
  EXPECT_THAT(*PollOnce(moved), IsOkAndHolds(0));
}

TEST_F(AbortOnDropHandleTest, ReleaseLetsTheTaskRunOn) {
  std::optional<JoinHandle<int>> released;
  {
    AbortOnDropHandle handle(Spawn(gates_.Task(0)));
    released.emplace(std::move(handle).Release());
  }
  RunReady();
  EXPECT_EQ(scheduler_->alive_tasks(), 1u);
  OpenAndRun(0);
  EXPECT_THAT(*PollOnce(*released), IsOkAndHolds(0));
}

TEST_F(AbortOnDropHandleTest, CanBeAborted) {
  AbortOnDropHandle<int> handle(Spawn(gates_.Task(0)));
  AbortOnDropHandle<int> other(Spawn(gates_.Task(1)));
  RunReady();
  handle.Abort();
  other.abort_handle().Abort();
  RunReady();
  EXPECT_THAT(*PollOnce(handle), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_TRUE(handle.was_cancelled());
  EXPECT_THAT(*PollOnce(other), StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace rouse

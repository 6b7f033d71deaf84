// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// The ways in which a task ends before it is ready: it is aborted, or shut
// down.

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/task_fixture.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::task {
namespace {

using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

using TaskAbortTest = TaskTest;

// Traps S16 (tokio #1972) and S17 (tokio #3929).
TEST_F(TaskAbortTest, AbortNeverDestroysTheFutureItself) {
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  schedule_->RunAll();
  handle.Abort();
  EXPECT_EQ(alive_, 1);
  EXPECT_EQ(schedule_->queued(), 1u);
  schedule_->RunAll();
  EXPECT_EQ(alive_, 0);
  EXPECT_THAT(PollOnce(handle).value(),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("task 1")));
}

TEST_F(TaskAbortTest, ATaskAbortedBeforeItsFirstPollIsNotPolled) {
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  handle.Abort();
  schedule_->RunAll();
  EXPECT_EQ(polls_, 0);
  EXPECT_THAT(PollOnce(handle).value(), StatusIs(absl::StatusCode::kCancelled));
}

// Cancellation is an error of the `StatusOr`, and not a value.
TEST_F(TaskAbortTest, CancellingAStatusOrOfAStatusIsAnError) {
  auto body = [this]() -> Co<absl::StatusOr<absl::Status>> {
    co_await Gate(this);
    co_return absl::OkStatus();
  };
  JoinHandle<absl::StatusOr<absl::Status>> handle = schedule_->Start(body);
  schedule_->RunAll();
  handle.Abort();
  schedule_->RunAll();
  EXPECT_THAT(PollOnce(handle).value(), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(TaskAbortTest, ATaskThatAbortsItselfEndsAtItsNextSuspension) {
  std::optional<JoinHandle<void>> handle;
  int steps = 0;
  auto body = [&]() -> Co<> {
    handle->Abort();
    ++steps;
    co_await Gate(this);
    ++steps;
  };
  handle = schedule_->Start(body);
  schedule_->RunAll();
  EXPECT_EQ(steps, 1);
  EXPECT_THAT(PollOnce(*handle).value(),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(TaskAbortTest, ShutdownCancelsAQueuedTask) {
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  schedule_->ShutdownListed();
  EXPECT_EQ(alive_, 0);
  EXPECT_THAT(PollOnce(handle).value(), StatusIs(absl::StatusCode::kCancelled));
  schedule_->RunAll();  // finds the task complete
  EXPECT_EQ(polls_, 0);
}

TEST_F(TaskAbortTest, ShutdownCancelsASuspendedTask) {
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  schedule_->RunAll();
  schedule_->ShutdownListed();
  EXPECT_EQ(alive_, 0);
  EXPECT_THAT(PollOnce(handle).value(), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(TaskAbortTest, WakersOfACompleteTaskDoNothing) {
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  schedule_->RunAll();
  Waker other = waker_.Clone();
  handle.Abort();
  schedule_->RunAll();
  waker_.WakeByRef();
  std::move(other).Wake();
  EXPECT_EQ(schedule_->queued(), 0u);
}

// Trap S16 (tokio #2062).
TEST_F(TaskAbortTest, AFutureCanWakeItsTaskWhileDestroyed) {
  class WakesAtItsEnd {
   public:
    WakesAtItsEnd() = default;
    WakesAtItsEnd(WakesAtItsEnd&& other) noexcept = default;
    WakesAtItsEnd& operator=(WakesAtItsEnd&&) = delete;
    ~WakesAtItsEnd() {
      waker_.WakeByRef();
      std::move(waker_).Wake();
    }
    PollResult<int> Poll(Context& cx) {
      waker_ = cx.waker().Clone();
      return kPending;
    }

   private:
    Waker waker_;
  };
  JoinHandle<int> handle = schedule_->Start(WakesAtItsEnd());
  schedule_->RunAll();
  handle.Abort();
  schedule_->RunAll();
  EXPECT_EQ(schedule_->queued(), 0u);
  EXPECT_THAT(PollOnce(handle).value(), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(TaskAbortTest, AnAbortedTaskDiffersFromOneThatReturnsCancelled) {
  JoinHandle<int> aborted = schedule_->Start(Gate(this));
  aborted.Abort();
  EXPECT_FALSE(aborted.was_cancelled());  // before the task has ended
  schedule_->RunAll();
  EXPECT_THAT(PollOnce(aborted).value(),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_TRUE(aborted.was_cancelled());
  auto body = []() -> Co<absl::Status> { co_return absl::CancelledError(); };
  JoinHandle<absl::Status> returns = schedule_->Start(body);
  schedule_->RunAll();
  EXPECT_THAT(PollOnce(returns).value(),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_FALSE(returns.was_cancelled());
  JoinHandle<int> moved = std::move(aborted);
  EXPECT_TRUE(moved.was_cancelled());
}

}  // namespace
}  // namespace rouse::task

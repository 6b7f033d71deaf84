// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/task/abort_handle.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/manual_schedule.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::absl_testing::StatusIs;

// A future that is ready when the test says so. Holds `token`, and returns it.
class Gate {
 public:
  Gate(const bool* open, std::shared_ptr<int> token)
      : open_(open), token_(std::move(token)) {}
  PollResult<std::shared_ptr<int>> Poll(Context&) {
    if (*open_) return token_;
    return kPending;
  }

 private:
  const bool* open_;
  std::shared_ptr<int> token_;
};

class AbortHandleTest : public ::testing::Test {
 protected:
  using Handle = JoinHandle<std::shared_ptr<int>>;

  // Every task has dropped its scheduler by now; otherwise the leak check
  // reports it.
  ~AbortHandleTest() override { schedule_->Unref(); }

  Handle Start() { return schedule_->Start(Gate(&open_, token_)); }

  task::ManualSchedule* schedule_ = new task::ManualSchedule;
  bool open_ = false;
  std::shared_ptr<int> token_ = std::make_shared<int>(1);
};

TEST_F(AbortHandleTest, TheTaskEndsOnTheThreadThatRunsIt) {
  Handle handle = Start();
  const AbortHandle abort = handle.abort_handle();
  schedule_->RunAll();
  abort.Abort();
  EXPECT_FALSE(abort.IsFinished());
  EXPECT_EQ(token_.use_count(), 2);
  schedule_->RunAll();
  EXPECT_TRUE(abort.IsFinished());
  EXPECT_EQ(token_.use_count(), 1);
  EXPECT_THAT(PollOnce(handle).value(), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(AbortHandleTest, WorksOnADetachedTask) {
  const AbortHandle abort = Start().abort_handle();
  schedule_->RunAll();
  EXPECT_EQ(token_.use_count(), 2);
  abort.Abort();
  schedule_->RunAll();
  EXPECT_EQ(token_.use_count(), 1);
}

TEST_F(AbortHandleTest, DroppingTheHandleDoesNothing) {
  Handle handle = Start();
  handle.abort_handle();
  open_ = true;
  schedule_->RunAll();
  EXPECT_TRUE(PollOnce(handle).value().ok());
}

// Trap S18 (tokio #3159): the task has ended before.
TEST_F(AbortHandleTest, DoesNothingToACompleteTask) {
  Handle handle = Start();
  const AbortHandle abort = handle.abort_handle();
  open_ = true;
  schedule_->RunAll();
  abort.Abort();
  schedule_->RunAll();
  EXPECT_TRUE(PollOnce(handle).value().ok());
  abort.Abort();
  EXPECT_TRUE(abort.IsFinished());
}

// Trap S18 (tokio #3672).
TEST_F(AbortHandleTest, DoesNothingTheSecondTime) {
  Handle handle = Start();
  const AbortHandle abort = handle.abort_handle();
  schedule_->RunAll();
  abort.Abort();
  abort.Abort();
  handle.Abort();
  schedule_->RunAll();
  EXPECT_THAT(PollOnce(handle).value(), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(AbortHandleTest, KeepsNeitherFutureNorOutput) {
  std::optional<Handle> handle = Start();
  const AbortHandle abort = handle->abort_handle();
  open_ = true;
  schedule_->RunAll();
  EXPECT_EQ(token_.use_count(), 2);  // held by the output
  handle.reset();
  EXPECT_EQ(token_.use_count(), 1);
  EXPECT_TRUE(abort.IsFinished());
  EXPECT_EQ(abort.id(), 1u);
}

TEST_F(AbortHandleTest, CopiesAndMovesReferToTheSameTask) {
  Handle handle = Start();
  AbortHandle first = handle.abort_handle();
  AbortHandle copy = first;
  const AbortHandle moved = std::move(first);
  EXPECT_EQ(moved.id(), 1u);
  EXPECT_FALSE(moved.IsFinished());
  copy = moved;
  EXPECT_EQ(copy.id(), 1u);
  copy.Abort();
  schedule_->RunAll();
  EXPECT_TRUE(moved.IsFinished());
}

TEST_F(AbortHandleTest, OfATaskWhoseResultWasTakenIsFinished) {
  Handle handle = Start();
  open_ = true;
  schedule_->RunAll();
  ASSERT_TRUE(PollOnce(handle).value().ok());
  const AbortHandle abort = handle.abort_handle();
  EXPECT_TRUE(abort.IsFinished());
  EXPECT_EQ(abort.id(), 1u);
  abort.Abort();
}

}  // namespace
}  // namespace rouse

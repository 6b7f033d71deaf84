// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tasks that end while allocations fail. Each task ends nevertheless, and
// reports how.

#include <exception>
#include <optional>
#include <stdexcept>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/failing_allocations.h"
#include "rouse/testing/internal/manual_schedule.h"
#include "rouse/testing/internal/task_fixture.h"
#include "rouse/testing/poll_once.h"

#ifdef ROUSE_CAN_FAIL_ALLOCATIONS

namespace rouse::task {
namespace {

using ::absl_testing::StatusIs;
using ::testing::AnyOf;
using ::testing::HasSubstr;

using TaskMemoryTest = TaskTest;

TEST_F(TaskMemoryTest, ATaskIsCancelledWithoutMemoryForTheError) {
  std::optional<JoinHandle<int>> handle;
  const auto start = [&] {
    handle.emplace(schedule_->Start(Gate(this)));
    schedule_->RunAll();
    handle->Abort();
  };
  start();
  const auto run = [&] {
    schedule_->RunAll();
    return true;
  };
  const auto check = [&](std::optional<bool> ran) {
    EXPECT_TRUE(ran.has_value());
    EXPECT_TRUE(handle->IsFinished());
    EXPECT_EQ(schedule_->listed(), nullptr);
    EXPECT_THAT(PollOnce(*handle).value(),
                AnyOf(StatusIs(absl::StatusCode::kCancelled),
                      StatusIs(absl::StatusCode::kInternal,
                               HasSubstr("std::bad_alloc"))));
    start();
  };
  EXPECT_GT(FailEachAllocation(run, check), 0);
  schedule_->RunAll();
  waker_ = {};
}

TEST_F(TaskMemoryTest, AnExceptionIsKeptUntilMemorySufficesToReportIt) {
  auto body = []() -> Co<int> {
    throw std::runtime_error("oops");
    co_return 0;
  };
  std::optional<JoinHandle<int>> handle;
  const auto start = [&] {
    handle.emplace(schedule_->Start(body));
    schedule_->RunAll();
  };
  start();
  const auto poll = [&] { return PollOnce(*handle).value(); };
  const auto check = [&](std::optional<JoinResult<int>> result) {
    if (!result.has_value()) result.emplace(PollOnce(*handle).value());
    EXPECT_THAT(*result,
                StatusIs(absl::StatusCode::kInternal, HasSubstr("oops")));
    EXPECT_THROW(std::rethrow_exception(handle->exception()),
                 std::runtime_error);
    start();
  };
  EXPECT_GT(FailEachAllocation(poll, check), 0);
}

}  // namespace
}  // namespace rouse::task

#endif

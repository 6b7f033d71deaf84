// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests a set while allocations fail.

#include <exception>
#include <optional>
#include <stdexcept>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/scheduler/group/join_set.h"
#include "rouse/testing/failing_allocations.h"
#include "rouse/testing/internal/manual_schedule.h"
#include "rouse/waker/task_id.h"

#ifdef ROUSE_CAN_FAIL_ALLOCATIONS

namespace rouse {
namespace {

using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

TEST(JoinSetMemory, AResultIsKeptUntilMemorySuffices) {
  auto* const schedule = new task::ManualSchedule;
  const absl::Cleanup unref = [schedule] { schedule->Unref(); };
  auto body = []() -> Co<int> {
    throw std::runtime_error("oops");
    co_return 0;
  };
  JoinSet<int> set;
  TaskId first;
  const auto start_two = [&] {
    first = set.Insert(schedule->Start(body));
    schedule->RunAll();
    set.Insert(schedule->Start(body));
    schedule->RunAll();
  };
  start_two();
  const auto take = [&] { return set.TryNextWithId().value(); };
  const auto check = [&](std::optional<JoinedTask<int>> joined) {
    EXPECT_EQ(set.size(), joined.has_value() ? 1u : 2u);
    if (!joined.has_value()) joined = set.TryNextWithId();
    ASSERT_TRUE(joined.has_value());
    // This task ended before the other one.
    EXPECT_EQ(joined->id, first);
    EXPECT_THAT(joined->result,
                StatusIs(absl::StatusCode::kInternal, HasSubstr("oops")));
    EXPECT_THROW(std::rethrow_exception(joined->exception), std::runtime_error);
    EXPECT_TRUE(set.TryNext().has_value());
    EXPECT_TRUE(set.empty());
    start_two();
  };
  EXPECT_GT(FailEachAllocation(take, check), 0);
}

}  // namespace
}  // namespace rouse

#endif

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests forks while allocations fail.

#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/ready.h"
#include "rouse/future/task_local.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/fork.h"
#include "rouse/scheduler/fork_all.h"
#include "rouse/testing/failing_allocations.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/poll_result.h"

#ifdef ROUSE_CAN_FAIL_ALLOCATIONS

namespace rouse {
namespace {

constinit TaskLocal<int> local("local");

// The fork becomes a task, or, if memory is lacking, is polled on the calling
// thread. The values of the task-local variable need memory in any case.
TEST(ForkMemory, AForkThatCannotBecomeATaskIsPolledInPlace) {
  const absl::StatusOr<Runtime> runtime =
      Builder::MultiThread().WorkerThreads(1).Build();
  const auto enter = runtime->Enter();
  const int failures = FailEachAllocation(
      [] {
        auto fork = local.Scope(1, Fork(Ready(1), Ready(2)));
        // `BlockOn()` would need memory.
        for (;;) {
          PollResult<std::tuple<int, int>> result = PollOnce(fork);
          if (result.IsReady()) return *std::move(result);
          std::this_thread::yield();
        }
      },
      [](std::optional<std::tuple<int, int>> result) {
        EXPECT_EQ(result, std::tuple(1, 2));
      });
  EXPECT_GT(failures, 0);
}

TEST(ForkMemory, AForkAllReportsThatMemoryIsLacking) {
  const int failures = FailEachAllocation(
      [] {
        std::vector<ReadyFuture<int>> numbers;
        numbers.reserve(2);
        numbers.push_back(Ready(1));
        numbers.push_back(Ready(2));
        auto all = ForkAll(std::move(numbers));
        return PollOnce(all).value();
      },
      [](std::optional<std::vector<int>> result) {
        if (result.has_value()) {
          EXPECT_EQ(*result, (std::vector{1, 2}));
        }
      });
  EXPECT_GE(failures, 3);
}

}  // namespace
}  // namespace rouse

#endif

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests that an idle worker takes the tasks that another worker keeps to itself
// and does not reach, in a poll that lasts very long. No other thread takes the
// tasks here: the watchdog would come after an hour.

#include <atomic>
#include <memory>
#include <utility>

#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;

class StuckWorkerTest : public testing::TestWithParam<int> {
 protected:
  StuckWorkerTest() {
    absl::StatusOr<Runtime> runtime = Builder::MultiThread()
                                          .WorkerThreads(2)
                                          .LongPollBound(absl::Hours(1))
                                          .Build();
    EXPECT_THAT(runtime, IsOk());
    runtime_ = std::make_unique<Runtime>(*std::move(runtime));
  }

  std::unique_ptr<Runtime> runtime_;
};

// Number of tasks that the stuck worker keeps. The last one is in the LIFO
// slot.
INSTANTIATE_TEST_SUITE_P(Tasks, StuckWorkerTest, testing::Values(1, 3));

TEST_P(StuckWorkerTest, AnotherWorkerTakesAllItsTasks) {
  absl::Notification other_is_busy;
  absl::Notification end_other;
  auto other = [&]() -> Co<> {
    other_is_busy.Notify();
    end_other.WaitForNotification();
    co_return;
  };
  std::atomic<int> left = GetParam();
  absl::Notification all_have_begun;
  auto kept = [&]() -> Co<> {
    if (left.fetch_sub(1, std::memory_order_relaxed) == 1) {
      all_have_begun.Notify();
    }
    co_return;
  };
  bool in_time = false;
  auto stuck = [&]() -> Co<> {
    other_is_busy.WaitForNotification();
    for (int i = 0; i < GetParam(); ++i) Spawn(kept).Detach();
    end_other.Notify();
    in_time = all_have_begun.WaitForNotificationWithTimeout(absl::Seconds(20));
    co_return;
  };
  JoinHandle<void> first = runtime_->Spawn(other);
  JoinHandle<void> second = runtime_->Spawn(stuck);
  EXPECT_THAT(runtime_->BlockOn(std::move(first)), IsOk());
  EXPECT_THAT(runtime_->BlockOn(std::move(second)), IsOk());
  EXPECT_TRUE(in_time);
}

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests how operations share the threads of the blocking pool.

#include "rouse/fs/operation.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/fs/fs_fixture.h"
#include "rouse/fs/whole_file.h"
#include "rouse/future/many/join_all.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"

namespace rouse::fs {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::testing::Each;

// Returns an operation that runs until `end`, as if a device did not answer.
Operation<void> HangUntil(const absl::Notification& end) {
  return Operation<void>([&end] {
    end.WaitForNotification();
    return absl::OkStatus();
  });
}

using OperationTest = FsTest;

TEST_F(OperationTest, OperationsThatHangDelayNoOther) {
  Put("a", "text");
  absl::Notification end;
  std::vector<Operation<void>> hanging;
  std::vector<Operation<std::string>> reads;
  for (int i = 0; i < 4; ++i) {
    hanging.push_back(HangUntil(end));
    EXPECT_TRUE(waker_.Poll(hanging.back()).IsPending());
  }
  for (int i = 0; i < 40; ++i) reads.push_back(ReadFile(Path("a")));
  EXPECT_THAT(Run(JoinAll(std::move(reads))), Each(IsOkAndHolds("text")));
  end.Notify();
  EXPECT_THAT(Run(JoinAll(std::move(hanging))), Each(IsOk()));
}

TEST_F(OperationTest, DestroyedOperationsThatHaveNotBegunDoNotRun) {
  Runtime one_thread =
      Builder::CurrentThread().MaxBlockingThreads(1).Build().value();
  const EnterGuard enter = one_thread.Enter();
  absl::Notification end;
  Operation<void> hanging = HangUntil(end);
  EXPECT_TRUE(waker_.Poll(hanging).IsPending());
  int ran = 0;
  auto call = [&ran] {
    ++ran;
    return absl::OkStatus();
  };
  std::vector<Operation<void>> kept;
  for (int i = 0; i < 6; ++i) {
    Operation<void> operation(call);
    EXPECT_TRUE(waker_.Poll(operation).IsPending());
    if (i % 2 == 0) kept.push_back(std::move(operation));
  }
  end.Notify();
  EXPECT_THAT(one_thread.BlockOn(JoinAll(std::move(kept))), Each(IsOk()));
  // The thread has reached all of them.
  EXPECT_THAT(one_thread.BlockOn(Operation<void>(call)), IsOk());
  EXPECT_EQ(ran, 4);
  EXPECT_THAT(one_thread.BlockOn(std::move(hanging)), IsOk());
}

}  // namespace
}  // namespace rouse::fs

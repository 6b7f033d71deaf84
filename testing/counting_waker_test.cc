// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/counting_waker.h"

#include <utility>

#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

TEST(CountingWakerTest, CountsEachKindOfCall) {
  CountingWaker task;
  Waker waker = task.NewWaker();
  EXPECT_EQ(task.clones(), 0);
  Waker clone = waker.Clone();
  EXPECT_EQ(task.clones(), 1);
  EXPECT_EQ(task.live(), 2);
  waker.WakeByRef();
  EXPECT_EQ(task.wakes_by_ref(), 1);
  std::move(waker).Wake();
  EXPECT_EQ(task.wakes_by_value(), 1);
  EXPECT_EQ(task.wakes(), 2);
  EXPECT_EQ(task.live(), 1);
  clone.Reset();
  EXPECT_EQ(task.drops(), 1);
  EXPECT_EQ(task.live(), 0);
}

TEST(CountingWakerTest, ItsOwnWakerDoesNotCountAsLive) {
  CountingWaker task;
  task.waker().WakeByRef();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.live(), 0);
  const Waker clone = task.waker().Clone();
  EXPECT_EQ(task.live(), 1);
}

TEST(CountingWakerTest, CallsItsHooks) {
  CountingWaker task;
  int calls = 0;
  task.OnClone([&] { calls += 1; });
  task.OnWake([&] { calls += 10; });
  task.OnDrop([&] { calls += 100; });
  {
    const Waker clone = task.waker().Clone();
    clone.WakeByRef();
  }
  EXPECT_EQ(calls, 111);
}

// The waker is never destroyed, because the task is destroyed before.
void LeaveAWaker() {
  CountingWaker task;
  [[maybe_unused]] static const Waker* const left = new Waker(task.NewWaker());
}

TEST(CountingWakerTest, ALeftoverWakerFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(LeaveAWaker(),
                          "wakers were leaked or destroyed twice");
}

}  // namespace
}  // namespace rouse

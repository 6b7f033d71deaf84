// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/waker/wake_list.h"

#include <stdexcept>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

TEST(WakeList, IsEmptyAtFirst) {
  WakeList list;
  EXPECT_TRUE(list.IsEmpty());
  EXPECT_FALSE(list.IsFull());
  list.WakeAll();
  EXPECT_TRUE(list.IsEmpty());
}

TEST(WakeList, WakesInTheOrderOfPushes) {
  std::vector<int> order;
  WakeList list;
  for (int i = 0; i < 3; ++i) {
    list.Push(Waker::FromCallable([&order, i] { order.push_back(i); }));
  }
  list.WakeAll();
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
}

TEST(WakeList, WakesEachWakerOnce) {
  CountingWaker task;
  WakeList list;
  list.Push(task.NewWaker());
  list.Push(task.NewWaker());
  EXPECT_FALSE(list.IsEmpty());
  list.WakeAll();
  EXPECT_TRUE(list.IsEmpty());
  EXPECT_EQ(task.wakes_by_value(), 2);
  EXPECT_EQ(task.live(), 0);
  list.WakeAll();
  EXPECT_EQ(task.wakes(), 2);
}

TEST(WakeList, Holds32) {
  CountingWaker task;
  WakeList list;
  for (int i = 0; i < 32; ++i) {
    ASSERT_FALSE(list.IsFull()) << i;
    list.Push(task.NewWaker());
  }
  EXPECT_TRUE(list.IsFull());
  list.WakeAll();
  EXPECT_FALSE(list.IsFull());
  EXPECT_EQ(task.wakes(), 32);
}

TEST(WakeList, CanBeFilledAgain) {
  CountingWaker task;
  WakeList list;
  for (int round = 0; round < 3; ++round) {
    while (!list.IsFull()) list.Push(task.NewWaker());
    list.WakeAll();
  }
  EXPECT_EQ(task.wakes(), 3 * 32);
}

TEST(WakeList, DropsWakersThatWereNotWoken) {
  CountingWaker task;
  {
    WakeList list;
    list.Push(task.NewWaker());
    list.Push(task.NewWaker());
  }
  EXPECT_EQ(task.wakes(), 0);
  EXPECT_EQ(task.drops(), 2);
}

TEST(WakeList, TakesNoopWakers) {
  CountingWaker task;
  WakeList list;
  list.Push(Waker());
  list.Push(task.NewWaker());
  list.Push(Waker());
  list.WakeAll();
  EXPECT_EQ(task.wakes(), 1);
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(WakeList, AThrowingWakerDoesNotStopTheOthers) {
  CountingWaker before, bad, after;
  bad.OnWake([] { throw std::runtime_error("wake"); });
  WakeList list;
  list.Push(before.NewWaker());
  list.Push(bad.NewWaker());
  list.Push(after.NewWaker());
  EXPECT_THROW(list.WakeAll(), std::runtime_error);
  EXPECT_EQ(before.wakes(), 1);
  EXPECT_EQ(after.wakes(), 1);
  EXPECT_EQ(after.live(), 0);
  EXPECT_TRUE(list.IsEmpty());
}

TEST(WakeList, TheFirstExceptionPropagates) {
  CountingWaker first, second;
  first.OnWake([] { throw std::runtime_error("first"); });
  second.OnWake([] { throw std::logic_error("second"); });
  WakeList list;
  list.Push(first.NewWaker());
  list.Push(second.NewWaker());
  EXPECT_THROW(list.WakeAll(), std::runtime_error);
  EXPECT_EQ(second.wakes(), 1);
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests the futures of a whole stream: Fold, Any, All.

#include "rouse/future/streams/fold.h"

#include <functional>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "rouse/future/iter.h"
#include "rouse/future/stream.h"
#include "rouse/future/streams/any_all.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

bool IsOdd(int x) { return x % 2 == 1; }

TEST(Fold, CombinesTheItems) {
  auto sum = Iter(std::vector{1, 2, 3}) | Fold(10, std::plus<>());
  EXPECT_EQ(PollOnce(sum).value(), 16);
  EXPECT_PANIC(static_cast<void>(PollOnce(sum)),
               "Fold was polled after it completed; keep the result");
  auto none = Iter(std::vector<int>()) | Fold(10, std::plus<>());
  EXPECT_EQ(PollOnce(none).value(), 10);
}

TEST(Fold, MovesTheValue) {
  auto append = [](std::unique_ptr<int> sum, int x) {
    *sum += x;
    return sum;
  };
  auto sum = Iter(std::vector{1, 2}) | Fold(std::make_unique<int>(0), append);
  EXPECT_EQ(*PollOnce(sum).value(), 3);
}

TEST(Fold, TakesAUnitForEachItem) {
  CountingWaker task;
  auto sum =
      Iter(std::vector<int>(kBudgetPerPoll + 2, 1)) | Fold(0, std::plus<>());
  EXPECT_TRUE(task.Poll(sum).IsPending());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.Poll(sum).value(), kBudgetPerPoll + 2);
}

TEST(Any, EndsAtTheFirstMatch) {
  auto numbers = Iter(std::vector{2, 3, 4});
  auto any = numbers | Any(&IsOdd);
  EXPECT_TRUE(PollOnce(any).value());
  EXPECT_EQ(PollNextOnce(numbers).value(), 4);
  EXPECT_PANIC(static_cast<void>(PollOnce(any)),
               "Any was polled after it completed");
  auto none = Iter(std::vector{2, 4}) | Any(&IsOdd);
  EXPECT_FALSE(PollOnce(none).value());
}

TEST(All, EndsAtTheFirstMismatch) {
  auto numbers = Iter(std::vector{3, 2, 4});
  auto all = numbers | All(&IsOdd);
  EXPECT_FALSE(PollOnce(all).value());
  EXPECT_EQ(PollNextOnce(numbers).value(), 4);
  EXPECT_PANIC(static_cast<void>(PollOnce(all)),
               "All was polled after it completed");
  auto odd = Iter(std::vector{1, 3}) | All(&IsOdd);
  EXPECT_TRUE(PollOnce(odd).value());
  auto none = Iter(std::vector<int>()) | All(&IsOdd);
  EXPECT_TRUE(PollOnce(none).value());
}

TEST(All, TakesAUnitForEachItem) {
  CountingWaker task;
  auto all = Iter(std::vector<int>(kBudgetPerPoll + 2, 1)) | All(&IsOdd);
  EXPECT_TRUE(task.Poll(all).IsPending());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(task.Poll(all).value());
}

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/consume_budget.h"

#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/unconstrained.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

Co<> Loop(int& turns, int end) {
  for (turns = 0; turns < end; ++turns) co_await ConsumeBudget();
}

TEST(ConsumeBudget, YieldsWhenTheBudgetIsUsedUp) {
  int turns = 0;
  Co<> loop = Loop(turns, 3 * kBudgetPerPoll - 1);
  for (int poll = 1; poll <= 2; ++poll) {
    const Waker waker;
    Yielded yielded;
    Context cx(waker, nullptr, &yielded);
    EXPECT_TRUE(loop.Poll(cx).IsPending());
    EXPECT_TRUE(yielded.to_others);
    EXPECT_EQ(turns, poll * static_cast<int>(kBudgetPerPoll));
  }
  const Waker waker;
  Context cx(waker);
  EXPECT_TRUE(loop.Poll(cx).IsReady());
}

TEST(ConsumeBudget, TakesNoBudgetInsideUnconstrained) {
  int turns = 0;
  auto loop = Unconstrained(Loop(turns, 1000));
  const Waker waker;
  Context cx(waker);
  EXPECT_TRUE(loop.Poll(cx).IsReady());
  EXPECT_EQ(turns, 1000);
  EXPECT_TRUE(cx.HasBudget());
}

}  // namespace
}  // namespace rouse

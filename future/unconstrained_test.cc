// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/unconstrained.h"

#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/future.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

// Ready for as long as there is budget.
class Endless {
 public:
  PollResult<void> Poll(Context& cx) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    unit->MadeProgress();
    return {};
  }
};

Co<int> Drain(int times) {
  Endless endless;
  for (int i = 0; i < times; ++i) co_await endless;
  co_return times;
}

TEST(Unconstrained, OutlastsTheBudget) {
  Co<int> plain = Drain(1000);
  EXPECT_TRUE(PollOnce(plain).IsPending());
  auto future = Unconstrained(Drain(1000));
  static_assert(Future<decltype(future)>);
  EXPECT_EQ(PollOnce(future).value(), 1000);
}

TEST(Unconstrained, TakesNoBudget) {
  auto body = []() -> Co<int> {
    co_await Unconstrained(Drain(1000));
    co_return co_await Drain(kBudgetPerPoll);
  };
  Co<int> co = body();
  EXPECT_EQ(PollOnce(co).value(), kBudgetPerPoll);
}

TEST(Unconstrained, LaterFuturesAreConstrained) {
  auto body = []() -> Co<> {
    co_await Unconstrained(Drain(1000));
    co_await Drain(kBudgetPerPoll + 1);
  };
  Co<> co = body();
  EXPECT_TRUE(PollOnce(co).IsPending());
}

TEST(Unconstrained, PollsAnLvalueInPlace) {
  Switch<int> s;
  auto leaf = s.future();
  {
    auto future = Unconstrained(leaf);
    EXPECT_TRUE(PollOnce(future).IsPending());
  }
  EXPECT_TRUE(s.alive());
  auto again = Unconstrained(leaf);
  s.Set(4);
  EXPECT_EQ(PollOnce(again).value(), 4);
}

}  // namespace
}  // namespace rouse

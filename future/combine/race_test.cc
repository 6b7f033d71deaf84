// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/combine/race.h"

#include <memory>
#include <type_traits>

#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/co/co.h"
#include "rouse/future/future.h"
#include "rouse/future/ready.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

TEST(Race, ReturnsTheWinnersValue) {
  Switch<int> a;
  Switch<int> b;
  auto race = Race(a.future(), b.future());
  static_assert(std::is_same_v<FutureOutput<decltype(race)>, int>);
  EXPECT_TRUE(PollOnce(race).IsPending());
  b.Set(2);
  EXPECT_EQ(PollOnce(race).value(), 2);
}

TEST(Race, DestroysTheLosersBeforeItIsReady) {
  Switch<int> a;
  Switch<int> b;
  auto race = Race(a.future(), b.future());
  EXPECT_TRUE(PollOnce(race).IsPending());
  a.Set(1);
  EXPECT_TRUE(PollOnce(race).IsReady());
  EXPECT_FALSE(a.alive());
  EXPECT_FALSE(b.alive());
}

TEST(Race, TakesFuturesOfDifferentTypes) {
  Switch<int> a;
  auto body = []() -> Co<int> { co_return 3; };
  auto race = Race(a.future(), body(), Pending<int>());
  EXPECT_EQ(PollOnce(race).value(), 3);
}

TEST(Race, ReturnsVoidReferencesAndMoveOnlyValues) {
  int x = 1;
  auto reference = [](int& x) -> Co<int&> { co_return x; };
  auto references = Race(reference(x), Pending<int&>());
  EXPECT_EQ(&PollOnce(references).value(), &x);
  auto nothing = Race(Pending(), Ready());
  EXPECT_TRUE(PollOnce(nothing).IsReady());
  auto unique = Race(Ready(std::make_unique<int>(4)));
  EXPECT_EQ(*PollOnce(unique).value(), 4);
}

TEST(Race, EveryArmWinsItsShare) {
  const Waker waker;
  FastRand rand(1);
  int wins[2] = {};
  for (int i = 0; i < 1000; ++i) {
    Context cx(waker, &rand);
    auto race = Race(Ready(0), Ready(1));
    ++wins[race.Poll(cx).value()];
  }
  EXPECT_GT(wins[0], 400);
  EXPECT_GT(wins[1], 400);
}

TEST(Race, PollingACompleteRacePanics) {
  auto race = Race(Ready(1));
  EXPECT_TRUE(PollOnce(race).IsReady());
  EXPECT_PANIC((void)PollOnce(race), "Select or Race was polled after");
}

}  // namespace
}  // namespace rouse

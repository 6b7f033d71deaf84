// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/collect.h"

#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/co/gen.h"
#include "rouse/future/filter.h"
#include "rouse/future/future.h"
#include "rouse/future/map.h"
#include "rouse/future/take.h"
#include "rouse/future/yield.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::Pointee;
using ::testing::SizeIs;

Gen<int> Numbers(int count) {
  for (int i = 0; i < count; ++i) co_yield i;
}

TEST(Collect, ReturnsAllItems) {
  auto unique = []() -> Gen<std::unique_ptr<int>> {
    co_yield std::make_unique<int>(1);
    co_await Yield();
    co_yield std::make_unique<int>(2);
  };
  auto collect = Collect(unique());
  static_assert(Future<decltype(collect)>);
  EXPECT_TRUE(PollOnce(collect).IsPending());
  EXPECT_THAT(PollOnce(collect).value(), ElementsAre(Pointee(1), Pointee(2)));
}

TEST(Collect, ReturnsNoItemsOfAnEmptyStream) {
  auto collect = Collect(Numbers(0));
  EXPECT_THAT(PollOnce(collect).value(), ElementsAre());
}

TEST(Collect, YieldsWhenTheBudgetIsUsedUp) {
  auto collect = Collect(Numbers(3 * kBudgetPerPoll));
  int polls = 1;
  while (true) {
    auto items = PollOnce(collect);
    if (items.IsReady()) {
      EXPECT_THAT(items.value(), SizeIs(3 * kBudgetPerPoll));
      break;
    }
    ++polls;
  }
  EXPECT_EQ(polls, 3);
}

TEST(Collect, CollectsFromNestedAdapters) {
  auto body = []() -> Co<std::vector<int>> {
    auto odd = [](int x) { return x % 2 == 1; };
    auto square = [](int x) { return x * x; };
    auto squares = Map(Filter(Numbers(100), odd), square);
    co_return co_await Collect(Take(std::move(squares), 4));
  };
  Co<std::vector<int>> co = body();
  EXPECT_THAT(PollOnce(co).value(), ElementsAre(1, 9, 25, 49));
}

TEST(Collect, PollingACompleteFuturePanics) {
  auto collect = Collect(Numbers(1));
  EXPECT_TRUE(PollOnce(collect).IsReady());
  EXPECT_PANIC((void)PollOnce(collect), "Collect was polled after");
}

}  // namespace
}  // namespace rouse

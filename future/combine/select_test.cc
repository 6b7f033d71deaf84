// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/combine/select.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/co/co.h"
#include "rouse/future/future.h"
#include "rouse/future/ready.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

TEST(Select, ReturnsTheFirstReadyOutput) {
  Switch<int> a;
  Switch<std::string> b;
  auto select = Select(a.future(), b.future());
  static_assert(Future<decltype(select)>);
  EXPECT_TRUE(PollOnce(select).IsPending());
  b.Set("b");
  const std::variant<int, std::string> winner = PollOnce(select).value();
  EXPECT_EQ(std::get<1>(winner), "b");
}

TEST(Select, DistinguishesArmsOfTheSameType) {
  for (size_t index = 0; index < 3; ++index) {
    Switch<int> arms[3];
    auto select = Select(arms[0].future(), arms[1].future(), arms[2].future());
    EXPECT_TRUE(PollOnce(select).IsPending());
    arms[index].Set(7);
    const auto winner = PollOnce(select).value();
    EXPECT_EQ(winner.index(), index);
    std::visit([](int value) { EXPECT_EQ(value, 7); }, winner);
  }
}

TEST(Select, ReturnsOutputsOfAllKinds) {
  int x = 1;
  auto reference = [](int& x) -> Co<int&> { co_return x; };
  auto select =
      Select(reference(x), Pending(), Pending<std::unique_ptr<int>>());
  static_assert(
      std::is_same_v<FutureOutput<decltype(select)>,
                     std::variant<std::reference_wrapper<int>, std::monostate,
                                  std::unique_ptr<int>>>);
  EXPECT_EQ(&std::get<0>(PollOnce(select).value()).get(), &x);
  auto nothing = Select(Pending<int>(), Ready());
  EXPECT_EQ(PollOnce(nothing).value().index(), 1);
  auto unique = Select(Ready(std::make_unique<int>(3)));
  EXPECT_EQ(*std::get<0>(PollOnce(unique).value()), 3);
}

TEST(Select, DestroysTheLosersBeforeItIsReady) {
  Log log;
  Switch<int> a(&log, "a");
  Switch<int> b(&log, "b");
  auto body = [](Log* log, Switch<int>& s) -> Co<int> {
    const Local local(log, "local");
    co_return co_await s.future();
  };
  auto select = Select(a.future(), body(&log, b));
  EXPECT_TRUE(PollOnce(select).IsPending());
  EXPECT_THAT(log, ElementsAre());
  a.Set(1);
  auto winner = PollOnce(select);
  // The result is ready, and `select` still exists.
  EXPECT_TRUE(winner.IsReady());
  EXPECT_THAT(log, UnorderedElementsAre("a", "b", "local"));
}

TEST(Select, CancelsTheLosersBeforeTheCoroutineContinues) {
  Log log;
  Switch<int> a;
  Switch<int> b(&log, "loser");
  auto body = [](Log* log, Switch<int>& a, Switch<int>& b) -> Co<> {
    auto select = Select(a.future(), b.future());
    co_await select;
    log->emplace_back("body");
  };
  Co<> co = body(&log, a, b);
  EXPECT_TRUE(PollOnce(co).IsPending());
  a.Set(1);
  EXPECT_TRUE(PollOnce(co).IsReady());
  EXPECT_THAT(log, ElementsAre("loser", "body"));
}

TEST(Select, KeepsAnLvalueForTheNextSelect) {
  Switch<int> slow;
  auto leaf = slow.future();
  for (int i = 0; i < 3; ++i) {
    auto select = SelectBiased(leaf, Ready(i));
    EXPECT_EQ(PollOnce(select).value().index(), 1);
  }
  EXPECT_TRUE(slow.alive());
  slow.Set(9);
  auto select = Select(leaf, Pending());
  EXPECT_EQ(std::get<0>(PollOnce(select).value()), 9);
  EXPECT_TRUE(slow.alive());
}

TEST(Select, EveryArmWinsItsShare) {
  const Waker waker;
  FastRand rand(1);
  int wins[3] = {};
  constexpr int kRounds = 3000;
  for (int i = 0; i < kRounds; ++i) {
    Context cx(waker, &rand);
    auto select = Select(Ready(), Ready(), Ready());
    ++wins[select.Poll(cx).value().index()];
  }
  for (int count : wins) {
    EXPECT_GT(count, kRounds / 4);
    EXPECT_LT(count, kRounds / 2);
  }
}

TEST(Select, RepeatsWithItsSeed) {
  const Waker waker;
  auto run = [&waker](uint64_t seed) {
    FastRand rand(seed);
    std::string winners;
    for (int i = 0; i < 64; ++i) {
      Context cx(waker, &rand);
      auto select = Select(Ready(), Ready());
      winners += select.Poll(cx).value().index() == 0 ? 'a' : 'b';
    }
    return winners;
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

TEST(SelectBiased, PrefersTheLeftmost) {
  Switch<int> a;
  for (int i = 0; i < 20; ++i) {
    auto select = SelectBiased(a.future(), Ready(1), Ready(2));
    EXPECT_EQ(PollOnce(select).value().index(), 1);
  }
}

TEST(SelectBiased, PollsNothingBehindTheWinner) {
  Switch<int> behind;
  auto select = SelectBiased(Ready(1), behind.future());
  EXPECT_TRUE(PollOnce(select).IsReady());
  EXPECT_EQ(behind.polls(), 0);
}

// Ready if a unit of the budget is left, which it takes.
class Unit {
 public:
  PollResult<void> Poll(Context& cx) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    unit->MadeProgress();
    return {};
  }
};

TEST(Select, YieldsWithoutBudget) {
  CountingWaker task;
  const Waker waker = task.NewWaker();
  Context cx(waker);
  for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
    auto select = SelectBiased(Unit(), Ready());
    EXPECT_EQ(select.Poll(cx).value().index(), 0);
  }
  auto select = SelectBiased(Unit(), Ready());
  EXPECT_TRUE(select.Poll(cx).IsPending());
  EXPECT_EQ(task.wakes(), 1);
  Context next(waker);
  EXPECT_EQ(select.Poll(next).value().index(), 0);
}

TEST(Select, AYieldWithoutBudgetIsCountedAsForced) {
  const Waker waker;
  Yielded yielded;
  FastRand rand(1);
  Context cx(waker, &rand, &yielded);
  for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
    EXPECT_TRUE(Unit().Poll(cx).IsReady());
  }
  auto select = Select(Unit(), Unit());
  EXPECT_TRUE(select.Poll(cx).IsPending());
  EXPECT_TRUE(yielded.by_force);
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(Select, PropagatesAnExceptionAndCancelsTheOthers) {
  Switch<int> a;
  auto thrower = []() -> Co<> {
    throw std::runtime_error("arm");
    co_return;
  };
  auto body = [&thrower](Switch<int>& a) -> Co<std::string> {
    try {
      co_await Select(a.future(), thrower());
    } catch (const std::runtime_error& e) {
      co_return e.what();
    }
    co_return "";
  };
  Co<std::string> co = body(a);
  EXPECT_EQ(PollOnce(co).value(), "arm");
  EXPECT_FALSE(a.alive());
}

#endif  // ABSL_HAVE_EXCEPTIONS

TEST(Select, PollingACompleteSelectPanics) {
  auto select = Select(Ready(1));
  EXPECT_TRUE(PollOnce(select).IsReady());
  EXPECT_PANIC((void)PollOnce(select), "Select or Race was polled after");
}

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/combine/join.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/future.h"
#include "rouse/future/ready.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

Co<int> Add(Switch<int>& a, Switch<int>& b) {
  const auto [x, y] = co_await Join(a.future(), b.future());
  co_return x + y;
}

TEST(Join, IsReadyWhenAllChildrenAreReady) {
  Switch<int> a;
  Switch<int> b;
  Co<int> co = Add(a, b);
  EXPECT_TRUE(PollOnce(co).IsPending());
  b.Set(2);
  EXPECT_TRUE(PollOnce(co).IsPending());
  a.Set(1);
  EXPECT_EQ(PollOnce(co).value(), 3);
}

TEST(Join, ReturnsOutputsOfAllKinds) {
  int x = 1;
  auto reference = [](int& x) -> Co<int&> { co_return x; };
  auto nothing = []() -> Co<> { co_return; };
  auto join = Join(Ready(std::make_unique<int>(5)), reference(x), nothing());
  static_assert(Future<decltype(join)>);
  static_assert(
      std::is_same_v<FutureOutput<decltype(join)>,
                     std::tuple<std::unique_ptr<int>, int&, std::monostate>>);
  auto outputs = PollOnce(join).value();
  EXPECT_EQ(*std::get<0>(outputs), 5);
  EXPECT_EQ(&std::get<1>(outputs), &x);
}

TEST(Join, OfOneFutureReturnsATupleOfOne) {
  auto join = Join(Ready(std::string("a")));
  EXPECT_EQ(std::get<0>(PollOnce(join).value()), "a");
  auto nested = Join(Join(Ready(1)));
  EXPECT_EQ(std::get<0>(std::get<0>(PollOnce(nested).value())), 1);
}

TEST(Join, DestroysAReadyChildAtOnceAndDoesNotPollItAgain) {
  Switch<int> a;
  Switch<int> b;
  auto join = Join(a.future(), b.future());
  EXPECT_TRUE(PollOnce(join).IsPending());
  a.Set(1);
  EXPECT_TRUE(PollOnce(join).IsPending());
  EXPECT_FALSE(a.alive());
  EXPECT_TRUE(PollOnce(join).IsPending());
  EXPECT_EQ(a.polls(), 2);
  EXPECT_EQ(b.polls(), 3);
  EXPECT_TRUE(b.alive());
}

TEST(Join, PollsAnLvalueInPlace) {
  Switch<int> a;
  auto leaf = a.future();
  {
    auto join = Join(leaf, Ready(1));
    EXPECT_TRUE(PollOnce(join).IsPending());
  }
  EXPECT_TRUE(a.alive());
  a.Set(4);
  auto join = Join(leaf);
  EXPECT_EQ(std::get<0>(PollOnce(join).value()), 4);
  EXPECT_TRUE(a.alive());
}

TEST(Join, DestructionCancelsTheChildren) {
  Log log;
  auto body = [](Log* log, const char* name, Switch<int>& s) -> Co<> {
    const Local local(log, name);
    co_await s.future();
  };
  Switch<int> a;
  Switch<int> b;
  {
    auto join = Join(body(&log, "a", a), body(&log, "b", b));
    EXPECT_TRUE(PollOnce(join).IsPending());
    EXPECT_TRUE(a.alive());
    EXPECT_THAT(log, ElementsAre());
  }
  EXPECT_FALSE(a.alive());
  EXPECT_FALSE(b.alive());
  EXPECT_THAT(log, ::testing::UnorderedElementsAre("a", "b"));
}

TEST(Join, IsMovableBeforeItsFirstPoll) {
  Switch<int> a;
  auto join = Join(a.future(), Ready(std::make_unique<int>(2)));
  auto moved = std::move(join);
  a.Set(1);
  auto [x, y] = PollOnce(moved).value();
  EXPECT_EQ(x + *y, 3);
}

// Takes all of the budget a given number of times, and counts.
Co<> Hungry(int* meals, int times) {
  class Bite {
   public:
    PollResult<void> Poll(Context& cx) {
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
      return {};
    }
  };
  Bite bite;
  for (*meals = 0; *meals < times; ++*meals) co_await bite;
}

TEST(Join, GivesEveryChildBudget) {
  constexpr int kEnough = 10 * kBudgetPerPoll;
  int meals[3];
  auto join = Join(Hungry(&meals[0], kEnough), Hungry(&meals[1], kEnough),
                   Hungry(&meals[2], kEnough));
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(PollOnce(join).IsPending());
  EXPECT_THAT(meals, ::testing::Each(3 * kBudgetPerPoll));
}

#ifdef ABSL_HAVE_EXCEPTIONS

// The child has finished, and its output is lost.
TEST(Join, PollingAfterAThrowingMoveOfAResultPanics) {
  struct Throws {
    Throws() = default;
    // NOLINTNEXTLINE(bugprone-exception-escape): it is to throw
    Throws(Throws&&) { throw std::runtime_error("moved"); }
  };
  auto child = []() -> Co<Throws> { co_return Throws(); };
  auto join = Join(child(), Ready(1));
  EXPECT_THROW(static_cast<void>(PollOnce(join)), std::runtime_error);
  EXPECT_PANIC(static_cast<void>(PollOnce(join)), "call the coroutine again");
}

TEST(Join, PropagatesAnExceptionAndCancelsTheOthers) {
  Switch<int> a;
  auto thrower = []() -> Co<> {
    throw std::runtime_error("child");
    co_return;
  };
  auto body = [&thrower](Switch<int>& a) -> Co<std::string> {
    try {
      co_await Join(a.future(), thrower());
    } catch (const std::runtime_error& e) {
      co_return e.what();
    }
    co_return "";
  };
  Co<std::string> co = body(a);
  EXPECT_EQ(PollOnce(co).value(), "child");
  EXPECT_FALSE(a.alive());
}

#endif  // ABSL_HAVE_EXCEPTIONS

TEST(Join, PollingACompleteJoinPanics) {
  auto join = Join(Ready(1));
  EXPECT_TRUE(PollOnce(join).IsReady());
  EXPECT_PANIC((void)PollOnce(join), "Join was polled after");
}

}  // namespace
}  // namespace rouse

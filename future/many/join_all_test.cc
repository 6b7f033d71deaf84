// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/many/join_all.h"

#include <array>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/co.h"
#include "rouse/future/future.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

TEST(JoinAll, ReturnsTheOutputsInOrder) {
  Switch<int> s;
  auto body = [](int i, Switch<int>& s) -> Co<int> {
    if (i == 1) co_return co_await s.future();
    co_return i;
  };
  std::vector<Co<int>> children;
  for (int i = 0; i < 4; ++i) children.push_back(body(i, s));
  auto join = JoinAll(std::move(children));
  EXPECT_TRUE(PollOnce(join).IsPending());
  s.Set(10);
  EXPECT_THAT(PollOnce(join).value(), ElementsAre(0, 10, 2, 3));
}

TEST(JoinAll, OfNoFuturesIsReady) {
  auto join = JoinAll(std::vector<Co<int>>());
  EXPECT_THAT(PollOnce(join).value(), ElementsAre());
}

TEST(JoinAll, OfVoidReturnsNothing) {
  int runs = 0;
  auto body = [](int& runs) -> Co<> {
    ++runs;
    co_return;
  };
  std::vector<Co<>> children;
  for (int i = 0; i < 3; ++i) children.push_back(body(runs));
  auto join = JoinAll(std::move(children));
  static_assert(std::is_void_v<FutureOutput<decltype(join)>>);
  EXPECT_TRUE(PollOnce(join).IsReady());
  EXPECT_EQ(runs, 3);
}

TEST(JoinAll, OfReferencesReturnsReferences) {
  int x = 1;
  auto body = [](int& x) -> Co<int&> { co_return x; };
  std::vector<Co<int&>> children;
  children.push_back(body(x));
  auto join = JoinAll(std::move(children));
  EXPECT_EQ(&PollOnce(join).value().at(0).get(), &x);
}

TEST(JoinAll, DestroysAReadyChildAtOnce) {
  Switch<int> a;
  Switch<int> b;
  std::vector<Switch<int>::Leaf> leaves;
  leaves.push_back(a.future());
  leaves.push_back(b.future());
  auto join = JoinAll(std::move(leaves));
  EXPECT_TRUE(PollOnce(join).IsPending());
  a.Set(1);
  EXPECT_TRUE(PollOnce(join).IsPending());
  EXPECT_FALSE(a.alive());
  EXPECT_TRUE(b.alive());
}

TEST(JoinAll, GivesEveryChildBudget) {
  constexpr int kEnough = 10 * kBudgetPerPoll;
  int meals[3];
  std::vector<Co<>> children;
  for (int& count : meals) children.push_back(Hungry(&count, kEnough));
  auto join = JoinAll(std::move(children));
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(PollOnce(join).IsPending());
  EXPECT_THAT(meals, Each(3 * kBudgetPerPoll));
}

TEST(JoinAll, PollsOnlyTheFuturesThatWereWoken) {
  std::array<Switch<int>, 100> switches;
  std::vector<Switch<int>::Leaf> leaves;
  for (Switch<int>& s : switches) leaves.push_back(s.future());
  auto join = JoinAll(std::move(leaves));
  EXPECT_TRUE(PollOnce(join).IsPending());
  for (int i = 99; i >= 0; --i) {
    switches[i].Set(i);
    const bool is_last = i == 0;
    EXPECT_EQ(PollOnce(join).IsReady(), is_last);
  }
  for (const Switch<int>& s : switches) EXPECT_EQ(s.polls(), 2);
}

TEST(JoinAll, OutputsNeedNoDefaultConstructor) {
  struct NoDefault {
    explicit NoDefault(int number)
        : number(std::make_unique<const int>(number)) {}
    std::unique_ptr<const int> number;
  };
  auto body = [](int number) -> Co<NoDefault> { co_return NoDefault(number); };
  std::vector<Co<NoDefault>> children;
  for (int i = 0; i < 2; ++i) children.push_back(body(i));
  auto join = JoinAll(std::move(children));
  const std::vector<NoDefault> outputs = PollOnce(join).value();
  ASSERT_EQ(outputs.size(), 2);
  EXPECT_EQ(*outputs[1].number, 1);
}

TEST(JoinAll, IsMovableBeforeItsFirstPoll) {
  Switch<int> a;
  std::vector<Switch<int>::Leaf> leaves;
  leaves.push_back(a.future());
  auto join = JoinAll(std::move(leaves));
  auto moved = std::move(join);
  a.Set(1);
  EXPECT_THAT(PollOnce(moved).value(), ElementsAre(1));
}

TEST(JoinAll, DestructionCancelsTheChildren) {
  Log log;
  Switch<int> a(&log, "a");
  Switch<int> b(&log, "b");
  {
    std::vector<Switch<int>::Leaf> leaves;
    leaves.push_back(a.future());
    leaves.push_back(b.future());
    auto join = JoinAll(std::move(leaves));
    EXPECT_TRUE(PollOnce(join).IsPending());
  }
  EXPECT_THAT(log, ElementsAre("a", "b"));
}

TEST(JoinAll, TracesTheFuturesThatAreNotReady) {
  Switch<int> a;
  Switch<int> b;
  std::vector<Switch<int>::Leaf> leaves;
  leaves.push_back(a.future());
  leaves.push_back(b.future());
  auto join = JoinAll(std::move(leaves));
  a.Set(1);
  EXPECT_TRUE(PollOnce(join).IsPending());
  AwaitTrace trace;
  trace.Add(join);
  ASSERT_EQ(trace.steps().size(), 2);
  EXPECT_EQ(trace.steps()[0].name, "JoinAll");
  EXPECT_THAT(trace.steps()[1].name, HasSubstr("Leaf"));
}

TEST(JoinAll, PollingACompleteJoinAllPanics) {
  auto all = JoinAll(std::vector<Co<int>>());
  EXPECT_TRUE(PollOnce(all).IsReady());
  EXPECT_PANIC((void)PollOnce(all), "JoinAll was polled after it completed");
}

// Such a function of a user's future means nothing to a set.
TEST(JoinAll, AFutureWithAFunctionHasEndedLeavesTheSetWhenReady) {
  class Fetch {
   public:
    PollResult<int> Poll(Context&) { return 1; }
    bool HasEnded() const { return false; }
  };
  auto all = JoinAll(std::vector<Fetch>(2));
  EXPECT_THAT(PollOnce(all).value(), ElementsAre(1, 1));
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(JoinAll, PropagatesAnException) {
  auto body = [](int i) -> Co<int> {
    if (i == 1) throw std::runtime_error("child");
    co_return i;
  };
  std::vector<Co<int>> children;
  for (int i = 0; i < 3; ++i) children.push_back(body(i));
  auto join = JoinAll(std::move(children));
  EXPECT_THROW((void)PollOnce(join), std::runtime_error);
  EXPECT_PANIC((void)PollOnce(join), "one of its futures threw");
}

TEST(JoinAll, PropagatesAnExceptionFromTheMoveOfAnOutput) {
  struct Output {
    Output() = default;
    Output(Output&&) noexcept(false) { throw std::runtime_error("move"); }
  };
  class IsReady {
   public:
    PollResult<Output> Poll(Context&) {
      return PollResult<Output>(std::in_place);
    }
  };
  auto join = JoinAll(std::vector<IsReady>(1));
  EXPECT_THROW((void)PollOnce(join), std::runtime_error);
  EXPECT_PANIC((void)PollOnce(join), "one of its futures threw");
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse

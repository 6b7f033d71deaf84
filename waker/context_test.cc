// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/waker/context.h"

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

// Spends a unit. Returns false if no unit is left.
bool Progress(Context& cx) {
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return false;
  unit->MadeProgress();
  return true;
}

// Uses up the budget of this poll, and returns how much was left.
int Drain(Context& cx) {
  int units = 0;
  while (units < 1000 && Progress(cx)) ++units;
  return units;
}

TEST(Context, CarriesItsWaker) {
  CountingWaker task;
  const Waker waker = task.NewWaker();
  Context cx(waker);
  EXPECT_EQ(&cx.waker(), &waker);
  cx.waker().WakeByRef();
  EXPECT_EQ(task.wakes(), 1);
}

TEST(Context, APollCanMake128UnitsOfProgress) {
  CountingWaker task;
  const Waker waker = task.NewWaker();
  Context cx(waker);
  EXPECT_TRUE(cx.HasBudget());
  for (int i = 0; i < 128; ++i) ASSERT_TRUE(Progress(cx)) << i;
  EXPECT_FALSE(cx.HasBudget());
  EXPECT_EQ(task.wakes(), 0);
  EXPECT_FALSE(Progress(cx));
}

TEST(Context, ExhaustionWakesTheTask) {
  CountingWaker task;
  const Waker waker = task.NewWaker();
  Context cx(waker);
  Drain(cx);
  const int before = task.wakes();
  EXPECT_TRUE(PollProceed(cx).IsPending());
  EXPECT_EQ(task.wakes(), before + 1);
  EXPECT_EQ(task.live(), 1);
}

TEST(Context, EveryPollHasItsOwnBudget) {
  const Waker waker;
  Context first(waker);
  Drain(first);
  Context second(waker);
  EXPECT_EQ(Drain(second), 128);
}

TEST(Context, AUnitWithoutProgressIsGivenBack) {
  const Waker waker;
  Context cx(waker);
  for (int i = 0; i < 1000; ++i) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    ASSERT_TRUE(unit.IsReady());
  }
  EXPECT_EQ(Drain(cx), 128);
}

TEST(Context, TheLastUnitIsGivenBack) {
  const Waker waker;
  Context cx(waker);
  for (int i = 0; i < 127; ++i) ASSERT_TRUE(Progress(cx));
  {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    ASSERT_TRUE(unit.IsReady());
    EXPECT_FALSE(cx.HasBudget());
  }
  EXPECT_TRUE(cx.HasBudget());
  EXPECT_EQ(Drain(cx), 1);
}

TEST(Context, AMovedUnitIsGivenBackOnce) {
  const Waker waker;
  Context cx(waker);
  {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    BudgetUnit moved = *std::move(unit);
    BudgetUnit again = std::move(moved);
  }
  EXPECT_EQ(Drain(cx), 128);
}

TEST(Context, AMovedUnitThatMadeProgressIsKept) {
  const Waker waker;
  Context cx(waker);
  {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    BudgetUnit moved = *std::move(unit);
    moved.MadeProgress();
  }
  EXPECT_EQ(Drain(cx), 127);
}

TEST(Context, ManyBytesAreManyUnits) {
  CountingWaker task;
  const Waker waker = task.NewWaker();
  Context cx(waker);
  PollProceed(cx)->MadeProgress(10 * kBytesPerUnit + 1);
  EXPECT_EQ(Drain(cx), 128 - 11);
}

TEST(Context, FewerBytesThanAUnitAreOneUnit) {
  CountingWaker task;
  const Waker waker = task.NewWaker();
  Context cx(waker);
  PollProceed(cx)->MadeProgress(kBytesPerUnit - 1);
  EXPECT_EQ(Drain(cx), 128 - 1);
}

TEST(Context, ExcessBytesUseUpTheBudget) {
  CountingWaker task;
  const Waker waker = task.NewWaker();
  Context cx(waker);
  PollProceed(cx)->MadeProgress(size_t{1} << 40);
  EXPECT_FALSE(cx.HasBudget());
}

TEST(Context, UnconstrainedBytesTakeNoBudget) {
  CountingWaker task;
  const Waker waker = task.NewWaker();
  Context cx(waker);
  {
    const UnconstrainedScope unconstrained(cx);
    PollProceed(cx)->MadeProgress(size_t{1} << 40);
  }
  EXPECT_EQ(Drain(cx), 128);
}

TEST(Context, AnInnerUnitsProgressSurvivesAPendingOuterOne) {
  const Waker waker;
  Context cx(waker);
  {
    PollResult<BudgetUnit> outer = PollProceed(cx);
    ASSERT_TRUE(Progress(cx));
  }
  EXPECT_EQ(Drain(cx), 127);
}

TEST(Context, APartSharesTheBudget) {
  const Waker waker;
  Context cx(waker);
  ASSERT_TRUE(Progress(cx));
  Context part(waker, cx);
  ASSERT_TRUE(Progress(part));
  Context part_of_part(waker, part);
  ASSERT_TRUE(Progress(part_of_part));
  EXPECT_EQ(Drain(part), 125);
  EXPECT_FALSE(cx.HasBudget());
  EXPECT_FALSE(part_of_part.HasBudget());
}

TEST(Context, APartOutlivesThePartItCameFrom) {
  const Waker waker;
  Context cx(waker);
  std::optional<Context> middle(std::in_place, waker, cx);
  Context part(waker, *middle);
  middle.reset();
  EXPECT_EQ(Drain(part), 128);
}

TEST(Context, APartWakesItsOwnWaker) {
  CountingWaker whole, child;
  const Waker whole_waker = whole.NewWaker();
  const Waker child_waker = child.NewWaker();
  Context cx(whole_waker);
  Context part(child_waker, cx);
  EXPECT_EQ(&part.waker(), &child_waker);
  Drain(part);
  EXPECT_GT(child.wakes(), 0);
  EXPECT_EQ(whole.wakes(), 0);
}

TEST(Context, AUnitOfAPartGoesBackToTheWhole) {
  const Waker waker;
  Context cx(waker);
  {
    Context part(waker, cx);
    PollResult<BudgetUnit> unit = PollProceed(part);
  }
  EXPECT_EQ(Drain(cx), 128);
}

TEST(Context, UnconstrainedTakesNoBudget) {
  CountingWaker task;
  const Waker waker = task.NewWaker();
  Context cx(waker);
  {
    UnconstrainedScope scope(cx);
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(Progress(cx));
    EXPECT_TRUE(cx.HasBudget());
  }
  EXPECT_EQ(task.wakes(), 0);
  EXPECT_EQ(Drain(cx), 128);
}

TEST(Context, UnconstrainedProceedsWithoutBudget) {
  const Waker waker;
  Context cx(waker);
  Drain(cx);
  {
    UnconstrainedScope scope(cx);
    EXPECT_TRUE(cx.HasBudget());
    EXPECT_TRUE(Progress(cx));
  }
  EXPECT_FALSE(cx.HasBudget());
  EXPECT_FALSE(Progress(cx));
}

TEST(Context, UnconstrainedNestsAndReachesParts) {
  const Waker waker;
  Context cx(waker);
  Context part(waker, cx);
  Drain(cx);
  {
    UnconstrainedScope outer(cx);
    {
      UnconstrainedScope inner(part);
    }
    EXPECT_TRUE(Progress(part));
  }
  EXPECT_FALSE(Progress(part));
}

TEST(Context, AUnitTakenBeforeUnconstrainedIsGivenBack) {
  const Waker waker;
  Context cx(waker);
  {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    UnconstrainedScope scope(cx);
    ASSERT_TRUE(Progress(cx));
  }
  EXPECT_EQ(Drain(cx), 128);
}

TEST(Context, AUnitTakenUnconstrainedIsWorthNothingAfterwards) {
  const Waker waker;
  Context cx(waker);
  const auto take = [&cx] {
    const UnconstrainedScope scope(cx);
    return PollProceed(cx);
  };
  {
    const PollResult<BudgetUnit> unit = take();
    ASSERT_TRUE(unit.IsReady());
  }
  EXPECT_EQ(Drain(cx), 128);
  {
    const PollResult<BudgetUnit> unit = take();
    ASSERT_TRUE(unit.IsReady());
  }
  EXPECT_FALSE(cx.HasBudget());
}

TEST(ContextDeathTest, AUnitMustNotBeGivenBackWhileUnconstrained) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Waker waker;
  Context cx(waker);
  const auto give_back = [&cx] {
    std::optional<PollResult<BudgetUnit>> unit(PollProceed(cx));
    const UnconstrainedScope scope(cx);
    TakeUnitIfAny(cx, size_t{1} << 40);
    unit.reset();
  };
  EXPECT_DEBUG_DEATH(give_back(), "kUnlimited");
}

TEST(Context, AUnitIsTakenIfBudgetIsLeft) {
  const Waker waker;
  Context cx(waker);
  TakeUnitIfAny(cx);
  {
    const UnconstrainedScope scope(cx);
    TakeUnitIfAny(cx);
  }
  EXPECT_EQ(Drain(cx), 127);
  TakeUnitIfAny(cx);
  EXPECT_FALSE(cx.HasBudget());
}

TEST(Context, AYieldForBudgetIsForced) {
  const Waker waker;
  Yielded yielded;
  Context cx(waker, nullptr, &yielded);
  const PollResult<void> poll = YieldForBudget(cx);
  EXPECT_TRUE(poll.IsPending());
  EXPECT_TRUE(yielded.to_others);
  EXPECT_TRUE(yielded.by_force);
}

TEST(Context, ChoicesComeFromTheExecutorsGenerator) {
  const Waker waker;
  FastRand rand(5);
  Context cx(waker, &rand);
  Context part(waker, cx);
  EXPECT_EQ(&cx.rand(), &rand);
  EXPECT_EQ(&part.rand(), &rand);
  EXPECT_EQ(part.rand().Next(), FastRand(5).Next());
}

TEST(Context, WithoutAGeneratorChoicesAreFixed) {
  const Waker waker;
  Context first(waker);
  Context second(waker);
  EXPECT_EQ(first.rand().Next(), second.rand().Next());
  // The generator advances within the poll.
  EXPECT_NE(first.rand().Next(), FastRand(0).Next());
}

TEST(Context, CannotBeMovedOrCopied) {
  static_assert(!std::is_copy_constructible_v<Context>);
  static_assert(!std::is_move_constructible_v<Context>);
  static_assert(!std::is_copy_constructible_v<BudgetUnit>);
  static_assert(std::is_nothrow_move_constructible_v<BudgetUnit>);
}

}  // namespace
}  // namespace rouse

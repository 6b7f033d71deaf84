// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/co/gen.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/stream.h"
#include "rouse/future/yield.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

static_assert(Stream<Gen<int>>);
static_assert(std::is_same_v<StreamItem<Gen<int>>, int>);
static_assert(!std::is_copy_constructible_v<Gen<int>>);

Gen<int> Count(int from, int to) {
  for (int i = from; i < to; ++i) co_yield i;
}

TEST(Gen, RunsNothingBeforeItIsPolled) {
  bool ran = false;
  auto body = [&ran]() -> Gen<int> {
    ran = true;
    co_return;
  };
  Gen<int> gen = body();
  EXPECT_FALSE(ran);
  EXPECT_EQ(PollNextOnce(gen).value(), std::nullopt);
  EXPECT_TRUE(ran);
}

TEST(Gen, YieldsItemsInOrderAndThenEnds) {
  Gen<int> gen = Count(0, 2);
  EXPECT_EQ(PollNextOnce(gen).value(), 0);
  EXPECT_EQ(PollNextOnce(gen).value(), 1);
  EXPECT_EQ(PollNextOnce(gen).value(), std::nullopt);
  EXPECT_EQ(PollNextOnce(gen).value(), std::nullopt);
}

TEST(Gen, RunsOnlyToTheNextYield) {
  int step = 0;
  auto body = [](int& step) -> Gen<int> {
    step = 1;
    co_yield 1;
    step = 2;
  };
  Gen<int> gen = body(step);
  EXPECT_EQ(PollNextOnce(gen).value(), 1);
  EXPECT_EQ(step, 1);
  EXPECT_EQ(PollNextOnce(gen).value(), std::nullopt);
  EXPECT_EQ(step, 2);
}

TEST(Gen, YieldsMoveOnlyItems) {
  auto body = []() -> Gen<std::unique_ptr<int>> {
    auto local = std::make_unique<int>(1);
    co_yield std::move(local);
    co_yield std::make_unique<int>(2);
  };
  auto gen = body();
  EXPECT_EQ(**PollNextOnce(gen).value(), 1);
  EXPECT_EQ(**PollNextOnce(gen).value(), 2);
}

TEST(Gen, CopiesAYieldedLocal) {
  auto body = []() -> Gen<std::string> {
    const std::string local = "a";
    co_yield local;
    co_yield local + "b";
    co_yield {};
  };
  auto gen = body();
  EXPECT_EQ(PollNextOnce(gen).value(), "a");
  EXPECT_EQ(PollNextOnce(gen).value(), "ab");
  EXPECT_EQ(PollNextOnce(gen).value(), "");
}

TEST(Gen, YieldsOptionalsAsItems) {
  auto body = []() -> Gen<std::optional<int>> { co_yield std::nullopt; };
  auto gen = body();
  const std::optional<std::optional<int>> item = PollNextOnce(gen).value();
  ASSERT_TRUE(item.has_value());
  EXPECT_EQ(*item, std::nullopt);
  EXPECT_FALSE(PollNextOnce(gen).value().has_value());
}

TEST(Gen, AwaitsFuturesAndCoroutines) {
  auto child = [](Switch<int>& s) -> Co<int> {
    co_return 1 + co_await s.future();
  };
  auto body = [&child](Switch<int>& a, Switch<int>& b) -> Gen<int> {
    co_yield co_await a.future();
    co_await Yield();
    co_yield co_await child(b);
  };
  Switch<int> a;
  Switch<int> b;
  Gen<int> gen = body(a, b);
  EXPECT_TRUE(PollNextOnce(gen).IsPending());
  a.Set(5);
  EXPECT_EQ(PollNextOnce(gen).value(), 5);
  EXPECT_TRUE(PollNextOnce(gen).IsPending());
  EXPECT_TRUE(PollNextOnce(gen).IsPending());
  EXPECT_TRUE(b.alive());
  b.Set(6);
  EXPECT_EQ(PollNextOnce(gen).value(), 7);
  EXPECT_EQ(PollNextOnce(gen).value(), std::nullopt);
}

TEST(Gen, AwaitsAnotherGen) {
  struct Tree {
    static Gen<int> Walk(int depth) {
      if (depth == 0) co_return;
      Gen<int> left = Walk(depth - 1);
      while (std::optional<int> x = co_await Next(left)) co_yield *x;
      co_yield depth;
      Gen<int> right = Walk(depth - 1);
      while (std::optional<int> x = co_await Next(right)) co_yield *x;
    }
  };
  Gen<int> gen = Tree::Walk(3);
  std::string all;
  while (std::optional<int> x = PollNextOnce(gen).value()) {
    all += std::to_string(*x);
  }
  EXPECT_EQ(all, "1213121");
}

Gen<int> Logged(Log* log, Switch<int>& s) {
  const Local outer(log, "outer");
  co_yield 1;
  const Local inner(log, "inner");
  const int x = co_await s.future();
  co_yield x;
}

TEST(Gen, IsDestroyedInAnyState) {
  for (int polls = 0; polls <= 3; ++polls) {
    Log log;
    Switch<int> s(&log, "leaf");
    {
      Gen<int> gen = Logged(&log, s);
      if (polls > 0) {
        EXPECT_EQ(PollNextOnce(gen).value(), 1);
      }
      if (polls > 1) {
        EXPECT_TRUE(PollNextOnce(gen).IsPending());
      }
      if (polls > 2) {
        s.Set(2);
        EXPECT_EQ(PollNextOnce(gen).value(), 2);
        EXPECT_THAT(log, ElementsAre("leaf"));
      } else {
        EXPECT_THAT(log, ElementsAre());
      }
    }
    switch (polls) {
      case 0:
        EXPECT_THAT(log, ElementsAre());
        break;
      case 1:
        EXPECT_THAT(log, ElementsAre("outer"));
        break;
      default:
        EXPECT_THAT(log, ElementsAre("leaf", "inner", "outer"));
    }
  }
}

TEST(Gen, LocalsAreDestroyedAtTheEnd) {
  Log log;
  Switch<int> s;
  Gen<int> gen = Logged(&log, s);
  EXPECT_EQ(PollNextOnce(gen).value(), 1);
  EXPECT_TRUE(PollNextOnce(gen).IsPending());
  s.Set(2);
  EXPECT_EQ(PollNextOnce(gen).value(), 2);
  EXPECT_EQ(PollNextOnce(gen).value(), std::nullopt);
  EXPECT_THAT(log, ElementsAre("inner", "outer"));
}

TEST(Gen, MovesBetweenPolls) {
  Gen<int> gen = Count(0, 3);
  EXPECT_EQ(PollNextOnce(gen).value(), 0);
  Gen<int> moved = std::move(gen);
  EXPECT_EQ(PollNextOnce(moved).value(), 1);
  gen = std::move(moved);
  EXPECT_EQ(PollNextOnce(gen).value(), 2);
}

TEST(Gen, AssignmentDestroysTheOldGenerator) {
  Log log;
  Switch<int> s;
  Gen<int> gen = Logged(&log, s);
  EXPECT_EQ(PollNextOnce(gen).value(), 1);
  Gen<int> other = Count(4, 5);
  gen = std::move(other);
  EXPECT_THAT(log, ElementsAre("outer"));
  EXPECT_EQ(PollNextOnce(gen).value(), 4);
}

TEST(Gen, YieldsAMillionItemsInConstantStack) {
  auto body = []() -> Co<int64_t> {
    Gen<int> gen = Count(0, 1'000'000);
    int64_t sum = 0;
    while (std::optional<int> x = co_await Next(gen)) sum += *x;
    co_return sum;
  };
  Co<int64_t> co = body();
  EXPECT_EQ(PollOnce(co).value(), int64_t{999'999} * 500'000);
}

// A generator is the root of a chain like any other.
TEST(Gen, AwaitsADeepChainInConstantStack) {
  struct Chain {
    static Co<int> Run(int depth) {
      if (depth == 0) {
        co_await Yield();
        co_return 0;
      }
      co_return 1 + co_await Run(depth - 1);
    }
  };
  auto body = []() -> Gen<int> {
    co_yield co_await Chain::Run(100'000);
    co_yield co_await Chain::Run(100'000);
  };
  Gen<int> gen = body();
  EXPECT_TRUE(PollNextOnce(gen).IsPending());
  EXPECT_EQ(PollNextOnce(gen).value(), 100'000);
  // Destroyed while it waits.
  EXPECT_TRUE(PollNextOnce(gen).IsPending());
}

TEST(Gen, PollingAMovedFromGenPanics) {
  Gen<int> gen = Count(0, 1);
  const Gen<int> moved = std::move(gen);
  // NOLINTNEXTLINE(bugprone-use-after-move)
  EXPECT_PANIC((void)PollNextOnce(gen), "polled after it was moved from");
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(Gen, AnExceptionLeavesThePollAndEndsTheStream) {
  Log log;
  auto body = [](Log* log) -> Gen<int> {
    const Local local(log, "local");
    co_yield 1;
    throw std::runtime_error("body");
  };
  Gen<int> gen = body(&log);
  EXPECT_EQ(PollNextOnce(gen).value(), 1);
  EXPECT_THROW((void)PollNextOnce(gen), std::runtime_error);
  EXPECT_THAT(log, ElementsAre("local"));
  EXPECT_EQ(PollNextOnce(gen).value(), std::nullopt);
}

TEST(Gen, AnExceptionOfAChildCanBeCaught) {
  auto child = []() -> Co<int> {
    co_await Yield();
    throw std::runtime_error("child");
  };
  auto body = [&child]() -> Gen<int> {
    try {
      co_await child();
    } catch (const std::runtime_error&) {
    }
    co_yield 3;
  };
  Gen<int> gen = body();
  EXPECT_TRUE(PollNextOnce(gen).IsPending());
  EXPECT_EQ(PollNextOnce(gen).value(), 3);
}

TEST(Gen, PollingInsideItsOwnPollPanics) {
  struct Meddler {
    explicit Meddler(std::optional<Gen<int>>* gen) : gen(gen) {}
    PollResult<int> Poll(Context& cx) {
      (void)(*gen)->PollNext(cx);
      return 1;
    }
    std::optional<Gen<int>>* gen;
  };
  std::optional<Gen<int>> gen;
  auto body = [](std::optional<Gen<int>>* gen) -> Gen<int> {
    Meddler meddler(gen);
    co_yield co_await meddler;
  };
  gen.emplace(body(&gen));
  EXPECT_PANIC((void)PollNextOnce(*gen), "a coroutine was polled");
  EXPECT_EQ(PollNextOnce(*gen).value(), std::nullopt);
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse

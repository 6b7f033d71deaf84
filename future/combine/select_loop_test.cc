// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/combine/select_loop.h"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/co/co.h"
#include "rouse/future/combine/flow.h"
#include "rouse/future/combine/select_arm.h"
#include "rouse/future/future.h"
#include "rouse/future/iter.h"
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

TEST(SelectLoop, PassesEachOutputToItsHandler) {
  Switch<int> a;
  Switch<std::string> b;
  std::vector<std::string> seen;
  auto loop = SelectLoop(
      On(a.future(), [&](int value) { seen.push_back(std::to_string(value)); }),
      On(b.future(), [&](std::string value) { seen.push_back(value); }));
  static_assert(Future<decltype(loop)>);
  static_assert(std::is_void_v<FutureOutput<decltype(loop)>>);
  EXPECT_TRUE(PollOnce(loop).IsPending());
  b.Set("b");
  EXPECT_TRUE(PollOnce(loop).IsPending());
  EXPECT_THAT(seen, ElementsAre("b"));
  EXPECT_FALSE(b.alive());
  EXPECT_TRUE(a.alive());
  a.Set(1);
  // All arms have ended.
  EXPECT_TRUE(PollOnce(loop).IsReady());
  EXPECT_THAT(seen, ElementsAre("b", "1"));
}

// A future whose output is a reference into the future.
class OwnsItsOutput {
 public:
  explicit OwnsItsOutput(std::string value)
      : value_(std::make_unique<std::string>(std::move(value))) {}
  PollResult<const std::string&> Poll(Context&) { return *value_; }

 private:
  std::unique_ptr<std::string> value_;
};

TEST(SelectLoop, AReferenceIntoTheFutureIsValidInTheHandler) {
  std::string seen;
  auto loop = SelectLoop(On(OwnsItsOutput("kept"),
                            [&](const std::string& value) { seen = value; }));
  EXPECT_TRUE(PollOnce(loop).IsReady());
  EXPECT_EQ(seen, "kept");
}

TEST(SelectLoop, BreakEndsTheLoopAndCancelsTheOthers) {
  Log log;
  Switch<int> a(&log, "a"), b(&log, "b");
  auto loop = SelectLoop(On(a.future(), [](int value) { return Break(value); }),
                         On(b.future(), [] {}));
  static_assert(std::is_same_v<FutureOutput<decltype(loop)>, int>);
  EXPECT_TRUE(PollOnce(loop).IsPending());
  a.Set(7);
  EXPECT_EQ(PollOnce(loop).value(), 7);
  // The result is ready, and `loop` still exists.
  EXPECT_THAT(log, UnorderedElementsAre("a", "b"));
}

TEST(SelectLoop, AFunctionMakesAFutureAfterEachCompletion) {
  int made = 0;
  int sum = 0;
  auto loop = SelectLoop(On([&made] { return Ready(++made); },
                            [&sum](int value) -> Flow<int> {
                              sum += value;
                              if (value == 4) return Break(sum);
                              return Continue();
                            }));
  EXPECT_EQ(PollOnce(loop).value(), 10);
  EXPECT_EQ(made, 4);
}

TEST(SelectLoop, ALoserKeepsItsFuture) {
  Switch<int> slow, fast;
  int made = 0;
  int rounds = 0;
  auto loop = SelectLoopBiased(
      On([&] { return fast.future(); }, [&rounds](int) { ++rounds; }),
      On(
          [&] {
            ++made;
            return slow.future();
          },
          [](int value) { return Break(value); }));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(PollOnce(loop).IsPending());
    fast.Set(i);
  }
  EXPECT_TRUE(PollOnce(loop).IsPending());
  EXPECT_EQ(rounds, 3);
  EXPECT_EQ(made, 1);
  EXPECT_TRUE(slow.alive());
  slow.Set(9);
  EXPECT_EQ(PollOnce(loop).value(), 9);
}

TEST(SelectLoop, AnLvalueIsPolledInPlaceAndNotCancelled) {
  Switch<int> s;
  auto leaf = s.future();
  {
    auto loop = SelectLoop(On(leaf, [](int) { return Break(); }),
                           On(Ready(), [] { return Break(); }));
    while (PollOnce(loop).IsPending()) {
    }
  }
  EXPECT_TRUE(s.alive());
  s.Set(4);
  auto loop = SelectLoop(On(leaf, [](int value) { return Break(value); }));
  EXPECT_EQ(PollOnce(loop).value(), 4);
  EXPECT_TRUE(s.alive());
}

TEST(SelectLoop, AnLvalueThatWasReadyIsNotPolledAgain) {
  Switch<int> s, other;
  auto leaf = s.future();
  auto loop = SelectLoop(On(leaf, [](int) {}),
                         On(other.future(), [](int) { return Break(); }));
  s.Set(1);
  EXPECT_TRUE(PollOnce(loop).IsPending());
  const int polls = s.polls();
  EXPECT_TRUE(PollOnce(loop).IsPending());
  EXPECT_EQ(s.polls(), polls);
}

TEST(SelectLoop, ItemsOfAStream) {
  std::vector<int> seen;
  auto loop = SelectLoop(
      OnEach(Iter(std::vector<int>{1, 2, 3}),
             [&](int i) { seen.push_back(i); }),
      OnEach(Iter(std::vector<int>{4}), [&](int i) { seen.push_back(i); }));
  EXPECT_TRUE(PollOnce(loop).IsReady());
  EXPECT_THAT(seen, UnorderedElementsAre(1, 2, 3, 4));
}

TEST(SelectLoop, AStreamIsPolledInPlace) {
  auto numbers = Iter(std::vector<int>{1, 2, 3});
  auto loop = SelectLoop(OnEach(numbers, [](int i) { return Break(i); }));
  EXPECT_EQ(PollOnce(loop).value(), 1);
  EXPECT_EQ(PollNextOnce(numbers).value(), 2);
}

TEST(SelectLoop, AConditionDisablesAnArmForARound) {
  Switch<int> a, b;
  bool wants_a = false;
  int calls = 0;
  std::vector<int> seen;
  auto loop =
      SelectLoop(On(a.future(), [&](int i) { seen.push_back(i); }).When([&] {
        ++calls;
        return wants_a;
      }),
                 On([&] { return b.future(); },
                    [&](int i) {
                      seen.push_back(i);
                      wants_a = true;
                    }));
  a.Set(1);
  EXPECT_TRUE(PollOnce(loop).IsPending());
  EXPECT_TRUE(PollOnce(loop).IsPending());
  EXPECT_EQ(a.polls(), 0);
  EXPECT_TRUE(a.alive());
  // Once for each round, and not for each poll.
  EXPECT_EQ(calls, 1);
  b.Set(2);
  EXPECT_TRUE(PollOnce(loop).IsPending());
  EXPECT_THAT(seen, ElementsAre(2, 1));
}

TEST(SelectLoop, EndArmDisablesAnArmPermanently) {
  Switch<int> other;
  int calls = 0;
  auto loop = SelectLoop(On([] { return Ready(); },
                            [&calls]() -> Flow<int> {
                              if (++calls == 2) return EndArm();
                              return Continue();
                            }),
                         On(other.future(), [](int i) { return Break(i); }));
  EXPECT_TRUE(PollOnce(loop).IsPending());
  EXPECT_EQ(calls, 2);
  other.Set(5);
  EXPECT_EQ(PollOnce(loop).value(), 5);
}

TEST(SelectLoop, ElseRunsWhenNoArmIsEnabled) {
  auto loop = SelectLoop(
      OnEach(Iter(std::vector<int>{1}), [](int) {}),
      On(Pending(), [] { return Break(1); }).When([] { return false; }),
      Else([] { return Break(2); }));
  EXPECT_EQ(PollOnce(loop).value(), 2);
}

TEST(SelectLoop, ElseCanGoOn) {
  bool enabled = false;
  int calls = 0;
  auto loop = SelectLoop(On(Ready(7), [](int i) { return Break(i); }).When([&] {
    return enabled;
  }),
                         Else([&] {
                           if (++calls == 3) enabled = true;
                           return Continue();
                         }));
  EXPECT_EQ(PollOnce(loop).value(), 7);
  EXPECT_EQ(calls, 3);
}

TEST(SelectLoop, AnElseWithoutAFlowEndsTheLoop) {
  bool called = false;
  auto loop = SelectLoop(On(Ready(), [] {}), Else([&] { called = true; }));
  EXPECT_TRUE(PollOnce(loop).IsReady());
  EXPECT_TRUE(called);
}

TEST(SelectLoop, ElseCanWait) {
  Switch<int> s;
  auto wait = [&s]() -> Co<Flow<int>> { co_return Break(co_await s.future()); };
  auto loop = SelectLoop(On(Ready(), [] {}), Else(wait));
  EXPECT_TRUE(PollOnce(loop).IsPending());
  s.Set(3);
  EXPECT_EQ(PollOnce(loop).value(), 3);
}

TEST(SelectLoop, WithoutAnEnabledArmItPanics) {
  auto waits_forever =
      SelectLoop(On(Ready(), [] {}).When([] { return false; }));
  EXPECT_PANIC(static_cast<void>(PollOnce(waits_forever)),
               "SelectLoop has no enabled arm");
  auto no_output = SelectLoop(
      On(Ready(), [] {}), On(Ready(), []() -> Flow<int> { return EndArm(); }));
  EXPECT_PANIC(static_cast<void>(PollOnce(no_output)),
               "add Else(handler) as the last argument");
}

TEST(SelectLoop, AHandlerCanWait) {
  Switch<int> inner, other;
  auto handle = [&inner](std::string text) -> Co<Flow<std::string>> {
    const int value = co_await inner.future();
    co_return Break(text + std::to_string(value));
  };
  auto loop = SelectLoopBiased(
      On(Ready(std::string("x")), handle),
      On(other.future(), [](int) { return Break(std::string()); }));
  EXPECT_TRUE(PollOnce(loop).IsPending());
  // No arm is polled while the handler runs.
  other.Set(1);
  EXPECT_TRUE(PollOnce(loop).IsPending());
  EXPECT_EQ(other.polls(), 0);
  inner.Set(2);
  EXPECT_EQ(PollOnce(loop).value(), "x2");
  EXPECT_FALSE(inner.alive());
}

TEST(SelectLoop, AHandlerThatWaitsCanGoOn) {
  Switch<int> inner;
  int sum = 0;
  auto add = [&](int i) -> Co<> { sum += i + co_await inner.future(); };
  auto loop = SelectLoop(OnEach(Iter(std::vector<int>{10, 20}), add));
  EXPECT_TRUE(PollOnce(loop).IsPending());
  inner.Set(1);
  EXPECT_TRUE(PollOnce(loop).IsPending());
  EXPECT_EQ(sum, 11);
  inner.Set(2);
  EXPECT_TRUE(PollOnce(loop).IsReady());
  EXPECT_EQ(sum, 33);
}

TEST(SelectLoop, TheOutputStaysInPlaceWhileTheHandlerWaits) {
  Switch<int> inner;
  std::string seen;
  auto handle = [&](const std::string& text) -> Co<> {
    co_await inner.future();
    seen = text;
  };
  auto loop = SelectLoop(On(Ready(std::string(100, 'x')), handle));
  EXPECT_TRUE(PollOnce(loop).IsPending());
  inner.Set(0);
  EXPECT_TRUE(PollOnce(loop).IsReady());
  EXPECT_EQ(seen, std::string(100, 'x'));
}

TEST(SelectLoop, DestroyingTheLoopCancelsTheHandler) {
  Log log;
  Switch<int> inner(&log, "inner"), other(&log, "other");
  auto handle = [&]() -> Co<> {
    const Local local(&log, "local");
    co_await inner.future();
  };
  {
    auto loop =
        SelectLoopBiased(On(Ready(), handle), On(other.future(), [] {}));
    EXPECT_TRUE(PollOnce(loop).IsPending());
  }
  EXPECT_THAT(log, UnorderedElementsAre("inner", "local", "other"));
}

TEST(SelectLoop, AnArmThatRestartsBeginsAnewInEachRound) {
  Switch<int> fast, limit;
  int made = 0;
  auto loop = SelectLoopBiased(On([&] { return fast.future(); }, [] {}),
                               On(
                                   [&] {
                                     ++made;
                                     return limit.future();
                                   },
                                   [](int i) { return Break(i); })
                                   .RestartEachRound());
  EXPECT_TRUE(PollOnce(loop).IsPending());
  EXPECT_TRUE(PollOnce(loop).IsPending());
  EXPECT_EQ(made, 1);
  fast.Set(0);
  EXPECT_TRUE(PollOnce(loop).IsPending());
  EXPECT_EQ(made, 2);
  limit.Set(8);
  EXPECT_EQ(PollOnce(loop).value(), 8);
}

TEST(SelectLoop, OutputsOfAllKinds) {
  int x = 1;
  int* seen = nullptr;
  auto reference = [](int& x) -> Co<int&> { co_return x; };
  auto loop = SelectLoopBiased(
      On(reference(x), [&seen](int& value) { seen = &value; }),
      On(Ready(std::make_unique<int>(3)),
         [](std::unique_ptr<int> value) { return Break(std::move(value)); }));
  EXPECT_EQ(*PollOnce(loop).value(), 3);
  EXPECT_EQ(seen, &x);
}

TEST(SelectLoop, EveryArmWinsItsShare) {
  const Waker waker;
  FastRand rand(1);
  int wins[3] = {};
  constexpr int kRounds = 3000;
  auto ready = [] { return Ready(); };
  auto count = [&wins](int arm) {
    return [&wins, arm]() -> Flow<> {
      ++wins[arm];
      if (wins[0] + wins[1] + wins[2] == kRounds) return Break();
      return Continue();
    };
  };
  auto loop =
      SelectLoop(On(ready, count(0)), On(ready, count(1)), On(ready, count(2)));
  for (;;) {
    Context cx(waker, &rand);
    if (loop.Poll(cx).IsReady()) break;
  }
  for (int wins : wins) {
    EXPECT_GT(wins, kRounds / 4);
    EXPECT_LT(wins, kRounds / 2);
  }
}

TEST(SelectLoopBiased, PrefersTheLeftmostInEachRound) {
  int left = 0;
  Switch<int> right;
  auto loop = SelectLoopBiased(On([] { return Ready(); },
                                  [&left]() -> Flow<int> {
                                    if (++left == 50) return Break(left);
                                    return Continue();
                                  }),
                               On(right.future(), [](int) {}));
  right.Set(1);
  EXPECT_EQ(PollOnce(loop).value(), 50);
  EXPECT_EQ(right.polls(), 0);
}

TEST(SelectLoop, YieldsWhenTheBudgetIsUsedUp) {
  CountingWaker task;
  uint32_t rounds = 0;
  auto loop = SelectLoop(On([] { return Ready(); }, [&rounds] { ++rounds; }));
  EXPECT_TRUE(task.Poll(loop).IsPending());
  EXPECT_EQ(rounds, kBudgetPerPoll);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(task.Poll(loop).IsPending());
  EXPECT_EQ(rounds, 2 * kBudgetPerPoll);
}

TEST(SelectLoop, CanBeMovedBeforeTheFirstPoll) {
  Switch<int> s;
  auto before = SelectLoop(
      On([&] { return s.future(); }, [](int i) { return Break(i); }).When([] {
        return true;
      }));
  auto loop = std::move(before);
  EXPECT_TRUE(PollOnce(loop).IsPending());
  s.Set(6);
  EXPECT_EQ(PollOnce(loop).value(), 6);
}

TEST(SelectLoop, ATraceShowsTheArmsOrTheHandler) {
  Switch<int> inner, other;
  auto handle = [&](int) -> Co<> { co_await inner.future(); };
  Switch<int> first;
  auto loop = SelectLoop(On(first.future(), handle), On(other.future(), [] {}));
  EXPECT_TRUE(PollOnce(loop).IsPending());
  AwaitTrace arms;
  arms.Add(loop);
  ASSERT_EQ(arms.steps().size(), 3u);
  EXPECT_EQ(arms.steps()[0].name, "SelectLoop");
  first.Set(1);
  EXPECT_TRUE(PollOnce(loop).IsPending());
  AwaitTrace handler;
  handler.Add(loop);
  ASSERT_EQ(handler.steps().size(), 3u);
  EXPECT_EQ(handler.steps()[1].kind, AwaitTrace::Step::Kind::kAwait);
}

TEST(SelectLoop, ReportsABorrowedLambda) {
  int x = 1;
  auto lambda = [&x]() -> Co<int> { co_return x; };
  EXPECT_TRUE(internal::BorrowsClosure(SelectLoop(On(lambda(), [] {}))));
  EXPECT_FALSE(internal::BorrowsClosure(SelectLoop(On(lambda, [] {}))));
}

TEST(SelectLoop, PollingACompleteLoopPanics) {
  auto loop = SelectLoop(On(Ready(), [] { return Break(); }));
  EXPECT_TRUE(PollOnce(loop).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(loop)),
               "SelectLoop was polled after it completed");
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(SelectLoop, AnExceptionEndsTheLoop) {
  Switch<int> other;
  auto throws = [] { throw std::runtime_error("handler"); };
  auto loop = SelectLoopBiased(On(Ready(), throws), On(other.future(), [] {}));
  EXPECT_THROW(static_cast<void>(PollOnce(loop)), std::runtime_error);
  EXPECT_FALSE(other.alive());
  EXPECT_PANIC(static_cast<void>(PollOnce(loop)),
               "SelectLoop was polled after it completed");
}

TEST(SelectLoop, AnExceptionOfAFutureEndsTheLoop) {
  auto thrower = []() -> Co<> {
    throw std::runtime_error("arm");
    co_return;
  };
  auto loop = SelectLoop(On(thrower, [] {}));
  EXPECT_THROW(static_cast<void>(PollOnce(loop)), std::runtime_error);
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse

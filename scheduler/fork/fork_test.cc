// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests forks without a scheduler, which work like a `Join()`. What depends on
// workers is tested in runtime/integration/fork_test.cc.

#include "rouse/scheduler/fork/fork.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/thread.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/future/ready.h"
#include "rouse/future/yield.h"
#include "rouse/scheduler/fork/fork_all.h"
#include "rouse/scheduler/fork/parallel_for.h"
#include "rouse/scheduler/fork/parallel_reduce.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

Co<int> Value(int value) { co_return value; }
Co<> Nothing() { co_return; }

Co<uint64_t> Fibonacci(uint64_t n) {
  if (n < 2) co_return n;
  const auto [a, b] = co_await Fork(Fibonacci(n - 1), Fibonacci(n - 2));
  co_return a + b;
}

TEST(Fork, ReturnsOutputsOfAllKinds) {
  int x = 1;
  auto reference = [](int& x) -> Co<int&> { co_return x; };
  auto fork = Fork(Ready(std::make_unique<int>(5)), reference(x), Nothing());
  static_assert(Future<decltype(fork)>);
  static_assert(
      std::is_same_v<FutureOutput<decltype(fork)>,
                     std::tuple<std::unique_ptr<int>, int&, std::monostate>>);
  auto outputs = PollOnce(fork).value();
  EXPECT_EQ(*std::get<0>(outputs), 5);
  EXPECT_EQ(&std::get<1>(outputs), &x);
}

TEST(Fork, TakesCallablesAndReferences) {
  Co<int> one = Value(1);
  auto two = [n = 2]() -> Co<int> { co_return n; };
  auto fork = Fork(one, two);
  EXPECT_EQ(PollOnce(fork).value(), std::tuple(1, 2));
}

TEST(Fork, CanBeMovedBeforeItsFirstPoll) {
  auto fork = Fork(Value(1), Value(2));
  auto moved = std::move(fork);
  EXPECT_EQ(PollOnce(moved).value(), std::tuple(1, 2));
}

TEST(Fork, CannotBeMovedAfterItsFirstPoll) {
  Switch<int> a;
  auto fork = Fork(a.future(), Value(2));
  EXPECT_TRUE(PollOnce(fork).IsPending());
  EXPECT_PANIC(auto moved = std::move(fork),
               "Fork was moved after its first poll");
  a.Set(1);
  EXPECT_EQ(PollOnce(fork).value(), std::tuple(1, 2));
}

TEST(Fork, IsFinishedWhenMovedFrom) {
  auto fork = Fork(Value(1), Value(2));
  auto moved = std::move(fork);
  // NOLINTNEXTLINE(bugprone-use-after-move)
  EXPECT_PANIC((void)PollOnce(fork), "create a new Fork");
}

TEST(Fork, DestroysFuturesThatWereNeverPolled) {
  Log log;
  Switch<int> a(&log, "a");
  {
    auto fork = Fork(a.future(), Value(1));
  }
  EXPECT_THAT(log, ElementsAre("a"));
}

TEST(Fork, DestroysAFutureAsSoonAsItIsReady) {
  Log log;
  Switch<int> a(&log, "a");
  Switch<int> b(&log, "b");
  auto fork = Fork(a.future(), b.future());
  a.Set(1);
  EXPECT_TRUE(PollOnce(fork).IsPending());
  EXPECT_THAT(log, ElementsAre("a"));
}

TEST(Fork, TracesTheChildrenThatHaveNotEnded) {
  Switch<int> a;
  auto waits = [&a]() -> Co<int> { co_return co_await a.future(); };
  auto fork = Fork(waits(), Value(1));
  EXPECT_TRUE(PollOnce(fork).IsPending());
  AwaitTrace trace;
  fork.Trace(trace);
  ASSERT_GE(trace.steps().size(), 2u);
  EXPECT_EQ(trace.steps()[0].kind, AwaitTrace::Step::Kind::kBranches);
  EXPECT_EQ(trace.steps()[0].name, "Fork");
  EXPECT_EQ(trace.steps()[1].kind, AwaitTrace::Step::Kind::kAwait);
}

// The stack of such a thread, with its thread-local variables, is unmapped when
// the thread has ended. Optimized code that keeps the address of a variable in
// the coroutine crashes.
TEST(Fork, UsesNoVariableOfAThreadThatHasEnded) {
  auto task = []() -> Co<int> {
    int sum = 0;
    for (int i = 0; i < 2; ++i) {
      const auto [a, b] = co_await Fork(Value(1), Value(2));
      sum += a + b;
      if (i == 0) co_await Yield();
    }
    co_return sum;
  };
  Co<int> co = task();
  absl::StatusOr<Thread> thread = Thread::Start(
      "large", [&co] { EXPECT_TRUE(PollOnce(co).IsPending()); },
      size_t{256} << 20);
  ASSERT_TRUE(thread.ok());
  thread->Join();
  EXPECT_EQ(PollOnce(co).value(), 6);
}

TEST(Fork, NestsWithoutAScheduler) { EXPECT_EQ(BlockOn(Fibonacci(15)), 610u); }

TEST(Fork, ChildrenBeginWhileAnotherWaits) {
  Switch<int> a;
  Switch<int> b;
  auto fork = Fork(a.future(), b.future());
  EXPECT_TRUE(PollOnce(fork).IsPending());
  EXPECT_EQ(a.polls(), 1);
  EXPECT_EQ(b.polls(), 1);
  b.Set(2);
  EXPECT_TRUE(PollOnce(fork).IsPending());
  EXPECT_FALSE(b.alive());
  a.Set(1);
  EXPECT_EQ(PollOnce(fork).value(), std::tuple(1, 2));
}

TEST(Fork, DestroyingItCancelsTheChildren) {
  Log log;
  Switch<int> a(&log, "a");
  Switch<int> b(&log, "b");
  {
    auto fork = Fork(a.future(), b.future());
    EXPECT_TRUE(PollOnce(fork).IsPending());
  }
  EXPECT_THAT(log, testing::UnorderedElementsAre("a", "b"));
}

TEST(Fork, CannotBePolledAfterItsEnd) {
  auto fork = Fork(Value(1), Value(2));
  (void)PollOnce(fork);
  EXPECT_PANIC((void)PollOnce(fork), "Fork was polled after it completed");
  auto all = ForkAll(std::vector<Co<int>>());
  (void)PollOnce(all);
  EXPECT_PANIC((void)PollOnce(all), "ForkAll was polled after it completed");
}

// Takes a unit of the budget in each poll, and never ends.
class Endless {
 public:
  explicit Endless(int* polls) : polls_(polls) {}

  PollResult<void> Poll(Context& cx) {
    ++*polls_;
    while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
    return YieldForBudget(cx);
  }

 private:
  int* polls_;
};

TEST(Fork, NoChildBeginsWithoutBudget) {
  int polls = 0;
  Switch<int> b;
  auto fork = Fork(Endless(&polls), b.future());
  EXPECT_TRUE(PollOnce(fork).IsPending());
  EXPECT_EQ(polls, 1);
  EXPECT_EQ(b.polls(), 0);
}

TEST(Fork, AChildThatNeverEndsDoesNotKeepTheNextFromBeginning) {
  int polls = 0;
  Switch<int> b;
  auto fork = Fork(Endless(&polls), b.future());
  while (b.polls() == 0) EXPECT_TRUE(PollOnce(fork).IsPending());
  EXPECT_GT(polls, 1);
}

TEST(ForkAll, ReturnsOutputsInOrder) {
  std::vector<Co<int>> children;
  for (int i = 0; i < 5; ++i) children.push_back(Value(i));
  auto all = ForkAll(std::move(children));
  EXPECT_THAT(PollOnce(all).value(), ElementsAre(0, 1, 2, 3, 4));
}

TEST(ForkAll, TakesARangeThatMakesFutures) {
  auto sized = std::views::iota(0, 5) | std::views::transform(&Value);
  auto all = ForkAll(sized);
  EXPECT_THAT(PollOnce(all).value(), ElementsAre(0, 1, 2, 3, 4));
  auto is_even = [](int i) { return i % 2 == 0; };
  auto unsized = std::views::iota(0, 100) | std::views::filter(is_even) |
                 std::views::transform(&Value);
  auto evens = ForkAll(unsized);
  EXPECT_EQ(PollOnce(evens).value().size(), 50u);
}

TEST(ForkAll, CannotBeMovedAfterItsFirstPoll) {
  Switch<int> a;
  std::vector<Switch<int>::Leaf> children;
  children.push_back(a.future());
  auto all = ForkAll(std::move(children));
  auto moved = std::move(all);
  EXPECT_TRUE(PollOnce(moved).IsPending());
  EXPECT_PANIC(auto again = std::move(moved),
               "ForkAll was moved after its first poll");
}

// Children that have ended, first and last, are not polled again.
TEST(ForkAll, PollsOnlyChildrenThatHaveNotEnded) {
  std::vector<Switch<int>> switches(5);
  std::vector<Switch<int>::Leaf> children;
  for (Switch<int>& s : switches) children.push_back(s.future());
  auto all = ForkAll(std::move(children));
  EXPECT_TRUE(PollOnce(all).IsPending());
  for (size_t i : {0, 4, 1, 3}) {
    switches[i].Set(static_cast<int>(i));
    EXPECT_TRUE(PollOnce(all).IsPending());
  }
  EXPECT_EQ(switches[0].polls(), 2);
  EXPECT_EQ(switches[2].polls(), 5);
  switches[2].Set(2);
  EXPECT_THAT(PollOnce(all).value(), ElementsAre(0, 1, 2, 3, 4));
}

TEST(ForkAll, TakesFuturesWithoutOutputsAndNoFutures) {
  std::vector<Co<>> children;
  children.push_back(Nothing());
  auto all = ForkAll(std::move(children));
  EXPECT_TRUE(PollOnce(all).IsReady());
  auto none = ForkAll(std::vector<Co<int>>());
  EXPECT_THAT(PollOnce(none).value(), ElementsAre());
}

TEST(ParallelFor, CallsOnceForEachNumber) {
  for (size_t grain : {1, 2, 3, 100}) {
    std::vector<int> calls(20);
    auto count = [&calls](int i) { ++calls[static_cast<size_t>(i) + 10]; };
    BlockOn(ParallelFor(-10, 10, grain, count));
    EXPECT_THAT(calls, testing::Each(1)) << grain;
  }
}

TEST(ParallelFor, AwaitsFutures) {
  int sum = 0;
  auto add = [&sum](int i) -> Co<> { sum += co_await Value(i); };
  BlockOn(ParallelFor(0, 5, 2, add));
  EXPECT_EQ(sum, 10);
}

TEST(ParallelFor, AnEmptyRangeCallsNothing) {
  auto never = [](int) { ADD_FAILURE(); };
  BlockOn(ParallelFor(3, 3, 1, never));
  BlockOn(ParallelFor(4, 3, 1, never));
}

TEST(ParallelFor, TheGrainMustNotBe0) {
  auto never = [](int) { ADD_FAILURE(); };
  EXPECT_PANIC(BlockOn(ParallelFor(0, 3, 0, never)), "the grain is 0");
}

TEST(ParallelReduce, CombinesInOrder) {
  auto name = [](int i) { return std::to_string(i); };
  for (size_t grain : {1, 2, 3, 100}) {
    EXPECT_EQ(BlockOn(ParallelReduce(0, 10, grain, std::string(), name,
                                     std::plus<>())),
              "0123456789");
  }
  EXPECT_EQ(BlockOn(ParallelReduce(0, 0, 1, std::string("none"), name,
                                   std::plus<>())),
            "none");
}

#ifdef ABSL_HAVE_EXCEPTIONS

Co<int> Throw() {
  throw std::runtime_error("thrown");
  co_return 0;
}

TEST(Fork, AnExceptionCancelsTheOtherChildren) {
  Log log;
  Switch<int> a(&log, "a");
  Switch<int> c(&log, "c");
  auto fork = Fork(a.future(), Throw(), c.future());
  EXPECT_THROW((void)PollOnce(fork), std::runtime_error);
  EXPECT_THAT(log, testing::UnorderedElementsAre("a", "c"));
  EXPECT_EQ(a.polls(), 1);
  EXPECT_EQ(c.polls(), 0);
  EXPECT_PANIC((void)PollOnce(fork), "threw an exception");
}

TEST(ParallelFor, HasNoLimitOfTheRange) {
  constexpr int kMin = std::numeric_limits<int>::min();
  constexpr int kMax = std::numeric_limits<int>::max();
  int first = 0;
  auto call = [&first](int i) {
    first = i;
    throw std::runtime_error("thrown");
  };
  EXPECT_THROW(BlockOn(ParallelFor(kMin, kMax, size_t{1} << 20, call)),
               std::runtime_error);
  EXPECT_EQ(first, kMin);
}

TEST(ForkAll, AnExceptionCancelsTheOtherChildren) {
  std::vector<Co<int>> children;
  children.push_back(Throw());
  children.push_back(Value(1));
  auto all = ForkAll(std::move(children));
  EXPECT_THROW((void)PollOnce(all), std::runtime_error);
  EXPECT_PANIC((void)PollOnce(all), "threw an exception");
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse

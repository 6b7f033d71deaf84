// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/shared/shared.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/co/co.h"
#include "rouse/future/combine/join.h"
#include "rouse/future/future.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/ready.h"
#include "rouse/future/yield.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Leaf = Switch<std::string>::Leaf;

TEST(Shared, EachCopyGetsACopyOfTheOutput) {
  Switch<std::string> s;
  Shared<Leaf> first(s.future());
  static_assert(Future<Shared<Leaf>>);
  static_assert(std::is_same_v<FutureOutput<Shared<Leaf>>, std::string>);
  Shared<Leaf> second = first;
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(PollOnce(second).IsPending());
  EXPECT_FALSE(first.IsReady());
  s.Set("x");
  EXPECT_EQ(PollOnce(second).value(), "x");
  EXPECT_TRUE(first.IsReady());
  EXPECT_EQ(PollOnce(first).value(), "x");
  Shared<Leaf> late = second;
  EXPECT_EQ(PollOnce(late).value(), "x");
}

TEST(Shared, OneCopyPollsTheFutureOncePerWake) {
  Switch<std::string> s;
  Shared<Leaf> first(s.future());
  Shared<Leaf> second = first;
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(PollOnce(second).IsPending());
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_EQ(s.polls(), 1);
  s.Set("x");
  EXPECT_TRUE(PollOnce(first).IsReady());
  EXPECT_TRUE(PollOnce(second).IsReady());
  EXPECT_EQ(s.polls(), 2);
}

TEST(Shared, AWakeWakesEachCopyThatWaits) {
  Switch<std::string> s;
  Shared<Leaf> first(s.future());
  Shared<Leaf> second = first;
  Shared<Leaf> not_polled = first;
  CountingWaker first_task, second_task;
  EXPECT_TRUE(first_task.Poll(first).IsPending());
  EXPECT_TRUE(second_task.Poll(second).IsPending());
  EXPECT_EQ(first_task.wakes() + second_task.wakes(), 0);
  s.Set("x");
  EXPECT_EQ(first_task.wakes(), 1);
  EXPECT_EQ(second_task.wakes(), 1);
  EXPECT_TRUE(first_task.Poll(first).IsReady());
  // The copy that polls is not woken by its own poll.
  EXPECT_EQ(first_task.wakes(), 1);
}

// Another copy can only register during the poll that is ready.
TEST(Shared, AResultWakesTheCopiesThatRegisteredMeanwhile) {
  std::function<void()> meanwhile;
  auto poll = [&meanwhile](Context&) -> PollResult<int> {
    meanwhile();
    return 7;
  };
  Shared first(PollFn(poll));
  auto second = first;
  CountingWaker task;
  meanwhile = [&] { EXPECT_TRUE(task.Poll(second).IsPending()); };
  EXPECT_EQ(PollOnce(first).value(), 7);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.Poll(second).value(), 7);
}

TEST(Shared, APendingPollWakesTheCopiesThatCameAfterAWake) {
  std::function<void()> meanwhile;
  auto poll = [&meanwhile](Context& cx) -> PollResult<int> {
    cx.waker().WakeByRef();
    meanwhile();
    return kPending;
  };
  Shared first(PollFn(poll));
  auto second = first;
  CountingWaker first_task, second_task;
  meanwhile = [&] { EXPECT_TRUE(second_task.Poll(second).IsPending()); };
  EXPECT_TRUE(first_task.Poll(first).IsPending());
  EXPECT_EQ(first_task.wakes(), 1);
  EXPECT_EQ(second_task.wakes(), 1);
}

TEST(Shared, ManyCopiesAreWoken) {
  Switch<std::string> s;
  std::vector<Shared<Leaf>> copies(100, Shared<Leaf>(s.future()));
  CountingWaker task;
  for (Shared<Leaf>& copy : copies) EXPECT_TRUE(task.Poll(copy).IsPending());
  s.Set("x");
  EXPECT_EQ(task.wakes(), 100);
  for (Shared<Leaf>& copy : copies) EXPECT_EQ(task.Poll(copy).value(), "x");
}

TEST(Shared, AnotherCopyTakesOverFromADestroyedOne) {
  Switch<std::string> s;
  std::optional<Shared<Leaf>> first(s.future());
  Shared<Leaf> second = *first;
  CountingWaker first_task, second_task;
  EXPECT_TRUE(first_task.Poll(*first).IsPending());
  EXPECT_TRUE(second_task.Poll(second).IsPending());
  s.Set("x");
  first.reset();
  EXPECT_EQ(second_task.wakes(), 1);
  EXPECT_EQ(second_task.Poll(second).value(), "x");
}

TEST(Shared, ADestroyedCopyIsNotWoken) {
  Switch<std::string> s;
  Shared<Leaf> first(s.future());
  std::optional<Shared<Leaf>> second(first);
  CountingWaker task;
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(task.Poll(*second).IsPending());
  EXPECT_EQ(task.live(), 1);
  second.reset();
  EXPECT_EQ(task.live(), 0);
  s.Set("x");
  EXPECT_EQ(task.wakes(), 0);
}

TEST(Shared, TheLastCopyCancelsTheFuture) {
  Switch<std::string> s;
  std::optional<Shared<Leaf>> first(s.future());
  std::optional<Shared<Leaf>> second(std::in_place, *first);
  EXPECT_TRUE(PollOnce(*first).IsPending());
  first.reset();
  EXPECT_TRUE(s.alive());
  second.reset();
  EXPECT_FALSE(s.alive());
}

TEST(Shared, TheFutureIsDestroyedBeforeTheResultIsReady) {
  Switch<std::string> s;
  Shared<Leaf> copy(s.future());
  s.Set("x");
  EXPECT_TRUE(PollOnce(copy).IsReady());
  EXPECT_FALSE(s.alive());
}

TEST(Shared, IsReadyAgainAndAgain) {
  Shared<ReadyFuture<int>> copy(Ready(7));
  EXPECT_EQ(PollOnce(copy).value(), 7);
  EXPECT_EQ(PollOnce(copy).value(), 7);
}

TEST(Shared, EachResultTakesBudget) {
  Shared<ReadyFuture<int>> copy(Ready(7));
  CountingWaker task;
  Context cx(task.waker());
  for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
    EXPECT_TRUE(copy.Poll(cx).IsReady());
  }
  EXPECT_TRUE(copy.Poll(cx).IsPending());
  EXPECT_EQ(task.wakes(), 1);
}

TEST(Shared, AFutureThatYieldsWakesTheCopies) {
  auto yields = []() -> Co<int> {
    co_await Yield();
    co_return 7;
  };
  Shared copy(yields());
  static_assert(std::is_same_v<decltype(copy), Shared<Co<int>>>);
  CountingWaker task;
  EXPECT_TRUE(task.Poll(copy).IsPending());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.Poll(copy).value(), 7);
}

TEST(Shared, OutputsOfAllKinds) {
  Shared nothing(Ready());
  static_assert(std::is_void_v<FutureOutput<decltype(nothing)>>);
  EXPECT_TRUE(PollOnce(nothing).IsReady());

  int x = 1;
  const auto refer = [&x](Context&) -> PollResult<int&> { return x; };
  Shared reference(PollFn(refer));
  static_assert(std::is_same_v<FutureOutput<decltype(reference)>, int&>);
  EXPECT_EQ(&PollOnce(reference).value(), &x);
  EXPECT_EQ(reference.Peek(), &x);

  Shared unique(Ready(std::make_unique<int>(2)));
  static_assert(std::is_same_v<FutureOutput<decltype(unique)>,
                               const std::unique_ptr<int>&>);
  auto other = unique;
  EXPECT_EQ(&PollOnce(unique).value(), &PollOnce(other).value());
  EXPECT_EQ(*PollOnce(other).value(), 2);
}

TEST(Shared, PeeksInPlace) {
  Shared copy(Ready(7));
  EXPECT_EQ(copy.Peek(), nullptr);
  EXPECT_TRUE(PollOnce(copy).IsReady());
  const auto other = copy;
  ASSERT_NE(other.Peek(), nullptr);
  EXPECT_EQ(*other.Peek(), 7);
  EXPECT_EQ(other.Peek(), copy.Peek());
  EXPECT_EQ(other.exception(), nullptr);
}

TEST(Shared, TakesACallable) {
  int calls = 0;
  auto make = [&calls] {
    ++calls;
    return Ready(3);
  };
  Shared copy(make);
  EXPECT_EQ(calls, 0);
  auto other = copy;
  EXPECT_EQ(PollOnce(copy).value(), 3);
  EXPECT_EQ(PollOnce(other).value(), 3);
  EXPECT_EQ(calls, 1);
}

TEST(Shared, CopiesInOneTaskGoTogether) {
  Switch<std::string> s;
  Shared<Leaf> copy(s.future());
  auto both = Join(copy, Shared<Leaf>(copy));
  CountingWaker task;
  EXPECT_TRUE(task.Poll(both).IsPending());
  s.Set("x");
  const auto [a, b] = task.Poll(both).value();
  EXPECT_EQ(a + b, "xx");
}

TEST(Shared, CanBeMovedWhileItWaits) {
  Switch<std::string> s;
  Shared<Leaf> from(s.future());
  CountingWaker task;
  EXPECT_TRUE(task.Poll(from).IsPending());
  Shared<Leaf> to(std::move(from));
  EXPECT_EQ(task.live(), 1);
  s.Set("x");
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.Poll(to).value(), "x");
  EXPECT_EQ(task.live(), 0);
  EXPECT_PANIC(static_cast<void>(PollOnce(from)),  // NOLINT: a moved-from copy
               "a Shared was polled after it was moved from");
}

TEST(Shared, AnAssignedCopyLeavesItsFuture) {
  Switch<std::string> a, b;
  Shared<Leaf> first(a.future());
  Shared<Leaf> second(b.future());
  CountingWaker task;
  EXPECT_TRUE(task.Poll(first).IsPending());
  first = second;
  EXPECT_FALSE(a.alive());
  EXPECT_EQ(task.live(), 0);
  EXPECT_TRUE(first.IsCopyOf(second));
  EXPECT_TRUE(task.Poll(second).IsPending());
  first = std::move(second);
  EXPECT_EQ(task.live(), 1);
  b.Set("y");
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.Poll(first).value(), "y");
  const Shared<Leaf>& same = first;
  first = same;
  EXPECT_EQ(task.Poll(first).value(), "y");
}

TEST(Shared, AWakerOutlivesTheCopies) {
  Waker kept;
  auto keep = [&kept](Context& cx) -> PollResult<int> {
    kept = cx.waker().Clone();
    return kPending;
  };
  CountingWaker task;
  {
    Shared copy(PollFn(keep));
    EXPECT_TRUE(task.Poll(copy).IsPending());
  }
  kept.WakeByRef();
  std::move(kept).Wake();
  EXPECT_EQ(task.wakes(), 0);
}

TEST(Shared, ATraceNamesTheFuture) {
  Switch<std::string> s;
  const Shared<Leaf> copy(s.future());
  AwaitTrace trace;
  trace.Add(copy);
  ASSERT_EQ(trace.steps().size(), 1u);
  EXPECT_EQ(trace.steps()[0].name, "Shared");
  EXPECT_THAT(trace.steps()[0].detail, HasSubstr("Leaf"));
}

TEST(Shared, ReportsABorrowedLambda) {
  int x = 1;
  auto lambda = [&x]() -> Co<int> { co_return x; };
  const Shared borrows(lambda());
  EXPECT_TRUE(internal::BorrowsClosure(borrows));
  const Shared owns(lambda);
  EXPECT_FALSE(internal::BorrowsClosure(owns));
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(Shared, EachCopyGetsTheException) {
  Log log;
  auto throws = [](Log* log) -> Co<int> {
    const Local local(log, "local");
    co_await Yield();
    throw std::runtime_error("lost");
  };
  Shared first(throws(&log));
  auto second = first;
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_THROW(static_cast<void>(PollOnce(first)), std::runtime_error);
  EXPECT_THAT(log, ElementsAre("local"));
  EXPECT_THROW(static_cast<void>(PollOnce(second)), std::runtime_error);
  EXPECT_THROW(static_cast<void>(PollOnce(second)), std::runtime_error);
  EXPECT_EQ(second.Peek(), nullptr);
  EXPECT_NE(second.exception(), nullptr);
  EXPECT_EQ(first.exception(), second.exception());
}

TEST(Shared, AThrowingWakerDoesNotStopTheOthers) {
  Switch<std::string> s;
  Shared<Leaf> first(s.future());
  Shared<Leaf> second = first;
  CountingWaker bad, good;
  bad.OnWake([] { throw std::runtime_error("waker"); });
  EXPECT_TRUE(bad.Poll(first).IsPending());
  EXPECT_TRUE(good.Poll(second).IsPending());
  EXPECT_THROW(s.Set("x"), std::runtime_error);
  EXPECT_EQ(good.wakes(), 1);
  EXPECT_EQ(good.Poll(second).value(), "x");
}

TEST(Shared, AWakerThatCannotBeClonedChangesNothing) {
  Switch<std::string> s;
  Shared<Leaf> copy(s.future());
  CountingWaker task;
  task.OnClone([] { throw std::runtime_error("clone"); });
  EXPECT_THROW(static_cast<void>(task.Poll(copy)), std::runtime_error);
  EXPECT_EQ(s.polls(), 0);
  s.Set("x");
  EXPECT_EQ(PollOnce(copy).value(), "x");
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse

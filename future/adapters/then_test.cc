// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/adapters/then.h"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/co.h"
#include "rouse/future/collect.h"
#include "rouse/future/iter.h"
#include "rouse/future/ready.h"
#include "rouse/future/stream.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/feed.h"
#include "rouse/testing/internal/switch.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Then, AwaitsTheFuturesInOrder) {
  Switch<int> switches[2];
  std::vector<int> calls;
  Feed<int> feed;
  auto stream = feed.stream() | Then([&](int i) {
                  calls.push_back(i);
                  return switches[i].future();
                });
  feed.Push(0);
  feed.Push(1);
  EXPECT_TRUE(PollNextOnce(stream).IsPending());
  // Neither the next item nor its future is there before.
  EXPECT_EQ(feed.left(), 1);
  EXPECT_THAT(calls, ElementsAre(0));
  switches[0].Set(10);
  EXPECT_EQ(PollNextOnce(stream).value(), 10);
  EXPECT_FALSE(switches[0].alive());
  EXPECT_TRUE(PollNextOnce(stream).IsPending());
  switches[1].Set(11);
  EXPECT_EQ(PollNextOnce(stream).value(), 11);
  feed.End();
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
}

TEST(Then, WakesForTheStreamAndForTheFuture) {
  CountingWaker task;
  Switch<int> gate;
  Feed<int> feed;
  auto stream = feed.stream() | Then([&](int) { return gate.future(); });
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  feed.Push(0);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  gate.Set(5);
  EXPECT_EQ(task.wakes(), 2);
  EXPECT_EQ(task.PollNext(stream).value(), 5);
}

TEST(Then, HoldsOutputsThatAreNoObjects) {
  auto nothing = Iter(std::vector{1}) | Then([](int) { return Ready(); });
  static_assert(std::is_same_v<StreamItem<decltype(nothing)>, std::monostate>);
  EXPECT_TRUE(PollNextOnce(nothing).value().has_value());

  int x = 7;
  auto reference = [&x](int) -> Co<int&> { co_return x; };
  auto references = Iter(std::vector{1}) | Then(reference);
  static_assert(std::is_same_v<StreamItem<decltype(references)>,
                               std::reference_wrapper<int>>);
  EXPECT_EQ(&PollNextOnce(references).value()->get(), &x);
}

TEST(Then, KeepsTheCapturesOfACoroutine) {
  auto plus = [n = std::make_unique<int>(100)](int x) -> Co<int> {
    co_return x + *n;
  };
  auto stream = Iter(std::vector{1, 2}) | Then(std::move(plus));
  // Can be moved until it is polled.
  auto moved = std::move(stream);
  EXPECT_FALSE(moved.BorrowsClosure());
  auto all = std::move(moved) | Collect();
  EXPECT_THAT(PollOnce(all).value(), ElementsAre(101, 102));
}

TEST(Then, CancelsTheFutureWhenDestroyed) {
  Switch<int> gate;
  {
    auto stream =
        Iter(std::vector{1, 2}) | Then([&](int) { return gate.future(); });
    EXPECT_TRUE(PollNextOnce(stream).IsPending());
    EXPECT_TRUE(gate.alive());
  }
  EXPECT_FALSE(gate.alive());
}

TEST(Then, TracesTheFuture) {
  Switch<int> gate;
  Feed<int> feed;
  auto stream = feed.stream() | Then([&](int) { return gate.future(); });
  AwaitTrace before;
  before.Add(stream);
  EXPECT_THAT(before.ToString(), HasSubstr("Feed"));
  feed.Push(1);
  EXPECT_TRUE(PollNextOnce(stream).IsPending());
  AwaitTrace trace;
  trace.Add(stream);
  EXPECT_THAT(trace.ToString(), HasSubstr("Switch"));
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(Then, ContinuesAfterAnException) {
  auto fail = [](int x) -> Co<int> {
    if (x == 1) throw std::runtime_error("one");
    co_return x;
  };
  auto stream = Iter(std::vector{1, 2}) | Then(fail);
  EXPECT_THROW((void)PollNextOnce(stream), std::runtime_error);
  EXPECT_EQ(PollNextOnce(stream).value(), 2);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
}
#endif

}  // namespace
}  // namespace rouse

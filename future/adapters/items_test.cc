// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests the adapters that change each item: Then, FilterMap, Enumerate, Scan.

#include <functional>
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
#include "rouse/future/adapters/enumerate.h"
#include "rouse/future/adapters/filter_map.h"
#include "rouse/future/adapters/scan.h"
#include "rouse/future/adapters/then.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/co.h"
#include "rouse/future/collect.h"
#include "rouse/future/iter.h"
#include "rouse/future/ready.h"
#include "rouse/future/stream.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/feed.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::optional<int> HalfOfEven(int x) {
  if (x % 2 == 1) return std::nullopt;
  return x / 2;
}

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

TEST(FilterMap, LosesTheItemOfAnException) {
  auto stream = Iter(std::vector{1, 2}) | FilterMap([](int x) {
                  if (x == 1) throw std::runtime_error("one");
                  return std::optional(x);
                });
  EXPECT_THROW((void)PollNextOnce(stream), std::runtime_error);
  EXPECT_EQ(PollNextOnce(stream).value(), 2);
}
#endif

TEST(FilterMap, KeepsValues) {
  auto all = Iter(std::vector{1, 2, 3, 4}) | FilterMap(&HalfOfEven) | Collect();
  EXPECT_THAT(PollOnce(all).value(), ElementsAre(1, 2));
}

TEST(FilterMap, MovesTheItem) {
  std::vector<std::unique_ptr<int>> items;
  items.push_back(std::make_unique<int>(3));
  auto stream = Iter(std::move(items)) | FilterMap([](std::unique_ptr<int> p) {
                  return std::optional(std::move(p));
                });
  EXPECT_EQ(**PollNextOnce(stream).value(), 3);
}

TEST(FilterMap, TakesAUnitForEachDroppedItem) {
  CountingWaker task;
  auto stream =
      Iter(std::vector<int>(kBudgetPerPoll + 1, 1)) | FilterMap(&HalfOfEven);
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.PollNext(stream).value(), std::nullopt);
}

TEST(Enumerate, NumbersFromZero) {
  std::vector<std::string> words = {"a", "b"};
  auto all = Iter(std::move(words)) | Enumerate() | Collect();
  EXPECT_THAT(PollOnce(all).value(), ElementsAre(Pair(0, "a"), Pair(1, "b")));
}

TEST(Scan, CarriesAState) {
  auto sum = [](int& total, int x) { return std::optional(total += x); };
  auto all = Iter(std::vector{1, 2, 3}) | Scan(10, sum) | Collect();
  EXPECT_THAT(PollOnce(all).value(), ElementsAre(11, 13, 16));
}

TEST(Scan, EndsWithoutAValue) {
  Feed<int> feed;
  auto limited = [](int& left, int x) {
    return left-- > 0 ? std::optional(x) : std::nullopt;
  };
  auto stream = feed.stream() | Scan(1, limited);
  feed.Push(5);
  feed.Push(6);
  EXPECT_EQ(PollNextOnce(stream).value(), 5);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
  EXPECT_FALSE(feed.alive());
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
}

}  // namespace
}  // namespace rouse

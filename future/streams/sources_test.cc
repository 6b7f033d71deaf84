// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests the streams that are made of no other stream: Empty, Once, Repeat,
// Unfold.

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/co.h"
#include "rouse/future/collect.h"
#include "rouse/future/ready.h"
#include "rouse/future/stream.h"
#include "rouse/future/streams/empty.h"
#include "rouse/future/streams/once.h"
#include "rouse/future/streams/repeat.h"
#include "rouse/future/streams/unfold.h"
#include "rouse/future/take.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Empty, HasEnded) {
  auto stream = Empty<int>();
  static_assert(std::is_same_v<StreamItem<decltype(stream)>, int>);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
}

TEST(Once, GivesAValue) {
  auto stream = Once(std::make_unique<int>(1));
  EXPECT_EQ(**PollNextOnce(stream).value(), 1);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
}

TEST(Once, GivesTheOutputOfAFuture) {
  CountingWaker task;
  Switch<int> gate;
  auto stream = Once(gate.future());
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  AwaitTrace trace;
  trace.Add(stream);
  EXPECT_THAT(trace.ToString(), HasSubstr("Switch"));
  gate.Set(3);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.PollNext(stream).value(), 3);
  EXPECT_FALSE(gate.alive());
  EXPECT_EQ(task.PollNext(stream).value(), std::nullopt);
}

TEST(Once, PollsAFutureInPlace) {
  Switch<int> gate;
  auto future = gate.future();
  auto stream = Once(future);
  EXPECT_TRUE(PollNextOnce(stream).IsPending());
  gate.Set(3);
  EXPECT_EQ(PollNextOnce(stream).value(), 3);
  EXPECT_TRUE(gate.alive());
}

TEST(Once, GivesAnItemForAFutureOfNothing) {
  auto stream = Once(Ready());
  static_assert(std::is_same_v<StreamItem<decltype(stream)>, std::monostate>);
  EXPECT_TRUE(PollNextOnce(stream).value().has_value());
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
}

TEST(Repeat, CopiesTheItem) {
  const std::string word = "again";
  auto all = Repeat(word) | Take(3) | Collect();
  EXPECT_THAT(PollOnce(all).value(), ElementsAre("again", "again", "again"));
}

TEST(Repeat, TakesAUnitForEachItem) {
  CountingWaker task;
  auto stream = Repeat(1);
  Context cx(task.waker());
  for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
    EXPECT_TRUE(stream.PollNext(cx).IsReady());
  }
  EXPECT_TRUE(stream.PollNext(cx).IsPending());
  EXPECT_EQ(task.wakes(), 1);
}

Co<std::optional<int>> CountDown(int& left) {
  if (left == 0) co_return std::nullopt;
  co_return left--;
}

TEST(Unfold, GivesItemsUntilTheEnd) {
  auto stream = Unfold(2, &CountDown);
  static_assert(std::is_same_v<StreamItem<decltype(stream)>, int>);
  auto moved = std::move(stream);
  EXPECT_EQ(PollNextOnce(moved).value(), 2);
  EXPECT_EQ(PollNextOnce(moved).value(), 1);
  EXPECT_EQ(PollNextOnce(moved).value(), std::nullopt);
  EXPECT_EQ(PollNextOnce(moved).value(), std::nullopt);
}

TEST(Unfold, WaitsForEachFuture) {
  CountingWaker task;
  Switch<std::optional<int>> gate;
  auto stream = Unfold(0, [&gate](int& calls) {
    ++calls;
    return gate.future();
  });
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  AwaitTrace trace;
  trace.Add(stream);
  EXPECT_THAT(trace.ToString(), HasSubstr("Switch"));
  gate.Set(5);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.PollNext(stream).value(), 5);
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  gate.Set(std::nullopt);
  EXPECT_EQ(task.PollNext(stream).value(), std::nullopt);
  EXPECT_FALSE(gate.alive());
}

TEST(Unfold, TakesAUnitForEachItem) {
  CountingWaker task;
  auto all = Unfold(2 * static_cast<int>(kBudgetPerPoll), &CountDown);
  Context cx(task.waker());
  for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
    EXPECT_TRUE(all.PollNext(cx).IsReady());
  }
  EXPECT_TRUE(all.PollNext(cx).IsPending());
  EXPECT_EQ(task.wakes(), 1);
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(Unfold, ContinuesAfterAnException) {
  auto fail = [](int& calls) -> Co<std::optional<int>> {
    if (++calls == 1) throw std::runtime_error("one");
    co_return calls;
  };
  auto stream = Unfold(0, fail);
  EXPECT_THROW((void)PollNextOnce(stream), std::runtime_error);
  EXPECT_EQ(PollNextOnce(stream).value(), 2);
}
#endif

}  // namespace
}  // namespace rouse

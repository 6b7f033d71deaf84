// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests the streams that are made of two streams: Chain, Zip, Merge.

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/collect.h"
#include "rouse/future/iter.h"
#include "rouse/future/map.h"
#include "rouse/future/stream.h"
#include "rouse/future/streams/chain.h"
#include "rouse/future/streams/merge.h"
#include "rouse/future/streams/repeat.h"
#include "rouse/future/streams/zip.h"
#include "rouse/future/take.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/feed.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(Chain, GivesTheSecondStreamAfterTheFirst) {
  auto all = Iter(std::vector{1, 2}) | Chain(Iter(std::vector{3})) | Collect();
  EXPECT_THAT(PollOnce(all).value(), ElementsAre(1, 2, 3));
}

TEST(Chain, PollsTheSecondStreamAfterTheFirst) {
  CountingWaker task;
  Feed<int> first;
  Feed<int> second;
  auto stream = first.stream() | Chain(second.stream());
  second.Push(2);
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  EXPECT_EQ(second.polls(), 0);
  first.End();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.PollNext(stream).value(), 2);
  EXPECT_FALSE(first.alive());
  AwaitTrace trace;
  trace.Add(stream);
  EXPECT_EQ(trace.steps().size(), 1);
  second.End();
  EXPECT_EQ(task.PollNext(stream).value(), std::nullopt);
  EXPECT_EQ(task.PollNext(stream).value(), std::nullopt);
}

TEST(Chain, PollsLvaluesInPlace) {
  auto first = Iter(std::vector{1});
  auto second = Iter(std::vector{2, 3});
  auto stream = first | Chain(second);
  EXPECT_EQ(PollNextOnce(stream).value(), 1);
  EXPECT_EQ(PollNextOnce(stream).value(), 2);
  EXPECT_EQ(PollNextOnce(second).value(), 3);
}

TEST(Zip, PairsItems) {
  std::vector<std::string> words = {"one", "two"};
  auto all =
      Iter(std::vector{1, 2, 3}) | Zip(Iter(std::move(words))) | Collect();
  EXPECT_THAT(PollOnce(all).value(),
              ElementsAre(Pair(1, "one"), Pair(2, "two")));
}

TEST(Zip, KeepsAnItemUntilItsPartnerComes) {
  CountingWaker task;
  Feed<int> first;
  Feed<std::unique_ptr<int>> second;
  auto stream = first.stream() | Zip(second.stream());
  second.Push(std::make_unique<int>(2));
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  EXPECT_EQ(second.left(), 0);
  AwaitTrace trace;
  trace.Add(stream);
  EXPECT_THAT(trace.ToString(), HasSubstr("Feed<int>"));
  EXPECT_EQ(trace.steps().size(), 2);
  first.Push(1);
  EXPECT_EQ(task.wakes(), 1);
  const auto both = *task.PollNext(stream).value();
  EXPECT_EQ(both.first, 1);
  EXPECT_EQ(*both.second, 2);
}

TEST(Zip, EndsWithEitherStream) {
  Feed<int> first;
  Feed<int> second;
  auto stream = first.stream() | Zip(second.stream());
  first.Push(1);
  second.End();
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
  EXPECT_FALSE(first.alive());
  EXPECT_FALSE(second.alive());
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);

  auto short_first = Iter(std::vector<int>()) | Zip(Iter(std::vector{1}));
  EXPECT_EQ(PollNextOnce(short_first).value(), std::nullopt);
  EXPECT_EQ(PollNextOnce(short_first).value(), std::nullopt);
}

TEST(Merge, GivesItemsAsTheyCome) {
  CountingWaker task;
  Feed<int> first;
  Feed<int> second;
  auto stream = first.stream() | Merge(second.stream());
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  second.Push(2);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.PollNext(stream).value(), 2);
  first.Push(1);
  EXPECT_EQ(task.PollNext(stream).value(), 1);
  first.End();
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  EXPECT_FALSE(first.alive());
  second.Push(3);
  second.End();
  EXPECT_EQ(task.PollNext(stream).value(), 3);
  EXPECT_EQ(task.PollNext(stream).value(), std::nullopt);
  EXPECT_EQ(task.PollNext(stream).value(), std::nullopt);
}

TEST(Merge, LetsTheStreamsTakeTurns) {
  auto some = Repeat(1) | Merge(Repeat(2)) | Take(6) | Collect();
  const std::vector<int> items = PollOnce(some).value();
  EXPECT_THAT(items, UnorderedElementsAre(1, 1, 1, 2, 2, 2));
  for (size_t i = 1; i < items.size(); ++i) EXPECT_NE(items[i - 1], items[i]);
}

TEST(Merge, TracesBoth) {
  Feed<int> first;
  Feed<int> second;
  auto stream = first.stream() | Merge(second.stream());
  AwaitTrace trace;
  trace.Add(stream);
  EXPECT_THAT(trace.ToString(), HasSubstr("Merge"));
  EXPECT_EQ(trace.steps().size(), 3);
}

#ifdef ABSL_HAVE_EXCEPTIONS
int ThrowAtTwo(int x) {
  if (x == 2) throw std::runtime_error("two");
  return x;
}

TEST(Zip, ContinuesAfterAnException) {
  auto stream =
      Iter(std::vector{1, 2}) | Zip(Iter(std::vector{2, 3}) | Map(&ThrowAtTwo));
  EXPECT_THROW((void)PollNextOnce(stream), std::runtime_error);
  EXPECT_THAT(*PollNextOnce(stream).value(), Pair(1, 3));
}

TEST(Merge, ContinuesAfterAnException) {
  auto stream = (Iter(std::vector{2, 4}) | Map(&ThrowAtTwo)) |
                Merge(Iter(std::vector{1}));
  std::vector<int> items;
  int thrown = 0;
  for (bool has_ended = false; !has_ended;) {
    try {
      const std::optional<int> item = PollNextOnce(stream).value();
      has_ended = !item.has_value();
      if (!has_ended) items.push_back(*item);
    } catch (const std::runtime_error&) {
      ++thrown;
    }
  }
  EXPECT_EQ(thrown, 1);
  EXPECT_THAT(items, UnorderedElementsAre(1, 4));
}
#endif

}  // namespace
}  // namespace rouse

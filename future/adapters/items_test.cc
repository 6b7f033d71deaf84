// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests the adapters that change each item, except Then: FilterMap, Enumerate,
// Scan.

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/adapters/enumerate.h"
#include "rouse/future/adapters/filter_map.h"
#include "rouse/future/adapters/scan.h"
#include "rouse/future/collect.h"
#include "rouse/future/iter.h"
#include "rouse/future/stream.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/feed.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::optional<int> HalfOfEven(int x) {
  if (x % 2 == 1) return std::nullopt;
  return x / 2;
}

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

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(FilterMap, LosesTheItemOfAnException) {
  auto stream = Iter(std::vector{1, 2}) | FilterMap([](int x) {
                  if (x == 1) throw std::runtime_error("one");
                  return std::optional(x);
                });
  EXPECT_THROW((void)PollNextOnce(stream), std::runtime_error);
  EXPECT_EQ(PollNextOnce(stream).value(), 2);
}
#endif

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/take.h"

#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co/gen.h"
#include "rouse/future/stream.h"
#include "rouse/future/yield.h"
#include "rouse/testing/internal/switch.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

Gen<int> Numbers(Log* log) {
  const Local local(log, "numbers");
  for (int i = 0;; ++i) {
    co_await Yield();
    co_yield i;
  }
}

TEST(Take, ReturnsTheFirstItemsAndThenDestroysTheStream) {
  Log log;
  auto stream = Take(Numbers(&log), 2);
  static_assert(Stream<decltype(stream)>);
  EXPECT_TRUE(PollNextOnce(stream).IsPending());
  EXPECT_EQ(PollNextOnce(stream).value(), 0);
  EXPECT_TRUE(PollNextOnce(stream).IsPending());
  EXPECT_THAT(log, ElementsAre());
  EXPECT_EQ(PollNextOnce(stream).value(), 1);
  EXPECT_THAT(log, ElementsAre("numbers"));
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
}

TEST(Take, OfZeroItemsDoesNotPollTheStream) {
  Log log;
  Gen<int> numbers = Numbers(&log);
  auto stream = Take(numbers, 0);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
}

TEST(Take, KeepsTheRestOfAnLvalue) {
  Log log;
  Gen<int> numbers = Numbers(&log);
  auto stream = Take(numbers, 1);
  EXPECT_TRUE(PollNextOnce(stream).IsPending());
  EXPECT_EQ(PollNextOnce(stream).value(), 0);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
  EXPECT_TRUE(PollNextOnce(numbers).IsPending());
  EXPECT_EQ(PollNextOnce(numbers).value(), 1);
}

TEST(Take, EndsWithAShorterStream) {
  auto two = []() -> Gen<int> {
    co_yield 1;
    co_yield 2;
  };
  auto stream = Take(two(), 5);
  EXPECT_EQ(PollNextOnce(stream).value(), 1);
  EXPECT_EQ(PollNextOnce(stream).value(), 2);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
}

}  // namespace
}  // namespace rouse

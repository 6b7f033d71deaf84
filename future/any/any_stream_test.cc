// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/any/any_stream.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/gen.h"
#include "rouse/future/iter.h"
#include "rouse/future/map.h"
#include "rouse/future/stream.h"
#include "rouse/future/yield.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

std::vector<int> All(AnyStream<int>& stream) {
  std::vector<int> items;
  while (std::optional<int> item = PollNextOnce(stream).value()) {
    items.push_back(*item);
  }
  return items;
}

// A stream too large for the place of an `AnyStream`.
class Large {
 public:
  PollResult<std::optional<int>> PollNext(Context&) {
    if (left_ == 0) return std::nullopt;
    return left_--;
  }

 private:
  int left_ = 2;
  [[maybe_unused]] std::byte more_[256] = {};
};

TEST(AnyStream, HoldsStreamsOfAnyType) {
  static_assert(Stream<AnyStream<int>>);
  AnyStream<int> numbers = Iter(std::vector<int>{1, 2});
  static_assert(
      AnyStream<int>::FitsInline<decltype(Iter(std::vector<int>()))>());
  EXPECT_THAT(All(numbers), ElementsAre(1, 2));
  auto count = [](int to) -> Gen<int> {
    for (int i = 0; i < to; ++i) co_yield i;
  };
  AnyStream<int> counted = count(3);
  static_assert(AnyStream<int>::FitsInline<Gen<int>>());
  EXPECT_THAT(All(counted), ElementsAre(0, 1, 2));
  AnyStream<int> large = Large();
  static_assert(!AnyStream<int>::FitsInline<Large>());
  EXPECT_THAT(All(large), ElementsAre(2, 1));
  EXPECT_EQ(PollNextOnce(large).value(), std::nullopt);
}

TEST(AnyStream, WaitsAndCanBeMoved) {
  auto slow = []() -> Gen<int> {
    co_await Yield();
    co_yield 1;
  };
  AnyStream<int> from = slow();
  EXPECT_TRUE(PollNextOnce(from).IsPending());
  AnyStream<int> to = std::move(from);
  EXPECT_THAT(All(to), ElementsAre(1));
  to = Iter(std::vector<int>{5});
  EXPECT_THAT(All(to), ElementsAre(5));
  EXPECT_PANIC(static_cast<void>(PollNextOnce(from)),  // NOLINT: moved from
               "an AnyStream was polled after it was moved from");
}

TEST(AnyStream, WorksWithAdaptersAndNext) {
  auto twice = Map(AnyStream<int>(Iter(std::vector<int>{1, 2})),
                   [](int i) { return 2 * i; });
  EXPECT_EQ(PollNextOnce(twice).value(), 2);
  AnyStream<int> numbers = Iter(std::vector<int>{7});
  auto next = Next(numbers);
  EXPECT_EQ(PollOnce(next).value(), 7);
}

TEST(AnyStream, TracesTheStream) {
  const AnyStream<int> numbers = Large();
  AwaitTrace trace;
  trace.Add(numbers);
  EXPECT_EQ(trace.steps().size(), 1u);
}

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/stream_pipe.h"

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/collect.h"
#include "rouse/future/filter.h"
#include "rouse/future/iter.h"
#include "rouse/future/many/buffered.h"
#include "rouse/future/many/for_each_concurrent.h"
#include "rouse/future/map.h"
#include "rouse/future/stream.h"
#include "rouse/future/take.h"
#include "rouse/testing/poll_once.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

std::vector<int> FromOneTo(int last) {
  std::vector<int> numbers;
  for (int i = 1; i <= last; ++i) numbers.push_back(i);
  return numbers;
}

int Square(int x) { return x * x; }
bool IsOdd(int x) { return x % 2 == 1; }
Co<int> Plus100(int x) { co_return x + 100; }

TEST(StreamPipe, ReadsFromLeftToRight) {
  auto all =
      Iter(FromOneTo(9)) | Filter(&IsOdd) | Map(&Square) | Take(3) | Collect();
  EXPECT_THAT(PollOnce(all).value(), ElementsAre(1, 9, 25));
}

TEST(StreamPipe, IsTheCallWithTheStream) {
  auto piped = Iter(FromOneTo(3)) | Map(&Square);
  static_assert(std::is_same_v<decltype(piped),
                               decltype(Map(Iter(FromOneTo(3)), &Square))>);
}

TEST(StreamPipe, ComposesAdapters) {
  auto first_squares = Map(&Square) | Filter(&IsOdd) | Take(2);
  // The variable is copied, and can be used again.
  auto some = Iter(FromOneTo(9)) | first_squares | Collect();
  auto more = Iter(std::vector{5, 7, 9}) | first_squares | Collect();
  EXPECT_THAT(PollOnce(some).value(), ElementsAre(1, 9));
  EXPECT_THAT(PollOnce(more).value(), ElementsAre(25, 49));
}

TEST(StreamPipe, ComposesInAnyGrouping) {
  auto all = Iter(FromOneTo(9)) | (Map(&Square) | (Filter(&IsOdd) | Take(2))) |
             (Map(&Square) | Collect());
  EXPECT_THAT(PollOnce(all).value(), ElementsAre(1, 81));
}

TEST(StreamPipe, PollsAnLvalueInPlace) {
  auto numbers = Iter(FromOneTo(4));
  auto first = numbers | Take(2) | Collect();
  EXPECT_THAT(PollOnce(first).value(), ElementsAre(1, 2));
  EXPECT_EQ(PollNextOnce(numbers).value(), 3);
}

TEST(StreamPipe, MovesAFunctionThatCannotBeCopied) {
  auto plus = [n = std::make_unique<int>(7)](int x) { return x + *n; };
  auto adapter = Map(std::move(plus));
  auto all = Iter(FromOneTo(2)) | std::move(adapter) | Collect();
  EXPECT_THAT(PollOnce(all).value(), ElementsAre(8, 9));
}

TEST(StreamPipe, RunsFuturesConcurrently) {
  auto ordered = Iter(FromOneTo(3)) | Map(&Plus100) | Buffered(2) | Collect();
  EXPECT_THAT(PollOnce(ordered).value(), ElementsAre(101, 102, 103));
  auto unordered = Iter(FromOneTo(1)) | Map(&Plus100) | BufferUnordered(2);
  EXPECT_EQ(PollNextOnce(unordered).value(), 101);
}

TEST(StreamPipe, EndsInACallForEachItem) {
  std::vector<int> seen;
  auto see = [&seen](int x) -> Co<> {
    seen.push_back(x);
    co_return;
  };
  auto all = Iter(FromOneTo(3)) | ForEachConcurrent(1, see);
  while (PollOnce(all).IsPending()) {
  }
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));

  auto fail = [](int x) -> Co<absl::Status> {
    if (x == 2) co_return absl::InternalError("two");
    co_return absl::OkStatus();
  };
  auto failing = Iter(FromOneTo(3)) | TryForEachConcurrent(1, fail);
  std::optional<absl::Status> status;
  while (!status.has_value()) {
    auto result = PollOnce(failing);
    if (result.IsReady()) status = *std::move(result);
  }
  EXPECT_EQ(*status, absl::InternalError("two"));
}

// The example of the header.
auto Squares() {
  return StreamAdapter([]<class S>(S&& stream) {
    return Map(std::forward<S>(stream), [](int x) { return x * x; });
  });
}

TEST(StreamPipe, TakesAdaptersOfTheUser) {
  auto all = Iter(FromOneTo(3)) | Squares() | Collect();
  EXPECT_THAT(PollOnce(all).value(), ElementsAre(1, 4, 9));
}

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/iter.h"

#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/collect.h"
#include "rouse/future/map.h"
#include "rouse/future/stream.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

template <class S>
auto Collected(S stream) {
  auto all = Collect(std::move(stream));
  return PollOnce(all).value();
}

TEST(Iter, GivesTheElementsInOrder) {
  EXPECT_THAT(Collected(Iter(std::vector{1, 2, 3})), ElementsAre(1, 2, 3));
  EXPECT_THAT(Collected(Iter(std::vector<int>())), ElementsAre());
  EXPECT_THAT(Collected(Iter(std::set{3, 1})), ElementsAre(1, 3));
  EXPECT_THAT(Collected(Iter(std::views::iota(4, 6))), ElementsAre(4, 5));
}

TEST(Iter, MovesTheElementsOut) {
  std::vector<std::unique_ptr<int>> pointers;
  pointers.push_back(std::make_unique<int>(1));
  auto numbers = Map(Iter(std::move(pointers)),
                     [](std::unique_ptr<int> pointer) { return *pointer; });
  EXPECT_THAT(Collected(std::move(numbers)), ElementsAre(1));
}

TEST(Iter, StaysAtTheEnd) {
  const Waker waker;
  Context cx(waker);
  auto stream = Iter(std::vector{1});
  static_assert(Stream<decltype(stream)>);
  EXPECT_EQ(*stream.PollNext(cx), 1);
  EXPECT_EQ(*stream.PollNext(cx), std::nullopt);
  EXPECT_EQ(*stream.PollNext(cx), std::nullopt);
}

}  // namespace
}  // namespace rouse

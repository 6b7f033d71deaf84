// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/map.h"

#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "gtest/gtest.h"
#include "rouse/future/co/gen.h"
#include "rouse/future/stream.h"
#include "rouse/future/yield.h"
#include "rouse/testing/internal/switch.h"

namespace rouse {
namespace {

Gen<std::unique_ptr<int>> Numbers(int count) {
  for (int i = 0; i < count; ++i) {
    co_await Yield();
    co_yield std::make_unique<int>(i);
  }
}

TEST(Map, MapsEachItem) {
  auto stream = Map(Numbers(2), [](std::unique_ptr<int> item) {
    return std::to_string(*item);
  });
  static_assert(std::is_same_v<StreamItem<decltype(stream)>, std::string>);
  EXPECT_TRUE(PollNextOnce(stream).IsPending());
  EXPECT_EQ(PollNextOnce(stream).value(), "0");
  EXPECT_TRUE(PollNextOnce(stream).IsPending());
  EXPECT_EQ(PollNextOnce(stream).value(), "1");
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
}

TEST(Map, PollsAnLvalueInPlace) {
  Gen<std::unique_ptr<int>> numbers = Numbers(2);
  {
    auto stream = Map(numbers, &std::unique_ptr<int>::operator*);
    static_assert(std::is_same_v<StreamItem<decltype(stream)>, int>);
    EXPECT_TRUE(PollNextOnce(stream).IsPending());
    EXPECT_EQ(PollNextOnce(stream).value(), 0);
  }
  EXPECT_TRUE(PollNextOnce(numbers).IsPending());
  EXPECT_EQ(**PollNextOnce(numbers).value(), 1);
}

TEST(Map, MapsToAnOptionalAsAValue) {
  auto stream = Map(Numbers(1),
                    [](std::unique_ptr<int>) { return std::optional<int>(); });
  EXPECT_TRUE(PollNextOnce(stream).IsPending());
  const std::optional<std::optional<int>> item = PollNextOnce(stream).value();
  ASSERT_TRUE(item.has_value());
  EXPECT_EQ(*item, std::nullopt);
}

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/poll/interest.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace rouse::reactor {
namespace {

TEST(Interest, HasItsParts) {
  const Interest both = Interest::kReadable | Interest::kPriority;
  EXPECT_TRUE(both.IsReadable());
  EXPECT_FALSE(both.IsWritable());
  EXPECT_TRUE(both.IsPriority());
}

TEST(Interest, WithoutLeavesTheRest) {
  const Interest both = Interest::kReadable | Interest::kWritable;
  EXPECT_EQ(both.Without(Interest::kReadable), Interest::kWritable);
}

TEST(Interest, IsNeverEmpty) {
  EXPECT_EQ(Interest::kReadable.Without(Interest::kReadable), std::nullopt);
}

TEST(Interest, IsPrinted) {
  EXPECT_EQ(absl::StrCat(Interest::kReadable), "readable");
  EXPECT_EQ(absl::StrCat(Interest::kPriority | Interest::kWritable),
            "writable|priority");
}

}  // namespace
}  // namespace rouse::reactor

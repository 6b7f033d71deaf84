// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/static_storage.h"

#include <array>
#include <cstdio>
#include <memory>

#include "gtest/gtest.h"

namespace rouse::model {
namespace {

int data = 1;
int zeros = 0;

TEST(StaticStorage, ContainsObjectsAtNamespaceScope) {
  EXPECT_TRUE(InStaticStorage(&data));
  EXPECT_TRUE(InStaticStorage(&zeros));
}

TEST(StaticStorage, ContainsStaticObjectsOfFunctions) {
  static std::array<int, 100> numbers = {};
  EXPECT_TRUE(InStaticStorage(numbers.data()));
  EXPECT_TRUE(InStaticStorage(&numbers.back()));
}

TEST(StaticStorage, ContainsObjectsOfALibrary) {
  EXPECT_TRUE(InStaticStorage(stdout));  // of the C library
}

TEST(StaticStorage, ContainsNothingOnTheHeap) {
  // Small and large blocks come from different places.
  const auto small = std::make_unique<int>(1);
  const auto large = std::make_unique<std::array<char, 1 << 20>>();
  EXPECT_FALSE(InStaticStorage(small.get()));
  EXPECT_FALSE(InStaticStorage(large.get()));
}

TEST(StaticStorage, ContainsNothingOnTheStack) {
  const int local = 1;
  EXPECT_FALSE(InStaticStorage(&local));
}

TEST(StaticStorage, DoesNotContainNull) {
  EXPECT_FALSE(InStaticStorage(nullptr));
}

}  // namespace
}  // namespace rouse::model

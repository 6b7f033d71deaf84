// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/fast_rand.h"

#include <array>
#include <cstdint>
#include <limits>
#include <set>

#include "gtest/gtest.h"

namespace rouse {
namespace {

// These are the reference values of SplitMix64 for these seeds.
TEST(FastRand, TheSequenceIsFixed) {
  FastRand rand(1234567);
  EXPECT_EQ(rand.Next(), 6457827717110365317u);
  EXPECT_EQ(rand.Next(), 3203168211198807973u);
  EXPECT_EQ(rand.Next(), 9817491932198370423u);
  EXPECT_EQ(rand.Next(), 4593380528125082431u);
  EXPECT_EQ(rand.Next(), 16408922859458223821u);
}

TEST(FastRand, SeedZeroIsValid) {
  FastRand rand(0);
  EXPECT_EQ(rand.Next(), 0xe220a8397b1dcdafu);
  EXPECT_EQ(rand.Next(), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(rand.Next(), 0x06c45d188009454fu);
}

TEST(FastRand, EveryStateProducesNumbers) {
  // The state of these seeds becomes 0 and all ones at the first step.
  for (const uint64_t gamma_away : {uint64_t{0}, ~uint64_t{0}}) {
    FastRand rand(gamma_away - 0x9e3779b97f4a7c15);
    std::set<uint64_t> seen;
    for (int i = 0; i < 1000; ++i) seen.insert(rand.Next());
    EXPECT_EQ(seen.size(), 1000u);
  }
}

TEST(FastRand, IsUsableInConstantExpressions) {
  static_assert([] {
    FastRand rand(0);
    return rand.Next();
  }() == 0xe220a8397b1dcdaf);
  EXPECT_EQ(FastRand(0).Next(), 0xe220a8397b1dcdafu);
}

TEST(FastRand, ACopyIsIndependent) {
  FastRand rand(7);
  FastRand copy = rand;
  const uint64_t first = rand.Next();
  rand.Next();
  EXPECT_EQ(copy.Next(), first);
}

TEST(FastRand, BelowStaysBelow) {
  FastRand rand(3);
  for (const uint32_t bound :
       {1u, 2u, 3u, 7u, 1u << 31, std::numeric_limits<uint32_t>::max()}) {
    for (int i = 0; i < 1000; ++i) ASSERT_LT(rand.Below(bound), bound);
  }
}

TEST(FastRand, BelowZeroAndOneAreZero) {
  FastRand rand(3);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(rand.Below(0), 0u);
    EXPECT_EQ(rand.Below(1), 0u);
  }
}

TEST(FastRand, BelowReachesEveryNumberAboutEquallyOften) {
  FastRand rand(42);
  constexpr uint32_t kBound = 6;
  constexpr int kDraws = 60000;
  std::array<int, kBound> counts = {};
  for (int i = 0; i < kDraws; ++i) ++counts[rand.Below(kBound)];
  // Five standard deviations of a binomial with p = 1/6 are 456.
  for (const int count : counts) EXPECT_NEAR(count, kDraws / kBound, 456);
}

TEST(FastRand, SplitsDoNotRepeatOneAnother) {
  FastRand parent(1);
  FastRand first = parent.Split();
  FastRand second = parent.Split();
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    seen.insert(parent.Next());
    seen.insert(first.Next());
    seen.insert(second.Next());
  }
  EXPECT_EQ(seen.size(), 3000u);
}

TEST(FastRand, SplittingIsRepeatable) {
  FastRand a(5), b(5);
  EXPECT_EQ(a.Split().Next(), b.Split().Next());
  EXPECT_EQ(a.Next(), b.Next());
}

}  // namespace
}  // namespace rouse

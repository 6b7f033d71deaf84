// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/instant.h"

#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

constexpr int64_t kMaxNanoseconds = std::numeric_limits<int64_t>::max();
constexpr int64_t kMinNanoseconds = std::numeric_limits<int64_t>::min();

Instant At(int64_t nanoseconds) {
  return Instant::FromNanoseconds(nanoseconds);
}

TEST(Instant, BeginsAtTheOrigin) {
  EXPECT_EQ(Instant().nanoseconds(), 0);
  EXPECT_EQ(Instant(), At(0));
}

TEST(Instant, AddsAndSubtractsDurations) {
  EXPECT_EQ(At(5) + absl::Nanoseconds(7), At(12));
  EXPECT_EQ(absl::Microseconds(1) + At(5), At(1005));
  EXPECT_EQ(At(5) - absl::Nanoseconds(7), At(-2));
  Instant t = At(1);
  t += absl::Seconds(1);
  t -= absl::Nanoseconds(2);
  EXPECT_EQ(t, At(999'999'999));
}

TEST(Instant, DropsPartsOfANanosecond) {
  EXPECT_EQ(At(0) + absl::Nanoseconds(2) + absl::Nanoseconds(1) / 2, At(2));
}

TEST(Instant, ReturnsTheDurationBetweenTwoInstants) {
  EXPECT_EQ(At(12) - At(5), absl::Nanoseconds(7));
  EXPECT_EQ(At(5) - At(12), -absl::Nanoseconds(7));
}

TEST(Instant, DifferenceDoesNotOverflow) {
  EXPECT_EQ(At(kMaxNanoseconds - 1) - At(kMinNanoseconds),
            absl::Nanoseconds(kMaxNanoseconds - 1) -
                absl::Nanoseconds(kMinNanoseconds));
}

TEST(Instant, IsOrdered) {
  EXPECT_LT(At(1), At(2));
  EXPECT_GE(At(2), At(2));
  EXPECT_LT(At(kMaxNanoseconds - 1), Instant::Max());
}

// T17: tokio #3551, #4495, #6487, #6612.
TEST(Instant, HugeDurationsSaturate) {
  EXPECT_EQ(At(1) + absl::InfiniteDuration(), Instant::Max());
  EXPECT_EQ(At(1) + absl::Hours(24) * 365 * 1000, Instant::Max());
  EXPECT_EQ(At(kMaxNanoseconds - 1) + absl::Nanoseconds(1), Instant::Max());
  EXPECT_EQ(At(-5) - absl::InfiniteDuration(), At(kMinNanoseconds));
  EXPECT_EQ(At(-5) + -absl::InfiniteDuration(), At(kMinNanoseconds));
  EXPECT_EQ(At(5) - -absl::InfiniteDuration(), Instant::Max());
}

TEST(Instant, AddingAnInfiniteDurationSaturates) {
  const Instant earliest =
      Instant::FromNanoseconds(std::numeric_limits<int64_t>::min());
  for (const Instant from : {earliest, Instant::FromNanoseconds(-5), Instant(),
                             Instant::FromNanoseconds(5)}) {
    EXPECT_EQ(from + absl::InfiniteDuration(), Instant::Max());
    EXPECT_EQ(from - absl::InfiniteDuration(), earliest);
  }
  EXPECT_EQ(Instant::Max() - absl::InfiniteDuration(), Instant::Max());
}

TEST(Instant, ArithmeticOnTheFarFutureSaturates) {
  EXPECT_EQ(Instant::Max() + absl::Seconds(1), Instant::Max());
  EXPECT_EQ(Instant::Max() - absl::Seconds(1), Instant::Max());
  EXPECT_EQ(Instant::Max() - absl::InfiniteDuration(), Instant::Max());
}

TEST(Instant, TheFarFutureIsInfinitelyFar) {
  EXPECT_EQ(Instant::Max() - At(5), absl::InfiniteDuration());
  EXPECT_EQ(At(5) - Instant::Max(), -absl::InfiniteDuration());
  EXPECT_EQ(Instant::Max() - Instant::Max(), absl::ZeroDuration());
}

TEST(Instant, Prints) {
  EXPECT_EQ(absl::StrCat(At(1'500'000'000)), "1.5s");
  EXPECT_EQ(absl::StrCat(Instant::Max()), "never");
}

}  // namespace
}  // namespace rouse

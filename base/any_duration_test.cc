// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/any_duration.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

absl::Duration Take(AnyDuration duration) { return duration; }

TEST(AnyDuration, TakesDurationsOfAbseil) {
  EXPECT_EQ(Take(absl::Milliseconds(5)), absl::Milliseconds(5));
  EXPECT_EQ(Take(-absl::Hours(5)), -absl::Hours(5));
  EXPECT_EQ(Take(absl::InfiniteDuration()), absl::InfiniteDuration());
}

TEST(AnyDuration, TakesDurationsOfTheStandardLibrary) {
  EXPECT_EQ(Take(std::chrono::nanoseconds(5)), absl::Nanoseconds(5));
  EXPECT_EQ(Take(std::chrono::milliseconds(-5)), -absl::Milliseconds(5));
  EXPECT_EQ(Take(std::chrono::hours(5)), absl::Hours(5));
  using std::chrono_literals::operator""ms;
  EXPECT_EQ(Take(5ms), absl::Milliseconds(5));
}

TEST(AnyDuration, TakesDurationsOfAnyUnitAndType) {
  EXPECT_EQ(Take(std::chrono::days(2)), absl::Hours(48));
  EXPECT_EQ(Take(std::chrono::duration<int, std::milli>(5)),
            absl::Milliseconds(5));
  EXPECT_EQ(Take(std::chrono::duration<int16_t, std::ratio<1, 50>>(3)),
            absl::Milliseconds(60));
  EXPECT_EQ(Take(std::chrono::duration<double>(0.25)), absl::Milliseconds(250));
  EXPECT_EQ(Take(std::chrono::duration<float, std::milli>(0.5F)),
            absl::Microseconds(500));
  EXPECT_EQ(Take(std::chrono::duration<int64_t, std::ratio<3600>>(
                std::numeric_limits<int64_t>::max())),
            absl::InfiniteDuration());
  EXPECT_EQ(Take(std::chrono::duration<uint64_t>(5)), absl::Seconds(5));
  EXPECT_EQ(Take(std::chrono::duration<uint64_t>(
                std::numeric_limits<uint64_t>::max())),
            absl::InfiniteDuration());
}

}  // namespace
}  // namespace rouse

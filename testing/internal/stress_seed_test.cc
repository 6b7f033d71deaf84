// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/internal/stress_seed.h"

#include <stdlib.h>  // setenv

#include "gtest/gtest.h"

namespace rouse {
namespace {

TEST(StressSeed, IsReadFromTheEnvironment) {
  ASSERT_EQ(setenv("ROUSE_STRESS_SEED", "18446744073709551615", 1), 0);
  EXPECT_EQ(StressSeed(), 18446744073709551615u);
}

TEST(StressSeed, HasADefault) {
  ASSERT_EQ(unsetenv("ROUSE_STRESS_SEED"), 0);
  EXPECT_EQ(StressSeed(), 1u);
  EXPECT_EQ(StressSeed(5), 5u);
}

TEST(StressSeed, RefusesInvalidNumbers) {
  for (const char* value : {"", "x", "-1", "18446744073709551616"}) {
    ASSERT_EQ(setenv("ROUSE_STRESS_SEED", value, 1), 0);
    EXPECT_EQ(StressSeed(5), 5u) << value;
  }
}

TEST(StressSeed, IsPrinted) {
  ASSERT_EQ(setenv("ROUSE_STRESS_SEED", "7", 1), 0);
  testing::internal::CaptureStdout();
  EXPECT_EQ(StressSeed(), 7u);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "[   SEED   ] ROUSE_STRESS_SEED=7\n");
}

}  // namespace
}  // namespace rouse

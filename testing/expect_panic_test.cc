// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/expect_panic.h"

#include <stdexcept>

#include "absl/base/config.h"
#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"
#include "rouse/base/panic.h"

namespace rouse {
namespace {

TEST(ExpectPanicTest, AcceptsAPartOfTheMessage) {
  EXPECT_PANIC(Panic("Sleep was polled (twice)"), "polled (twice)");
}

TEST(ExpectPanicTest, TakesSeveralStatements) {
  EXPECT_PANIC(const char* const text = "moved"; Panic(text), "moved");
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(ExpectPanicTest, FailsWithoutAPanic) {
  EXPECT_NONFATAL_FAILURE(EXPECT_PANIC(static_cast<void>(0), "x"),
                          "PanicError");
}

TEST(ExpectPanicTest, FailsForAnotherMessage) {
  EXPECT_NONFATAL_FAILURE(EXPECT_PANIC(Panic("moved"), "polled"), "moved");
}

TEST(ExpectPanicTest, FailsForAnotherException) {
  EXPECT_NONFATAL_FAILURE(
      EXPECT_PANIC(throw std::runtime_error("moved"), "moved"), "PanicError");
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/first_exception.h"

#include <stdexcept>

#include "absl/base/config.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

TEST(FirstExceptionTest, RethrowDoesNothingWithoutAnException) {
  FirstException first;
  int calls = 0;
  first.Catch([&calls] { ++calls; });
  first.Rethrow();
  EXPECT_EQ(calls, 1);
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(FirstExceptionTest, RethrowsTheFirstExceptionOnce) {
  FirstException first;
  first.Catch([] { throw std::runtime_error("first"); });
  first.Catch([] { throw std::logic_error("second"); });
  EXPECT_THROW(first.Rethrow(), std::runtime_error);
  first.Rethrow();
}

#endif

}  // namespace
}  // namespace rouse

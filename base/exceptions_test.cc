// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/exceptions.h"

#include <stdexcept>

#include "absl/base/config.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

TEST(Exceptions, WithoutAThrowOnlyTheFirstBlockRuns) {
  int tried = 0;
  int caught = 0;
  ROUSE_TRY { ++tried; }
  ROUSE_CATCH_ALL { ++caught; }
  EXPECT_EQ(tried, 1);
  EXPECT_EQ(caught, 0);
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(Exceptions, CatchesEveryException) {
  int caught = 0;
  ROUSE_TRY { throw 5; }
  ROUSE_CATCH_ALL { ++caught; }
  EXPECT_EQ(caught, 1);
}

TEST(Exceptions, RethrowsTheCaughtException) {
  const auto rethrow = [] {
    ROUSE_TRY { throw std::out_of_range("far"); }
    ROUSE_CATCH_ALL { ROUSE_RETHROW; }
  };
  EXPECT_THROW(rethrow(), std::out_of_range);
}

#endif

}  // namespace
}  // namespace rouse

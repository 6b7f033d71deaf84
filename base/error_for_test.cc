// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/error_for.h"

#include <any>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"

namespace rouse::internal {
namespace {

template <class Result>
absl::StatusCode CodeOf() {
  const Result result = ErrorFor<Result>(absl::UnavailableError("no"));
  if constexpr (requires { result.status(); }) {
    return result.status().code();
  } else {
    return result.code();
  }
}

TEST(ErrorFor, MakesAnErrorForEveryValueType) {
  EXPECT_EQ(CodeOf<absl::StatusOr<int>>(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(CodeOf<absl::StatusOr<std::any>>(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(CodeOf<absl::StatusOr<absl::Status>>(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(CodeOf<absl::StatusOr<absl::StatusOr<absl::Status>>>(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(CodeOf<absl::Status>(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace rouse::internal

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: poll_matchers.h
// -----------------------------------------------------------------------------
//
// GoogleMock matchers for a `PollResult`.
//
//   EXPECT_THAT(task.Poll(), IsPending());
//   EXPECT_THAT(task.Poll(), IsReady());
//   EXPECT_THAT(task.Poll(), IsReadyAndHolds(7));
//   EXPECT_THAT(task.Poll(), IsReadyAndHolds(absl_testing::IsOk()));

#ifndef ROUSE_TESTING_POLL_MATCHERS_H_
#define ROUSE_TESTING_POLL_MATCHERS_H_

#include "rouse/base/cxx20.h"

#include <string>
#include <type_traits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rouse {

namespace internal {

// Describes a `PollResult` as the explanation of a failed match does.
template <class Result>
std::string DescribePollResult(const Result& result) {
  if (result.IsPending()) return "which is pending";
  if constexpr (std::is_void_v<typename Result::value_type>) {
    return "which is ready";
  } else {
    return "which is ready with the value " +
           ::testing::PrintToString(result.value());
  }
}

// The type by which a matcher of a `Result`'s value gets the value.
template <class Result>
using MatchedValue =
    const std::remove_reference_t<typename std::decay_t<Result>::value_type>&;

}  // namespace internal

// IsPending()
//
// Matches a `PollResult` that is pending.
MATCHER(IsPending, negation ? "is ready" : "is pending") {
  *result_listener << internal::DescribePollResult(arg);
  return arg.IsPending();
}

// IsReady()
//
// Matches a `PollResult` that is ready, whatever its value.
MATCHER(IsReady, negation ? "is pending" : "is ready") {
  *result_listener << internal::DescribePollResult(arg);
  return arg.IsReady();
}

// IsReadyAndHolds()
//
// Matches a `PollResult` that is ready, and whose value is equal to `value` or
// matches the matcher `value`. Not for a `PollResult<void>`, which `IsReady()`
// matches.
MATCHER_P(IsReadyAndHolds, value,
          (negation ? "is pending, or is ready with a value that "
                    : "is ready with a value that ") +
              ::testing::DescribeMatcher<internal::MatchedValue<arg_type>>(
                  value, negation)) {
  *result_listener << internal::DescribePollResult(arg);
  if (arg.IsPending()) return false;
  ::testing::StringMatchResultListener explanation;
  const bool matches =
      ::testing::ExplainMatchResult(value, arg.value(), &explanation);
  if (!explanation.str().empty()) *result_listener << ", " << explanation.str();
  return matches;
}

}  // namespace rouse

#endif  // ROUSE_TESTING_POLL_MATCHERS_H_

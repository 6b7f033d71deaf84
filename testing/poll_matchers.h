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

#include "gmock/gmock.h"

namespace rouse {

// IsPending()
//
// Matches a `PollResult` that is pending.
MATCHER(IsPending, negation ? "is ready" : "is pending") {
  *result_listener << (arg.IsPending() ? "which is pending" : "which is ready");
  return arg.IsPending();
}

// IsReady()
//
// Matches a `PollResult` that is ready, whatever its value.
MATCHER(IsReady, negation ? "is pending" : "is ready") {
  *result_listener << (arg.IsReady() ? "which is ready" : "which is pending");
  return arg.IsReady();
}

// IsReadyAndHolds()
//
// Matches a `PollResult` that is ready, and whose value is equal to `value` or
// matches the matcher `value`. Not for a `PollResult<void>`, which `IsReady()`
// matches.
MATCHER_P(IsReadyAndHolds, value,
          negation ? "is pending or holds another value"
                   : "is ready and holds a value that matches") {
  if (arg.IsPending()) {
    *result_listener << "which is pending";
    return false;
  }
  *result_listener << "which is ready with a value ";
  return ::testing::ExplainMatchResult(value, arg.value(), result_listener);
}

}  // namespace rouse

#endif  // ROUSE_TESTING_POLL_MATCHERS_H_

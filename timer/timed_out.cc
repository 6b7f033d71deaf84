// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/timed_out.h"

#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/cord.h"

namespace rouse {
namespace {

constexpr std::string_view kPayload = "rouse.TimedOut";

}  // namespace

bool TimedOut(const absl::Status& status) {
  return status.code() == absl::StatusCode::kDeadlineExceeded &&
         status.GetPayload(kPayload).has_value();
}

namespace internal {

absl::Status MakeTimedOut() {
  absl::Status status =
      absl::DeadlineExceededError("Timeout: the deadline has passed");
  status.SetPayload(kPayload, absl::Cord());
  return status;
}

void ForgetTimedOut(absl::Status& status) { status.ErasePayload(kPayload); }

}  // namespace internal
}  // namespace rouse

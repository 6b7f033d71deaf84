// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/async_io.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/base/panic.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/ready_guard.h"
#include "rouse/reactor/registration.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::reactor::internal {

std::optional<absl::StatusOr<size_t>> TryIo(const Registration& registration,
                                            Interest interest,
                                            std::string_view call,
                                            IoAttempt attempt) {
  std::optional<absl::StatusOr<ReadyGuard>> guard =
      TryReady(registration, interest);
  if (!guard.has_value()) return std::nullopt;
  if (!guard->ok()) return (*std::move(guard)).status();
  return (*guard)->TryIo(call, attempt);
}

PollResult<absl::StatusOr<size_t>> AsyncIoBase::PollCall(Context& cx,
                                                         IoAttempt attempt) {
  if (finished_) {
    Panic("AsyncIo() was polled after it completed; call AsyncIo() again");
  }
  for (;;) {
    PollResult<absl::StatusOr<ReadyGuard>> guard = ready_.PollGuard(cx);
    if (guard.IsPending()) return kPending;
    if (!guard->ok()) {
      finished_ = true;
      return absl::StatusOr<size_t>((*std::move(guard)).status());
    }
    std::optional<absl::StatusOr<size_t>> result =
        (*guard)->TryIo(call_, attempt);
    if (!result.has_value()) continue;
    finished_ = true;
    return *std::move(result);
  }
}

}  // namespace rouse::reactor::internal

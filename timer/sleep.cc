// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/sleep.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/base/panic.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/timer/wheel/registration.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

static_assert(
    sizeof(Sleep) <= 56,
    "a Sleep must stay small, because a program can have a million of them");

absl::Status SleepResult::status() const {
  if (ok_) return absl::OkStatus();
  return absl::UnavailableError("Sleep: the timer driver has been shut down");
}

PollResult<SleepResult> Sleep::Poll(Context& cx) {
  if (has_ended()) {
    Panic(
        "Sleep was polled after it completed; call Reset(), or create a new "
        "Sleep for each wait");
  }
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;

  const State state = Wait(cx.waker());
  if (state == State::kWaiting) return kPending;
  unit->MadeProgress();
  set_ended(true);
  return SleepResult(state == State::kElapsed);
}

void Sleep::ResetAt(Instant deadline) {
  Registration::Reset(deadline);
  set_ended(false);
}

void Sleep::Reset(AnyDuration duration) {
  ResetAfter(absl::ToInt64Nanoseconds(duration));
  set_ended(false);
}

std::optional<Instant> Sleep::Deadline() const {
  if (is_relative()) return std::nullopt;
  return deadline();
}

Instant Now() { return wheel::Handle::Current().clock().Now(); }

}  // namespace rouse

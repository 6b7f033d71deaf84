// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/interval.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/base/panic.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/default_timer.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/next_tick.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::heap {
namespace {

bool IsPeriod(absl::Duration period) { return period >= absl::Nanoseconds(1); }

std::string NoPeriod(absl::Duration period) {
  return absl::StrCat("Interval: a period of ", absl::FormatDuration(period),
                      " is too short; choose at least 1ns");
}

}  // namespace

Interval::Interval(AnyDuration period) : Interval(DefaultTimer(), period) {}

Interval::Interval(const TimerHandle& handle, AnyDuration period)
    : Interval(handle, handle.clock().Now() + period,
               absl::ToInt64Nanoseconds(period)) {
  if (!IsPeriod(period)) Panic(NoPeriod(period));
}

absl::StatusOr<Interval> Interval::Create(AnyDuration period) {
  return Create(DefaultTimer(), period);
}

absl::StatusOr<Interval> Interval::Create(const TimerHandle& handle,
                                          AnyDuration period) {
  return CreateAt(handle, handle.clock().Now() + period, period);
}

absl::StatusOr<Interval> Interval::CreateAt(const TimerHandle& handle,
                                            Instant start, AnyDuration period) {
  if (!IsPeriod(period)) return absl::InvalidArgumentError(NoPeriod(period));
  return Interval(handle, start, absl::ToInt64Nanoseconds(period));
}

PollResult<std::optional<Instant>> Interval::PollNext(Context& cx) {
  if (!status_.ok()) return std::optional<Instant>();
  PollResult<absl::Status> up = delay_.Poll(cx);
  if (up.IsPending()) return kPending;
  if (!up->ok()) {
    status_ = *std::move(up);
    return std::optional<Instant>();
  }
  const Instant tick = delay_.Deadline();
  const Instant next = rouse::internal::NextTick(tick, handle_.clock().Now(),
                                                 period_nanoseconds_);
  // If the timer has been destroyed, the next poll reports it: this tick did
  // come.
  delay_.ResetAt(next).IgnoreError();
  return std::optional<Instant>(tick);
}

}  // namespace rouse::heap

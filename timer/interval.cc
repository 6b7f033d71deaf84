// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/interval.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/base/panic.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/next_tick.h"
#include "rouse/timer/wheel/core.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/timer/wheel/registration.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

// Number of ticks of the driver by which a tick may at most be late and still
// be in time, for kDelay.
constexpr int kTolerance = 5;

bool IsPeriod(absl::Duration period) { return period >= absl::Nanoseconds(1); }

std::string NoPeriod(absl::Duration period) {
  return absl::StrCat("Interval: a period of ", absl::FormatDuration(period),
                      " is too short; choose at least 1ns");
}

}  // namespace

absl::StatusOr<Interval> Interval::Create(AnyDuration period,
                                          const IntervalOptions& options) {
  if (!IsPeriod(period)) return absl::InvalidArgumentError(NoPeriod(period));
  return Interval(period, options);
}

Interval::Registration Interval::First(const IntervalOptions& options) {
  if (!options.handle.has_value()) {
    return options.start.has_value() ? Registration(*options.start)
                                     : Registration(0);
  }
  wheel::internal::Core& core = options.handle->core();
  return options.start.has_value() ? Registration(core, *options.start)
                                   : Registration(core, 0);
}

Interval::Interval(AnyDuration period, const IntervalOptions& options)
    : Registration(First(options)),
      missed_ticks_(options.missed_ticks),
      period_(absl::ToInt64Nanoseconds(period)) {
  if (!IsPeriod(period)) Panic(NoPeriod(period));
}

PollResult<absl::StatusOr<Instant>> Interval::PollTick(Context& cx) {
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;

  const State state = Wait(cx.waker());
  if (state == State::kWaiting) return kPending;
  unit->MadeProgress();
  if (state == State::kShutDown) {
    return absl::StatusOr<Instant>(absl::UnavailableError(
        "Interval: the timer driver has been shut down"));
  }
  const Instant tick = deadline();
  Registration::Reset(After(tick));  // idle until the next poll
  return absl::StatusOr<Instant>(tick);
}

PollResult<std::optional<Instant>> Interval::PollNext(Context& cx) {
  PollResult<absl::StatusOr<Instant>> tick = PollTick(cx);
  if (tick.IsPending()) return kPending;
  if (!tick->ok()) return std::nullopt;
  return **tick;
}

// Returns the tick after `tick`, which is being taken.
Instant Interval::After(Instant tick) const {
  const Instant planned = tick.PlusNanoseconds(period_);
  if (missed_ticks_ == MissedTicks::kBurst) return planned;
  const Instant now = core().clock().Now();
  if (missed_ticks_ == MissedTicks::kDelay) {
    // The tolerance is less than the period; otherwise the next tick would
    // already be late.
    const absl::Duration tolerance =
        std::min(kTolerance * absl::Nanoseconds(core().ticks().resolution()),
                 period() / 2);
    if (now - tick <= tolerance) return planned;
    return now.PlusNanoseconds(period_);
  }
  return internal::NextTick(tick, now, period_);
}

void Interval::Reset(AnyDuration delay) {
  // A negative delay would mean a missed tick, and missed ticks before that,
  // too.
  const absl::Duration wait =
      std::max<absl::Duration>(delay, absl::ZeroDuration());
  if (has_begun()) return ResetAt(core().clock().Now() + wait);
  Registration::ResetAfter(absl::ToInt64Nanoseconds(wait));
}

void Interval::ResetAt(Instant next) {
  // If the driver has shut down, the state stays as it is, and reports the
  // shutdown.
  if (state() == State::kShutDown) return SetDeadline(next);
  Registration::Reset(next);
}

std::optional<Instant> Interval::Deadline() const {
  if (is_relative()) return std::nullopt;
  return deadline();
}

}  // namespace rouse

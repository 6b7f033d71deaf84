#include "rouse/timer/interval.h"

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/core.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/timer/wheel/registration.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

// How many ticks of the driver late is still in time, for kDelay.
constexpr int kTolerance = 5;

}  // namespace

absl::StatusOr<Interval> Interval::Create(absl::Duration period,
                                          IntervalOptions options) {
  const int64_t nanoseconds = absl::ToInt64Nanoseconds(period);
  if (nanoseconds <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("Interval: a period of ", absl::FormatDuration(period),
                     "; choose one of a nanosecond or more"));
  }
  if (options.handle.has_value()) {
    return Interval(nanoseconds, options, options.handle->core());
  }
  return Interval(nanoseconds, options);
}

Interval::Interval(int64_t period, const IntervalOptions& options)
    : missed_ticks_(options.missed_ticks),
      is_relative_(!options.start.has_value()),
      next_(options.start.value_or(Instant())),
      period_(period) {}

Interval::Interval(int64_t period, const IntervalOptions& options,
                   wheel::internal::Core& core)
    : Registration(core),
      missed_ticks_(options.missed_ticks),
      is_relative_(!options.start.has_value()),
      next_(options.start.value_or(Instant())),
      period_(period) {}

PollResult<absl::StatusOr<Instant>> Interval::PollTick(Context& cx) {
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;

  State state = Wait(cx.waker());
  if (state == State::kIdle) {
    if (is_relative_) {
      Instant next;
      state = ArmAfter(next_.nanoseconds(), cx.waker(), next);
      next_ = next;
      is_relative_ = false;
    } else {
      state = Arm(next_, cx.waker());
    }
    has_begun_ = true;
  }
  if (state == State::kWaiting) return kPending;
  unit->MadeProgress();
  if (state == State::kShutDown) {
    return absl::StatusOr<Instant>(
        absl::UnavailableError("Interval: the timer driver has shut down"));
  }
  const Instant tick = next_;
  next_ = After(tick);
  Registration::Reset(next_);  // it is idle until the next poll
  return absl::StatusOr<Instant>(tick);
}

PollResult<std::optional<Instant>> Interval::PollNext(Context& cx) {
  PollResult<absl::StatusOr<Instant>> tick = PollTick(cx);
  if (tick.IsPending()) return kPending;
  if (!tick->ok()) return std::nullopt;
  return **tick;
}

// The tick after `tick`, which is being taken.
Instant Interval::After(Instant tick) const {
  const Instant planned = tick.PlusNanoseconds(period_);
  if (missed_ticks_ == MissedTicks::kBurst) return planned;
  const Instant now = clock()->Now();
  if (missed_ticks_ == MissedTicks::kDelay) {
    if (now - tick <= kTolerance * core()->resolution()) return planned;
    return now.PlusNanoseconds(period_);
  }
  if (now < planned) return planned;
  // `now` is not before `tick`, so 64 bits without a sign hold the distance.
  const uint64_t late = static_cast<uint64_t>(now.nanoseconds()) -
                        static_cast<uint64_t>(tick.nanoseconds());
  const auto period = static_cast<uint64_t>(period_);
  return now.PlusNanoseconds(static_cast<int64_t>(period - late % period));
}

void Interval::ResetAfter(absl::Duration delay) {
  if (has_begun_) return ResetAt(clock()->Now() + delay);
  next_ = Instant() + delay;
  is_relative_ = true;
}

void Interval::ResetAt(Instant next) {
  // One whose driver has gone stays as it is, and says so.
  if (state() != State::kShutDown) Registration::Reset(next);
  next_ = next;
  is_relative_ = false;
}

std::optional<Instant> Interval::NextTick() const {
  if (is_relative_) return std::nullopt;
  return next_;
}

}  // namespace rouse

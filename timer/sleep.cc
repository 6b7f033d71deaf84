#include "rouse/timer/sleep.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/base/panic.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/timer/wheel/registration.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

static_assert(sizeof(Sleep) <= 64, "a million of them are meant to sleep");

absl::Status SleepResult::status() const {
  if (ok_) return absl::OkStatus();
  return absl::UnavailableError("Sleep: the timer driver has shut down");
}

PollResult<SleepResult> Sleep::Poll(Context& cx) {
  if (has_ended_) {
    Panic("Sleep: polled after it has ended; reset it, or make another");
  }
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;

  State state = Wait(cx.waker());
  if (state == State::kIdle) {
    if (is_relative_) {
      Instant deadline;
      state = ArmAfter(time_.nanoseconds(), cx.waker(), deadline);
      time_ = deadline;
      is_relative_ = false;
    } else {
      state = Arm(time_, cx.waker());
    }
    has_begun_ = true;
  }
  if (state == State::kWaiting) return kPending;
  unit->MadeProgress();
  has_ended_ = true;
  return SleepResult(state == State::kElapsed);
}

void Sleep::Reset(Instant deadline) {
  Registration::Reset(deadline);
  time_ = deadline;
  is_relative_ = false;
  has_ended_ = false;
}

void Sleep::Reset(absl::Duration duration) {
  if (has_begun_) return Reset(clock()->Now() + duration);
  time_ = Instant() + duration;
  is_relative_ = true;
}

std::optional<Instant> Sleep::Deadline() const {
  if (is_relative_) return std::nullopt;
  return time_;
}

Instant Now() { return wheel::Handle::Current().clock().Now(); }

}  // namespace rouse

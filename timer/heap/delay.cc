// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/delay.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/base/panic.h"
#include "rouse/timer/heap/default_timer.h"
#include "rouse/timer/heap/ref_counted.h"
#include "rouse/timer/heap/scheduled_timer.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::heap {

Delay::Delay(AnyDuration duration) : Delay(DefaultTimer(), duration) {}

Delay::Delay(Instant deadline) : Delay(DefaultTimer(), deadline) {}

Delay::Delay(const TimerHandle& handle, Instant deadline)
    : core_(handle.core_), node_(MakeRef<ScheduledTimer>(deadline)) {
  // If there is no timer, the poll reports it.
  static_cast<void>(core_->Push(node_));
}

Delay& Delay::operator=(Delay other) noexcept {
  std::swap(core_, other.core_);
  std::swap(node_, other.node_);
  std::swap(has_ended_, other.has_ended_);
  return *this;
}

Delay::~Delay() {
  if (node_ && node_->Cancel()) core_->PushCancelled(node_);
}

PollResult<absl::Status> Delay::Poll(Context& cx) {
  if (has_ended_) {
    Panic(
        "Delay was polled after it completed; call Reset(), or create a new "
        "Delay for each wait");
  }
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  const ScheduledTimer::State state = node_->Poll(cx.waker());
  if (state == ScheduledTimer::State::kWaiting) return kPending;
  unit->MadeProgress();
  has_ended_ = true;
  if (state == ScheduledTimer::State::kInvalid) return core_->gone();
  return absl::OkStatus();
}

absl::Status Delay::ResetAt(Instant deadline) {
  has_ended_ = false;
  if (!node_->Reset(deadline) || !core_->Push(node_)) return core_->gone();
  return absl::OkStatus();
}

absl::Status Delay::Reset(AnyDuration duration) {
  return ResetAt(core_->clock()->Now() + duration);
}

}  // namespace rouse::heap

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/ready_guard.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/base/panic.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::reactor {
namespace {

bool Names(Interest interest, Direction direction) {
  return direction == Direction::kWrite
             ? interest.IsWritable()
             : interest.IsReadable() || interest.IsPriority();
}

}  // namespace

Ready ReadyGuard::ready() const {
  Ready ready;
  for (const std::optional<ReadyEvent>& event : events_) {
    if (event.has_value()) ready |= event->ready();
  }
  return ready;
}

void ReadyGuard::ClearReady() const {
  ClearReady(Direction::kRead);
  ClearReady(Direction::kWrite);
}

void ReadyGuard::ClearReady(Direction direction) const {
  const std::optional<ReadyEvent>& event =
      events_[static_cast<size_t>(direction)];
  if (event.has_value()) registration_->WouldBlock(*event);
}

std::optional<absl::StatusOr<ReadyGuard>> TryReady(
    const Registration& registration, Interest interest) {
  using Result = absl::StatusOr<ReadyGuard>;
  ReadyGuard guard(registration);
  bool is_ready = false;
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    if (!Names(interest, direction)) continue;
    std::optional<absl::StatusOr<ReadyEvent>> event =
        registration.TryReady(direction);
    if (!event.has_value()) continue;
    if (!event->ok()) return Result((*std::move(event)).status());
    guard.events_[static_cast<size_t>(direction)] = **event;
    is_ready = true;
  }
  if (!is_ready) return std::nullopt;
  return Result(guard);
}

PollResult<absl::StatusOr<ReadyGuard>> ReadyFuture::Poll(Context& cx) {
  if (registration_ == nullptr) {
    Panic(
        "ReadyFuture was polled after it completed; call Readable(), "
        "Writable() or Ready() again");
  }
  PollResult<absl::StatusOr<ReadyGuard>> guard = PollGuard(cx);
  if (guard.IsReady()) registration_ = nullptr;
  return guard;
}

PollResult<absl::StatusOr<ReadyGuard>> ReadyFuture::PollGuard(Context& cx) {
  using Result = absl::StatusOr<ReadyGuard>;
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  ReadyGuard guard(*registration_);
  bool is_ready = false;
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    if (!Names(interest_, direction)) continue;
    const auto index = static_cast<size_t>(direction);
    PollResult<absl::StatusOr<ReadyEvent>> event =
        registration_->PollReady(direction, cx, &waiters_[index]);
    if (event.IsPending()) continue;
    is_ready = true;
    if (!event->ok()) {
      unit->MadeProgress();
      return Result((*std::move(event)).status());
    }
    guard.events_[index] = **event;
  }
  if (!is_ready) return kPending;
  unit->MadeProgress();
  return Result(guard);
}

}  // namespace rouse::reactor

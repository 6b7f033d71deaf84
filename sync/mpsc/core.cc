// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/mpsc/core.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/base/mutable_step.h"
#include "rouse/base/panic.h"
#include "rouse/sync/internal/pending_wait.h"
#include "rouse/sync/semaphore/core.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::mpsc::internal {

absl::Status ClosedError(const char* call) {
  return absl::CancelledError(
      absl::StrCat(call,
                   ": the channel is closed; the other end was destroyed, or "
                   "the receiver was closed"));
}

void ReceiverWaker::Forget() {
  Waker waker;  // destroyed without the lock
  const BriefLockHolder lock(mu_);
  std::swap(waker_, waker);
}

void ReceiverWaker::Wake() {
  Waker waker;
  {
    const BriefLockHolder lock(mu_);
    std::swap(waker_, waker);
  }
  std::move(waker).Wake();
}

void ReceiverWaker::Register(const Waker& waker, bool is_new) {
  if (!is_new) {
    const BriefLockHolder lock(mu_);
    if (waker_.WillWake(waker)) return;
  }
  Waker clone = waker.Clone();
  // The replaced waker is destroyed without the lock.
  const BriefLockHolder lock(mu_);
  std::swap(waker_, clone);
}

Bounded::Bounded(size_t capacity) : permits_(capacity), capacity_(capacity) {
  if (capacity == 0) {
    Panic("mpsc::Channel: the capacity is 0; choose at least 1");
  }
}

absl::Status Bounded::WhyNot(const char* call) const {
  if (permits_.IsClosed()) return ClosedError(call);
  return absl::ResourceExhaustedError(absl::StrCat(
      call, ": the channel is full; receive messages, or wait for a permit"));
}

absl::Status Bounded::CheckCount(size_t n, const char* call) const {
  if (n <= capacity_) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(call, ": ", n, " permits exceed the channel's capacity of ",
                   capacity_, "; request fewer permits at once"));
}

PollResult<bool> PlaceRequest::PollSlowly(Context& cx, const char* call) {
  if (!acquire_.has_value() || acquire_->IsDone()) {
    rouse::internal::PanicPolledAfterEnd(call);
  }
  // Set before the poll, which may be given places and then throw.
  was_pending_ = true;
  PollResult<bool> result = acquire_->Poll(cx, call);
  was_pending_ = result.IsPending();
  return result;
}

void PlaceRequest::Cancel() {
  acquire_.reset();
  if (std::exchange(was_pending_, false)) {
    ROUSE_MUTABLE_CALL(channel_->WakeIfDrained());
  }
}

}  // namespace rouse::mpsc::internal

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/broadcast/broadcast.h"

#include "rouse/base/panic.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::broadcast {

ClosedFuture::ClosedFuture(ClosedFuture&& other)
    : core_(other.core_), node_(other.node_.next_moment) {
  if (other.waits_) {
    Panic(
        "broadcast::Sender::Closed was moved after it was polled; move the "
        "future before its first poll, or call Closed() again");
  }
  other.core_ = nullptr;
}

ClosedFuture::~ClosedFuture() {
  if (waits_) core_->StopWaiting(node_);
}

PollResult<void> ClosedFuture::Poll(Context& cx) {
  if (core_ == nullptr) {
    Panic(
        "broadcast::Sender::Closed was polled after it completed; call "
        "Closed() again");
  }
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  waits_ = !core_->PollClosed(node_, cx.waker());
  if (waits_) return kPending;
  unit->MadeProgress();
  core_ = nullptr;
  return {};
}

}  // namespace rouse::broadcast

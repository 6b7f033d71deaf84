// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/barrier/barrier.h"

#include <cstdint>

#include "rouse/base/lock/brief_lock.h"
#include "rouse/sync/internal/pending_wait.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

bool Barrier::LacksOne() {
  const BriefLockHolder lock(mu_);
  return arrived_ + 1 == size_;
}

bool Barrier::Arrive(internal::WaitNode& node, Waker& waker, uint64_t& round) {
  mu_.Lock();
  if (++arrived_ < size_) {
    round = round_;
    waiters_.PushBack(&node);
    node.Register(waker);
    mu_.Unlock();
    return false;
  }
  arrived_ = 0;
  // The new round number shows the waiters that they may continue.
  ++round_;
  internal::WakeAll(mu_, waiters_, [](internal::WaitNode*) {});
  return true;
}

bool Barrier::CheckAgain(internal::WaitNode& node, Waker& waker,
                         uint64_t round) {
  Waker left;  // destroyed without the lock
  const BriefLockHolder lock(mu_);
  if (round_ == round) {
    node.Register(waker);
    return false;
  }
  node.Leave(left);
  return true;
}

void Barrier::Leave(internal::WaitNode& node, uint64_t round) {
  Waker waker;
  const BriefLockHolder lock(mu_);
  if (round_ == round) --arrived_;
  node.Leave(waker);
}

PollResult<BarrierWaitResult> Barrier::WaitFuture::Poll(Context& cx) {
  if (stage_ == Stage::kFinished) {
    internal::PanicPolledAfterEnd("Barrier::Wait");
  }
  const bool is_new = stage_ == Stage::kNew;
  // A future that must wait arrives now, with or without budget.
  if (!cx.HasBudget() && (!is_new || barrier_.LacksOne())) {
    return YieldForBudget(cx);
  }
  Waker waker = node_.CloneIfNew(cx.waker());
  // Even if a waker throws, the future has arrived.
  stage_ = Stage::kFinished;
  if (is_new ? !barrier_.Arrive(node_, waker, round_)
             : !barrier_.CheckAgain(node_, waker, round_)) {
    stage_ = Stage::kWaits;
    return kPending;
  }
  TakeUnitIfAny(cx);
  return BarrierWaitResult(/*is_leader=*/is_new);
}

}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/once/set_once.h"

#include <atomic>
#include <cstdint>

#include "rouse/base/lock/brief_lock.h"
#include "rouse/base/mutable_step.h"
#include "rouse/base/panic.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

bool SetOnceCore::Begin() {
  uint8_t state = kEmpty;
  // Acquire pairs with the release of Abandon: the storage is free. Relaxed on
  // failure: the caller touches nothing.
  return state_.compare_exchange_strong(
      state, kSetting, std::memory_order_acquire, std::memory_order_relaxed);
}

void SetOnceCore::End() {
  mu_.Lock();
  // Stored under the lock, which every waiter takes to see the value: when a
  // waiter sees it, nothing here is used any more. Release pairs with the
  // acquire of IsSet.
  state_.store(kSet, std::memory_order_release);
  WakeAll(mu_, waiters_, [](WaitNode*) {});
}

void SetOnceCore::Abandon() {
  // Release pairs with the acquire of Begin.
  state_.store(kEmpty, std::memory_order_release);
}

bool SetOnceCore::Join(WaitNode& node, Waker& waker) {
  const BriefLockHolder lock(mu_);
  // Relaxed: kSet is written under the lock.
  if (MutableCondition(state_.load(std::memory_order_relaxed) == kSet)) {
    return true;
  }
  if (!node.IsLinked()) waiters_.PushBack(&node);
  node.Register(waker);
  return false;
}

void SetOnceCore::StopWaiting(WaitNode& node) {
  Waker waker;
  const BriefLockHolder lock(mu_);
  node.Leave(waker);
}

void SetOnceCore::Wait::PanicMoved() {
  Panic(
      "SetOnce::Wait: moved after it was polled; move it before, or leave it "
      "where it is");
}

bool SetOnceCore::Wait::Poll(Context& cx) {
  if (core_ == nullptr) {
    Panic("SetOnce::Wait: polled after it has finished; call Wait() again");
  }
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return false;
  // If the value exists, no waker is needed, but the lock still is.
  Waker waker;
  if (!core_->IsSet()) waker = node_.CloneIfNew(cx.waker());
  if (!core_->Join(node_, waker)) {
    waits_ = true;
    return false;
  }
  unit->MadeProgress();
  if (waits_) core_->StopWaiting(node_);
  waits_ = false;
  core_ = nullptr;
  return true;
}

}  // namespace rouse::internal

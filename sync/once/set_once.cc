// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/once/set_once.h"

#include <atomic>
#include <cstdint>

#include "rouse/base/lock/brief_lock.h"
#include "rouse/base/mutable_step.h"
#include "rouse/sync/internal/wait_node.h"
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

bool SetOnceCore::Wait(WaitNode& node, const Waker& waker) {
  // If the value exists, no waker is needed, but the lock still is.
  Waker clone;  // destroyed without the lock
  if (!IsSet()) clone = node.CloneIfNew(waker);
  const BriefLockHolder lock(mu_);
  // Relaxed: kSet is written under the lock.
  if (MutableCondition(state_.load(std::memory_order_relaxed) == kSet)) {
    return false;
  }
  if (!node.IsLinked()) waiters_.PushBack(&node);
  node.Register(clone);
  return true;
}

}  // namespace rouse::internal

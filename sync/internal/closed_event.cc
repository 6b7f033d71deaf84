// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/internal/closed_event.h"

#include <atomic>

#include "rouse/base/lock/brief_lock.h"
#include "rouse/base/mutable_step.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

void ClosedEvent::Set() {
  mu_.Lock();
  // Release pairs with the acquires of threads that check without the lock.
  is_set_.store(true, std::memory_order_release);
  WakeAll(mu_, waiters_, [](WaitNode*) {});
}

bool ClosedEvent::Wait(WaitNode& node, const Waker& waker) {
  Waker clone = node.CloneIfNew(waker);  // destroyed without the lock
  const BriefLockHolder lock(mu_);
  if (MutableCondition(IsSet())) return false;
  if (!node.IsLinked()) waiters_.PushBack(&node);
  node.Register(clone);
  return true;
}

}  // namespace rouse::internal

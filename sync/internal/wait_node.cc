// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/internal/wait_node.h"

#include "rouse/base/lock/brief_lock.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

void WaitNode::LeaveWith(BriefLock& mu) {
  Waker waker;  // destroyed without the lock
  const BriefLockHolder lock(mu);
  Leave(waker);
}

}  // namespace rouse::internal

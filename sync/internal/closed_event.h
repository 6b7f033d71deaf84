// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: closed_event.h
// -----------------------------------------------------------------------------
//
// `ClosedEvent` tells the senders of a channel that no message is wanted any
// more. Internal to `sync/`.

#ifndef ROUSE_SYNC_INTERNAL_CLOSED_EVENT_H_
#define ROUSE_SYNC_INTERNAL_CLOSED_EVENT_H_

#include <atomic>

#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

// ClosedEvent
//
// An event that happens once. Thread-safe.
class ClosedEvent {
 public:
  // Returns whether the event has happened. A thread that sees the event also
  // sees everything that happened before `Set()`.
  bool IsSet() const {
    // Acquire pairs with the release of Set.
    return is_set_.load(std::memory_order_acquire);
  }

  // Notifies all waiters. The event must outlive the call.
  void Set();

  // Returns false if the event has happened. Otherwise `waker` will be woken
  // when the event happens.
  bool Wait(WaitNode& node, const Waker& waker);
  void StopWaiting(WaitNode& node) { node.LeaveWith(mu_); }

 private:
  IntrusiveList<WaitNode> waiters_ ABSL_GUARDED_BY(mu_);
  Atomic<bool> is_set_{false};
  BriefLock mu_;
};

}  // namespace rouse::internal

#endif  // ROUSE_SYNC_INTERNAL_CLOSED_EVENT_H_

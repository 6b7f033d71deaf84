// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/cancellation/cancellation_token.h"

#include <atomic>

#include "rouse/base/first_exception.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/base/mutable_step.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace internal {

CancellationNode* CancellationNode::NewChild(CancellationNode& parent) {
  auto* const child = new CancellationNode(parent.tree_);
  const ThreadMutexLock lock(&parent.tree_.mu);
  // Relaxed, both: the parent's flag is written under the lock, and nobody else
  // has the child.
  if (MutableCondition(parent.cancelled_.load(std::memory_order_relaxed))) {
    child->cancelled_.store(true, std::memory_order_relaxed);
  } else {
    child->parent_ = &parent;
    parent.children_.PushBack(child);
  }
  return child;
}

void CancellationNode::Delete() {
  {
    const ThreadMutexLock lock(&tree_.mu);
    while (CancellationNode* const child = children_.PopFront()) {
      child->parent_ = parent_;
      if (parent_ != nullptr) parent_->children_.PushBack(child);
    }
    LeaveParent();
  }
  delete this;
}

void CancellationNode::Cancel() {
  // The nodes that have waiters.
  IntrusiveList<CancellationNode, ListOfNotified> told;
  {
    const ThreadMutexLock lock(&tree_.mu);
    // Relaxed: `cancelled_` is written under the lock.
    if (cancelled_.load(std::memory_order_relaxed)) return;
    LeaveParent();
    IntrusiveList<CancellationNode, ListOfChildren> below;
    below.PushBack(this);
    while (CancellationNode* const node = below.PopFront()) {
      node->parent_ = nullptr;
      below.Append(node->children_);
      if (node->Mark()) told.PushBack(node);
    }
  }
  FirstException first;
  while (CancellationNode* const node = told.PopFront()) {
    first.Catch([node] { node->WakeAll(); });
    node->Unref();
  }
  first.Rethrow();
}

bool CancellationNode::Mark() {
  const BriefLockHolder lock(mu_);
  // Release pairs with the acquire of IsCancelled.
  cancelled_.store(true, std::memory_order_release);
  if (waiters_.IsEmpty()) return false;
  // A waiter in the list keeps a reference to the node.
  ROUSE_MUTABLE_CALL(Ref());
  return true;
}

void CancellationNode::WakeAll() {
  mu_.Lock();
  // The waiters learn from `cancelled_` that they are notified.
  internal::WakeAll(mu_, waiters_, [](WaitNode*) {});
}

bool CancellationNode::Wait(WaitNode& waiter, const Waker& waker) {
  if (IsCancelled()) return false;
  Waker clone = waiter.CloneIfNew(waker);  // destroyed without the lock
  const BriefLockHolder lock(mu_);
  // Relaxed: `cancelled_` is written under the lock.
  if (cancelled_.load(std::memory_order_relaxed)) return false;
  if (!waiter.IsLinked()) waiters_.PushBack(&waiter);
  waiter.Register(clone);
  return true;
}

}  // namespace internal

void CancellationToken::PanicMovedFrom() {
  Panic(
      "CancellationToken was used after it was moved from; use the object that "
      "it was moved to, or a copy made before the move");
}

}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/arc_list.h"

#include <atomic>

#include "absl/base/attributes.h"
#include "absl/base/macros.h"
#include "rouse/base/mutable_step.h"

namespace rouse::heap {

// A node's `enqueued_` is a lock on its link: on `next_`, and on the right to
// put the node in a list.
//
//   false           free.
//   true            held: in turn, by the thread that pushes the node, by the
//                   list, and by the batch into which it was taken.
//
//   false -> true                Claim: a push
//   true -> true                 Claim: a push that finds the node enqueued
//   true -> false                Unlink, or Link when the list is sealed
//
// Invariant: only the holder touches `next_`. A list holds one reference to
// each of its nodes; so does a batch.
//
// No push is lost. A push that finds the lock held does not wait for the lock,
// and leaves its changes for the thread that will free the lock to see. Every
// step is therefore a read-modify-write, which releases if it finds the lock
// held, and acquires if it frees the lock. Of a Claim and the freeing, the
// later sees the earlier, and a Claim that comes later gets the lock.
//
// A list's `head_` is its newest node, null, or permanently `sealed`. A head
// that has left the list and come back between the load and the linking does no
// harm (ABA): the link is to the head, and to nothing that was below it.
namespace {

class Sealed : public ArcListNode {};

// Only its address matters.
ABSL_CONST_INIT Sealed sealed;

}  // namespace

ArcListNode::~ArcListNode() {
  // Relaxed: the last reference has been dropped, and orders everything before.
  ABSL_ASSERT(!enqueued_.load(std::memory_order_relaxed));
}

namespace internal {

bool ArcListCore::Claim(ArcListNode* node) {
  // Acquire, needed if the node is free, pairs with the release of the freeing:
  // the previous holder has finished with `next_`. Release, needed if the node
  // is enqueued, pairs with the acquire of the future freeing.
  return !node->enqueued_.exchange(true, std::memory_order_acq_rel);
}

bool ArcListCore::Link(ArcListNode* node) {
  // Relaxed: the head is compared and not dereferenced.
  ArcListNode* head = head_.load(std::memory_order_relaxed);
  do {
    if (MutableCondition(head == &sealed)) {
      // Acquire pairs with the release of TakeAndSeal, which is the last to
      // change the head.
      static_cast<void>(head_.load(std::memory_order_acquire));
      // Acquire pairs with the release of every Claim that found the node
      // enqueued. Release pairs with the acquire of the next Claim that finds
      // the node free, which may write `next_`.
      node->enqueued_.exchange(false, std::memory_order_acq_rel);
      return false;
    }
    node->next_.Write() = head;
    // Release pairs with the acquire of the taker, which reads `next_` and the
    // node. Later operations on the head are read-modify-writes, too, and
    // therefore pass this release on with their own.
  } while (!head_.compare_exchange_weak(head, node, std::memory_order_release,
                                        std::memory_order_relaxed));
  return true;
}

ArcListNode* ArcListCore::TakeAll() {
  // Relaxed: the head is not used until it has been taken.
  ArcListNode* head = head_.load(std::memory_order_relaxed);
  do {
    // Not an exchange, which would open a sealed list for a moment.
    if (head == nullptr || head == &sealed) return nullptr;
    // Acquire pairs with the release of every Link since the last taking.
  } while (!head_.compare_exchange_weak(
      head, nullptr, std::memory_order_acquire, std::memory_order_relaxed));
  return head;
}

ArcListNode* ArcListCore::TakeAndSeal() {
  // Acquire as in TakeAll. Release pairs with the acquire of a Link that finds
  // the list sealed.
  ArcListNode* const head = head_.exchange(&sealed, std::memory_order_acq_rel);
  return head == &sealed ? nullptr : head;
}

ArcListNode* ArcListCore::Unlink(ArcListNode* node) {
  ArcListNode* const next = node->next_.Read();
  // Release pairs with the acquire of the next Claim that gets the node, whose
  // Link writes `next_`. Acquire pairs with the release of every Claim that
  // found the node enqueued: the caller must see what those threads did. A
  // store would order neither a Claim that came just before nor this thread
  // after that Claim.
  node->enqueued_.exchange(false, std::memory_order_acq_rel);
  return next;
}

}  // namespace internal
}  // namespace rouse::heap

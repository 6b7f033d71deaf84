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
//                   list, and by the batch that it was taken into.
//
//   false -> true                Claim: a push
//   true -> true                 Claim: a push that finds the node enqueued
//   true -> false                Unlink, or Link when the list is sealed
//
// Invariant: `next_` is touched by the holder alone. A list holds one reference
// to each of its nodes; so does a batch.
//
// No push is lost. One that finds the lock held does not wait for it, and
// leaves what it has done to the thread that will free it. Hence every step is
// a read-modify-write which releases, if it finds the lock held, or acquires,
// if it frees it: of a Claim and the freeing, whichever is later sees the
// other, and a Claim that comes later gets the lock.
//
// A list's `head_` is its newest node, null, or `sealed` for ever. A head that
// has gone and come back between the look at it and the linking does no harm
// (ABA): the link is to the head, and to nothing that was below it.
namespace {

class Sealed : public ArcListNode {};

// Its address is all that matters.
ABSL_CONST_INIT Sealed sealed;

}  // namespace

ArcListNode::~ArcListNode() {
  // Relaxed: the last reference has been dropped, and orders what came before.
  ABSL_ASSERT(!enqueued_.load(std::memory_order_relaxed));
}

namespace internal {

bool ArcListCore::Claim(ArcListNode* node) {
  // Acquire, needed if the node is free, pairs with the release of the freeing:
  // its holder is done with `next_`. Release, needed if the node is enqueued,
  // pairs with the acquire of the freeing to come.
  return !node->enqueued_.exchange(true, std::memory_order_acq_rel);
}

bool ArcListCore::Link(ArcListNode* node) {
  // Relaxed: the head is compared and not followed.
  ArcListNode* head = head_.load(std::memory_order_relaxed);
  do {
    if (MutableCondition(head == &sealed)) {
      // Acquire pairs with the release of TakeAndSeal, which has the last word
      // on the head.
      static_cast<void>(head_.load(std::memory_order_acquire));
      // Acquire pairs with the release of every Claim that found the node
      // enqueued; release with the acquire of the next that does not, which
      // may write `next_`.
      node->enqueued_.exchange(false, std::memory_order_acq_rel);
      return false;
    }
    node->next_.Write() = head;
    // Release pairs with the acquire of the taker, who reads `next_` and the
    // node. Those that come after are read-modify-writes as well, and so pass
    // it on with their own.
  } while (!head_.compare_exchange_weak(head, node, std::memory_order_release,
                                        std::memory_order_relaxed));
  return true;
}

ArcListNode* ArcListCore::TakeAll() {
  // Relaxed: nothing is done with the head until it has been taken.
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
  // Release pairs with the acquire of the next Claim to get the node, whose
  // Link writes `next_`. Acquire pairs with the release of every Claim that
  // found the node enqueued: what those did is the caller's to see. A store
  // would order neither a Claim that came just before nor this thread after it.
  node->enqueued_.exchange(false, std::memory_order_acq_rel);
  return next;
}

}  // namespace internal
}  // namespace rouse::heap

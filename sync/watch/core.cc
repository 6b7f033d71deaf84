// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/watch/core.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rouse/base/first_exception.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/base/mutable_step.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/waker.h"

namespace rouse::watch::internal {

bool Core::WaitForChange(size_t shard, WaitNode& node, uint64_t version,
                         const Waker& waker) {
  Shard& at = shards_[shard];
  const uint64_t bit = BitOf(shard);
  for (;;) {
    Waker clone = node.CloneIfNew(waker);
    Waker told;
    const BriefLockHolder lock(at.mu);
    // Relaxed, as are the exchanges: the lock provides the order. A receiver
    // that learns of a change here checks again, with acquire.
    uint64_t word = word_.load(std::memory_order_relaxed);
    do {
      const Seen seen(word);
      if (MutableCondition(seen.version() != version || seen.is_closed())) {
        return false;
      }
    } while ((word & bit) == 0 &&
             !word_.compare_exchange_weak(word, word | bit,
                                          std::memory_order_relaxed,
                                          std::memory_order_relaxed));
    if (!node.IsLinked()) {
      // The node may have been notified of another change, and has no waker
      // then.
      const bool has_lost_it = node.HasRegistered() && clone.IsNoop();
      node.Leave(told);
      if (has_lost_it) continue;
      at.waiters.PushBack(&node);
    }
    node.Register(clone);
    return true;
  }
}

void Core::ForgetChange(size_t shard, WaitNode& node) {
  // Most nodes have been notified. The receiver keeps the lock alive.
  if (!node.LeaveIfNotified()) node.LeaveWith(shards_[shard].mu);
}

bool Core::RemoveReceiver() {
  // Release pairs with the acquire of receivers().
  if (receivers_.fetch_sub(1, std::memory_order_release) == 1) {
    closing_.mu.Lock();
    WakeAll(closing_.mu, closing_.waiters, [](WaitNode*) {});
  }
  return Unref();
}

bool Core::WaitForNoReceiver(WaitNode& node, const Waker& waker) {
  for (;;) {
    Waker clone = node.CloneIfNew(waker);
    Waker told;
    const BriefLockHolder lock(closing_.mu);
    // The last receiver takes this lock after it has left the count. Therefore
    // the last receiver finds the waiter, or its exit is seen here.
    if (MutableCondition(receivers() == 0)) return false;
    if (!node.IsLinked()) {
      // The node may have been notified that there was no receiver, although
      // there is a receiver again.
      const bool has_lost_it = node.HasRegistered() && clone.IsNoop();
      node.Leave(told);
      if (has_lost_it) continue;
      closing_.waiters.PushBack(&node);
    }
    node.Register(clone);
    return true;
  }
}

bool Core::RemoveSender() {
  // Release: the last sender, which therefore acquires, passes on what each
  // sender did before its destruction.
  if (senders_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Wake(Update([](uint64_t word) { return word | kClosed; }));
  }
  return Unref();
}

void Core::SlowWake(uint64_t shards) {
  FirstException first;
  for (size_t i = 0; i < kShards; ++i) {
    if ((shards & BitOf(i)) == 0) continue;
    Shard& shard = shards_[i];
    first.Catch([&shard] {
      shard.mu.Lock();
      WakeAll(shard.mu, shard.waiters, [](WaitNode*) {});
    });
  }
  first.Rethrow();
}

}  // namespace rouse::watch::internal

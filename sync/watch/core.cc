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
    // Relaxed, and so are the exchanges: what orders is the lock. Who learns
    // here of a change looks again, and acquires.
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
      // It may have been told of another change, and has no waker then.
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
  // Most have been told. The receiver keeps the lock.
  if (node.LeaveIfNotified()) return;
  Waker waker;
  const BriefLockHolder lock(shards_[shard].mu);
  node.Leave(waker);
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
    // Under the lock that the last receiver takes after it has counted itself
    // out: so it finds who waits, or is seen here.
    if (MutableCondition(receivers() == 0)) return false;
    if (!node.IsLinked()) {
      // It may have been told that there was none, but there is one again.
      const bool has_lost_it = node.HasRegistered() && clone.IsNoop();
      node.Leave(told);
      if (has_lost_it) continue;
      closing_.waiters.PushBack(&node);
    }
    node.Register(clone);
    return true;
  }
}

void Core::ForgetNoReceiver(WaitNode& node) {
  Waker waker;
  const BriefLockHolder lock(closing_.mu);
  node.Leave(waker);
}

bool Core::RemoveSender() {
  // Release: what each sender did before it went, the last one passes on, which
  // therefore acquires.
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

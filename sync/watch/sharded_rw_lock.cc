// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/watch/sharded_rw_lock.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rouse/base/atomic.h"
#include "rouse/base/lock/back_off.h"

namespace rouse::watch::internal {

void ShardedRwLock::SlowReaderLock(size_t shard) {
  Atomic<uint32_t>& readers = shards_[shard].readers;
  BackOff back_off;
  do {
    // Relaxed: nothing was read.
    readers.fetch_sub(1, std::memory_order_relaxed);
    // Relaxed: checked again below.
    while (writing_.load(std::memory_order_relaxed)) back_off.Wait();
    // Sequentially consistent as in ReaderLock.
    readers.fetch_add(1, std::memory_order_seq_cst);
  } while (writing_.load(std::memory_order_seq_cst));
}

void ShardedRwLock::WriterLock() {
  writers_.Lock();
  // Sequentially consistent with the load of ReaderLock.
  writing_.store(true, std::memory_order_seq_cst);
  for (Shard& shard : shards_) {
    BackOff back_off;
    // Sequentially consistent with the addition of ReaderLock. As an acquire,
    // this load pairs with the release of ReaderUnlock.
    while (shard.readers.load(std::memory_order_seq_cst) != 0) back_off.Wait();
  }
}

void ShardedRwLock::WriterUnlock() {
  // Release pairs with the load of ReaderLock.
  writing_.store(false, std::memory_order_release);
  writers_.Unlock();
}

}  // namespace rouse::watch::internal

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: sharded_rw_lock.h
// -----------------------------------------------------------------------------
//
// `ShardedRwLock` is a reader-writer lock for data that is often read and
// rarely written. Readers on different threads access different cache lines.
// Private to `sync/watch/`: this lock blocks threads, and tasks use the
// `RwLock` of sync/rw_lock.h.
//
//   lock_.ReaderLock(shard);   // the reader's own, of kShards
//   ... read ...
//   lock_.ReaderUnlock(shard);
//
// # The protocol
//
//   readers[shard]   number of readers, and of threads that try to read
//   writing          set while a writer writes, or waits for readers to leave
//
//   reader   increments its count, and then checks `writing`. If `writing` is
//            false the reader has the lock. If not, the reader decrements its
//            count, and waits until `writing` is false.
//   writer   excludes other writers with `writers`. It sets `writing`, and then
//            waits until it has found each count at zero.
//
// Each thread writes before reading, and the four operations are sequentially
// consistent and therefore in a single order. Consequently a reader sees
// `writing`, or the writer sees the reader. The algorithm is the "big-reader
// lock" (brlock) of Linux 2.4.

#ifndef ROUSE_SYNC_WATCH_SHARDED_RW_LOCK_H_
#define ROUSE_SYNC_WATCH_SHARDED_RW_LOCK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/thread_mutex.h"

namespace rouse::watch::internal {

// ShardedRwLock
//
// Reading costs two read-modify-writes of a cache line that belongs to one
// shard. Writing costs a check of every shard. Readers do not wait for one
// another, and may hold the lock for a long time. A waiting thread spins at
// first, and then sleeps 50 microseconds between checks.
//
// A waiting writer goes before new readers. Therefore a thread that reads must
// not read again, or write, before the unlock.
class ShardedRwLock {
 public:
#ifdef ROUSE_MODEL
  static constexpr size_t kShards = 2;
#else
  static constexpr size_t kShards = 8;
#endif

  ShardedRwLock() = default;
  ShardedRwLock(const ShardedRwLock&) = delete;
  ShardedRwLock& operator=(const ShardedRwLock&) = delete;

  void ReaderLock(size_t shard) {
    // Sequentially consistent, as is the next load, with the store and the load
    // of WriterLock.
    shards_[shard].readers.fetch_add(1, std::memory_order_seq_cst);
    // As an acquire, this load pairs with the release of WriterUnlock.
    if (ABSL_PREDICT_FALSE(writing_.load(std::memory_order_seq_cst))) {
      SlowReaderLock(shard);
    }
  }

  void ReaderUnlock(size_t shard) {
    // Release pairs with the load of WriterLock.
    shards_[shard].readers.fetch_sub(1, std::memory_order_release);
  }

  void WriterLock() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void WriterUnlock() ABSL_NO_THREAD_SAFETY_ANALYSIS;

 private:
#ifdef ROUSE_MODEL
  struct Shard {
#else
  struct ABSL_CACHELINE_ALIGNED Shard {
#endif
    Atomic<uint32_t> readers{0};
  };

  void SlowReaderLock(size_t shard);

  Shard shards_[kShards];
  Atomic<bool> writing_{false};
  ThreadMutex writers_;
};

// WriterHolder
//
// Holds `lock` for a writer until the holder is destroyed.
class WriterHolder {
 public:
  explicit WriterHolder(ShardedRwLock& lock) : lock_(lock) {
    lock_.WriterLock();
  }
  WriterHolder(const WriterHolder&) = delete;
  WriterHolder& operator=(const WriterHolder&) = delete;
  ~WriterHolder() { lock_.WriterUnlock(); }

 private:
  ShardedRwLock& lock_;
};

}  // namespace rouse::watch::internal

#endif  // ROUSE_SYNC_WATCH_SHARDED_RW_LOCK_H_

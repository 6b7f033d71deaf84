// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: big_reader_lock.h
// -----------------------------------------------------------------------------
//
// `BigReaderLock` guards what many read and few write: readers on different
// threads touch different cache lines. Internal to `sync/`.
//
//   lock_.ReaderLock(shard);   // the reader's own, of kShards
//   ... read ...
//   lock_.ReaderUnlock(shard);
//
// # The protocol
//
//   readers[shard]   how many read, or try to
//   writing          set while somebody writes, or waits for the readers to go
//
//   reader   adds itself, and then looks at `writing`: if that is false it has
//            the lock. If not, it takes that back and waits until it is.
//   writer   is alone by `writers`. It sets `writing`, and then waits until it
//            has found each count at zero.
//
// Each writes before it reads, and the four are in one order, being
// sequentially consistent: so a reader sees `writing`, or the writer sees the
// reader. It is the "big-reader lock" of Linux 2.4.

#ifndef ROUSE_SYNC_WATCH_BIG_READER_LOCK_H_
#define ROUSE_SYNC_WATCH_BIG_READER_LOCK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/thread_mutex.h"

namespace rouse::internal {

// BigReaderLock
//
// To read costs two read-modify-writes of a line that is the shard's alone; to
// write, a look at every shard. Readers do not wait for one another, and may
// hold it for long. Who waits spins at first, and then sleeps for 50
// microseconds at a time.
//
// A writer that waits goes before readers that come. So a thread that reads
// must not read again, nor write, until it has done.
class BigReaderLock {
 public:
#ifdef ROUSE_MODEL
  static constexpr size_t kShards = 2;
#else
  static constexpr size_t kShards = 8;
#endif

  BigReaderLock() = default;
  BigReaderLock(const BigReaderLock&) = delete;
  BigReaderLock& operator=(const BigReaderLock&) = delete;

  void ReaderLock(size_t shard) {
    // Sequentially consistent, as the next, with the store and the load of
    // WriterLock.
    shards_[shard].readers.fetch_add(1, std::memory_order_seq_cst);
    // As an acquire it pairs with the release of WriterUnlock.
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
// Holds `lock` for a writer as long as it lives.
class WriterHolder {
 public:
  explicit WriterHolder(BigReaderLock& lock) : lock_(lock) {
    lock_.WriterLock();
  }
  WriterHolder(const WriterHolder&) = delete;
  WriterHolder& operator=(const WriterHolder&) = delete;
  ~WriterHolder() { lock_.WriterUnlock(); }

 private:
  BigReaderLock& lock_;
};

}  // namespace rouse::internal

#endif  // ROUSE_SYNC_WATCH_BIG_READER_LOCK_H_

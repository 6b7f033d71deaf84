// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: core.h
// -----------------------------------------------------------------------------
//
// What the ends of a watch channel share, but for the value: which version that
// is, how many ends there are, and who waits. Internal to `sync/`.
//
// # The word
//
//   kClosed    the last sender has gone. Never cleared.
//   kWaiting   a bit for each shard of those that wait.
//   version    above them: one more with each change of the value. It has 55
//              bits: it would take centuries to wrap.
//
// # Who is told of a change
//
// A receiver that waits is in the list of its shard, under the lock of that.
// It goes there under the lock, after the word has shown it, in one step, that
// the version is the one it knows and that the bit of the shard is set; it sets
// the bit itself if it is not.
//
// Whoever changes the version, or closes, clears all bits in the same step, and
// then looks into the lists of those that were set. Say this is later in the
// order of the word than the step of a receiver. Then it finds the bit set, for
// nobody else clears it, and goes for the lock. If it has the lock before the
// receiver, the receiver finds the new version there, which contradicts what it
// has seen. So it comes after, and finds the receiver in the list. If nobody
// waits, it takes no lock.

#ifndef ROUSE_SYNC_WATCH_CORE_H_
#define ROUSE_SYNC_WATCH_CORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/sync/watch/big_reader_lock.h"
#include "rouse/waker/waker.h"

namespace rouse::watch::internal {

using ::rouse::internal::BigReaderLock;
using ::rouse::internal::WaitNode;
using ::rouse::internal::WriterHolder;

class Core {
  static constexpr size_t kShards = BigReaderLock::kShards;
  static constexpr uint64_t kClosed = 1;
  static constexpr uint64_t kWaiting = ((uint64_t{1} << kShards) - 1) << 1;
  static constexpr uint64_t kVersion = (kWaiting | kClosed) + 1;

 public:
  // With one sender and one receiver.
  Core() = default;
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // A look at the word.
  class Seen {
   public:
    explicit Seen(uint64_t word) : word_(word) {}
    uint64_t version() const { return word_ / kVersion; }
    bool is_closed() const { return (word_ & kClosed) != 0; }

   private:
    uint64_t word_;
  };

  Seen Look() const {
    // Acquire pairs with the release of Change and of Close: what a sender did
    // before is visible.
    return Seen(word_.load(std::memory_order_acquire));
  }

  // Guards the value; `Change()` is called under it, so that the value which is
  // read goes with the version which is read beside it.
  BigReaderLock& lock() { return lock_; }

  // The next receiver's or sender's shard.
  size_t NextShard() {
    // Relaxed: any one will do.
    return next_shard_.fetch_add(1, std::memory_order_relaxed) % kShards;
  }

  // ---- For a receiver.

  // False: the version is not `version`, or it is closed. Else `waker` is woken
  // when that is so.
  bool WaitForChange(size_t shard, WaitNode& node, uint64_t version,
                     const Waker& waker);
  // Waits no more. Needed once that has returned true.
  void ForgetChange(size_t shard, WaitNode& node);

  void AddReceiver() {
    // Relaxed: the caller has an end, which keeps both counts from zero but for
    // that of the receivers, and who adds the first one again orders nothing.
    receivers_.fetch_add(1, std::memory_order_relaxed);
    Ref();
  }
  // Whether the caller is to free the block.
  bool RemoveReceiver();

  // ---- For a sender.

  // The value has changed: what is to be passed to `Wake()` without the lock.
  uint64_t Change() {
    return Update([](uint64_t word) { return word + kVersion; });
  }
  void Wake(uint64_t shards) {
    if (ABSL_PREDICT_FALSE(shards != 0)) SlowWake(shards);
  }

  // For a receiver that has made the version count as not seen: wakes all that
  // wait in its shard, others in vain.
  void WakeShard(size_t shard) {
    // Relaxed: if a future of the receiver is in the list this thread has seen
    // the bit, or has set it; who has cleared it since wakes the future.
    if ((word_.load(std::memory_order_relaxed) & BitOf(shard)) != 0) {
      SlowWake(BitOf(shard));
    }
  }

  // ---- For a sender that waits.

  // False: there is no receiver. Else `waker` is woken when there is none.
  bool WaitForNoReceiver(WaitNode& node, const Waker& waker);
  void ForgetNoReceiver(WaitNode& node);

  size_t receivers() const {
    // Acquire pairs with the release of RemoveReceiver: what receivers did
    // before they went is visible to who finds none.
    return receivers_.load(std::memory_order_acquire);
  }

  void AddSender() {
    // Relaxed: the caller is a sender, so it is not zero.
    senders_.fetch_add(1, std::memory_order_relaxed);
    Ref();
  }
  // Whether the caller is to free the block.
  bool RemoveSender();

 private:
#ifdef ROUSE_MODEL
  struct Shard {
#else
  struct ABSL_CACHELINE_ALIGNED Shard {
#endif
    BriefLock mu;
    IntrusiveList<WaitNode> waiters ABSL_GUARDED_BY(mu);
  };

  static constexpr uint64_t BitOf(size_t shard) { return uint64_t{2} << shard; }

  // Makes the word `next(word)`, without the bits of those that wait, which
  // come back.
  template <class F>
  uint64_t Update(F next) {
    // Relaxed: it is only what the exchange expects.
    uint64_t word = word_.load(std::memory_order_relaxed);
    // Release pairs with the acquire of Look.
    while (!word_.compare_exchange_weak(word, next(word) & ~kWaiting,
                                        std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
    return word & kWaiting;
  }

  void SlowWake(uint64_t shards);

  void Ref() {
    // Relaxed: the caller has an end, so it is not zero.
    references_.fetch_add(1, std::memory_order_relaxed);
  }
  bool Unref() {
    // Release: use comes before the end. Acquire: the last sees all of it.
    return references_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  BigReaderLock lock_;
  Shard shards_[kShards];
  Atomic<uint64_t> word_{0};
  Atomic<size_t> receivers_{1};
  Atomic<size_t> senders_{1};
  Atomic<size_t> references_{2};
  Atomic<size_t> next_shard_{0};
  // Senders that wait until there is no receiver.
  Shard closing_;
};

}  // namespace rouse::watch::internal

#endif  // ROUSE_SYNC_WATCH_CORE_H_

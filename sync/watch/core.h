// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: core.h
// -----------------------------------------------------------------------------
//
// The state that the ends of a watch channel share, except for the value: the
// version of the value, the number of ends, and the waiters. Internal to
// `sync/`.
//
// # The word
//
//   kClosed    the last sender is destroyed. Never cleared.
//   kWaiting   one bit for each shard of waiters.
//   version    the bits above: incremented with each change of the value. It
//              has 55 bits: it would take centuries to wrap.
//
// # Which receivers are notified of a change
//
// A waiting receiver is in the list of a shard. The lock of the shard guards
// the list. The receiver enters the list under the lock, after the word has
// shown, in one step, that the version is still the known version and that the
// bit of the shard is set. The receiver sets the bit itself if the bit is
// clear.
//
// A sender that changes the version, or closes, clears all bits in the same
// step, and then searches the lists of the shards with bits that were set.
// Assume that the sender's step comes later in the order of the word than the
// step of a receiver. Then the sender finds the bit set, because nothing else
// clears the bit, and takes the lock. If the sender had the lock before the
// receiver, the receiver would find the new version there, in contradiction to
// the version that the receiver has seen. Therefore the sender has the lock
// after the receiver, and finds the receiver in the list. If no receiver waits,
// the sender takes no lock.

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
#include "rouse/sync/watch/sharded_rw_lock.h"
#include "rouse/waker/waker.h"

namespace rouse::watch::internal {

using ::rouse::internal::WaitNode;

class Core {
  static constexpr size_t kShards = ShardedRwLock::kShards;
  static constexpr uint64_t kClosed = 1;
  static constexpr uint64_t kWaiting = ((uint64_t{1} << kShards) - 1) << 1;
  static constexpr uint64_t kVersion = (kWaiting | kClosed) + 1;

 public:
  // Starts with a sender and `receivers` receivers.
  explicit Core(size_t receivers)
      : receivers_(receivers), references_(1 + receivers) {}
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // A value of the word.
  class Seen {
   public:
    explicit Seen(uint64_t word) : word_(word) {}
    uint64_t version() const { return word_ / kVersion; }
    bool is_closed() const { return (word_ & kClosed) != 0; }

   private:
    uint64_t word_;
  };

  Seen Load() const {
    // Acquire pairs with the release of Change and of Close: everything that a
    // sender did before is visible.
    return Seen(word_.load(std::memory_order_acquire));
  }

  // Returns the lock that guards the value. `Change()` is called under the
  // lock, so that a value and a version belong together if both are read under
  // the lock.
  ShardedRwLock& lock() { return lock_; }

  // Returns the shard for the next receiver or sender.
  size_t NextShard() {
    // Relaxed: any shard will do.
    return next_shard_.fetch_add(1, std::memory_order_relaxed) % kShards;
  }

  // ---- For a receiver.

  // Returns false if the version is not `version`, or the channel is closed.
  // Otherwise `waker` is woken when one of the two is the case.
  bool WaitForChange(size_t shard, WaitNode& node, uint64_t version,
                     const Waker& waker);
  // Stops waiting. Must be called after `WaitForChange()` has returned true.
  void ForgetChange(size_t shard, WaitNode& node);

  void AddReceiver() {
    // Relaxed: the caller has an end, so neither count is zero, except that
    // there may be no receivers. Adding the first receiver again orders
    // nothing.
    receivers_.fetch_add(1, std::memory_order_relaxed);
    Ref();
  }
  // Removes a receiver. Returns whether the caller must free the block.
  bool RemoveReceiver();

  // ---- For a sender.

  // Notes that the value has changed. Returns the argument for `Wake()`, which
  // must be called without the lock.
  uint64_t Change() {
    return Update([](uint64_t word) { return word + kVersion; });
  }
  void Wake(uint64_t shards) {
    if (ABSL_PREDICT_FALSE(shards != 0)) SlowWake(shards);
  }

  // Called for a receiver that has made the version count as not seen. Wakes
  // all waiters of the receiver's shard, the others in vain.
  void WakeShard(size_t shard) {
    // Relaxed: if a future of the receiver is in the list, this thread has seen
    // the bit, or has set it. A thread that has cleared the bit since then
    // wakes the future.
    if ((word_.load(std::memory_order_relaxed) & BitOf(shard)) != 0) {
      SlowWake(BitOf(shard));
    }
  }

  // ---- For a sender that waits.

  // Returns false if there is no receiver. Otherwise `waker` is woken when
  // there is no receiver.
  bool WaitForNoReceiver(WaitNode& node, const Waker& waker);
  // Stops waiting for that.
  void StopWaiting(WaitNode& node) { node.LeaveWith(closing_.mu); }

  size_t receivers() const {
    // Acquire pairs with the release of RemoveReceiver: if the number is 0,
    // everything that receivers did before their destruction is visible.
    return receivers_.load(std::memory_order_acquire);
  }

  void AddSender() {
    // Relaxed: the caller is a sender, so the count is not zero.
    senders_.fetch_add(1, std::memory_order_relaxed);
    Ref();
  }
  // Removes a sender. Returns whether the caller must free the block.
  bool RemoveSender();
  size_t senders() const {
    // Relaxed: the number may change at once.
    return senders_.load(std::memory_order_relaxed);
  }

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

  // Sets the word to `next(word)` without the bits of waiters. Returns the
  // previous state of the waiters' bits.
  template <class F>
  uint64_t Update(F next) {
    // Relaxed: the exchange only compares with this value.
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
    // Relaxed: the caller has an end, so the count is not zero.
    references_.fetch_add(1, std::memory_order_relaxed);
  }
  bool Unref() {
    // Release: all uses come before the end. Acquire: the last end sees all
    // uses.
    return references_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  ShardedRwLock lock_;
  Shard shards_[kShards];
  Atomic<uint64_t> word_{0};
  Atomic<size_t> receivers_;
  Atomic<size_t> senders_{1};
  Atomic<size_t> references_;
  Atomic<size_t> next_shard_{0};
  // Senders that wait until there is no receiver.
  Shard closing_;
};

}  // namespace rouse::watch::internal

#endif  // ROUSE_SYNC_WATCH_CORE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: queue.h
// -----------------------------------------------------------------------------
//
// The queue of a channel with several receivers. Any number of threads push and
// take. Internal to `sync/`.
//
//   size_t position;
//   if (queue.TryClaimPush<true>(position) != Refusal::kNone) ...
//   if (queue.Push(position, std::move(value))) {
//     queue.Settle(Side::kReceivers);
//   }
//
//   const Claim claim = queue.TryClaimPops(1);
//   if (claim.count == 0) ...                          // nothing to take yet
//   queue.Take(claim, [](T&& value) { ... });
//
// # The protocol
//
// positions.h describes how a push claims a position and makes it ready, and
// how a pop claims a ready position. This file has the messages, in the blocks
// of block_chain.h. The low bits of the `state` of a block are the slots that
// were ready before the slots in front of them, and they are set and read under
// the lock.
//
// Only the push at the position `ready_` can move `ready_`, unless its slot has
// its bit. So all its steps in the block come before its message can be taken.
// The steps under the lock are safe for another reason: the lock frees blocks.
//
// `taken` of a block:
//
//   bits 0 .. 31   the slots whose messages were moved out
//   the top bits   a number n: the take after which the first n slots are taken
//                  calls `Reclaim()`. 1 at first.
//
// The take after which all slots are taken calls `Reclaim()`, too.
//
// # Blocks in use
//
// Receivers search for their blocks as pushes do (block_chain.h), but from
// `block_head_`, which never passes a block with a slot that was not taken. The
// thread that has moved `block_head_` past a block reads `head_`, with a
// read-modify-write that releases, and writes the number of claimed positions
// into the block (`claims_before`). A claim that is made later acquires `head_`
// from that step, and begins its search behind the block. A claim that was made
// earlier has not taken its message until it is done with its search.
// `Reclaim()` frees a block when it is released, `block_head_` is past it, and
// all positions before `pushes_before` and `claims_before` were taken.
// `Reclaim()` holds a lock: it runs about twice for each block.
//
// If `Reclaim()` must leave a block, some message was not taken yet: one before
// the numbers, or that of the push that is moving `block_tail_`. `Reclaim()`
// therefore asks for another call. It writes n into the first block that was
// not taken in full. All changes of `taken` are read-modify-writes: either
// `Reclaim()` sees that n slots are taken, and goes on, or a take sees n. If n
// is beyond the block, nothing is written, because the last take of the block
// or the first take of the next block calls `Reclaim()` anyway. So a channel
// from which everything was taken keeps the block of its last message, and no
// block before.
//
// If a push ends after later pushes, the later ones have not moved
// `block_tail_`. The threads that have the lock do so instead: one that extends
// the prefix, and `Reclaim()`, if the last slots became ready in their order
// but after the search of the next push.
//
// The last access of a push to a block comes before its message can be taken,
// and the last access of a receiver is its `taken` bit, except in the steps
// that hold the lock.

#ifndef ROUSE_SYNC_MPMC_QUEUE_H_
#define ROUSE_SYNC_MPMC_QUEUE_H_

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/macros.h"
#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/base/mutable_step.h"
#include "rouse/sync/internal/block_chain.h"
#include "rouse/sync/mpmc/positions.h"

namespace rouse::mpmc::internal {

#ifdef ROUSE_MODEL
inline constexpr size_t kBlockSlots = 2;
// How many blocks the prefix passes before the lock is free for others.
inline constexpr int kBlocksAtOnce = 1;
#else
inline constexpr size_t kBlockSlots = 32;
inline constexpr int kBlocksAtOnce = 8;
#endif

// A block of a queue.
template <class T, size_t kCount>
struct QueueBlock : rouse::internal::ChainedBlock<QueueBlock<T, kCount>> {
  using rouse::internal::ChainedBlock<QueueBlock>::ChainedBlock;

  static constexpr size_t kSlots = kCount;
  // The top bits of `taken` begin here.
  static constexpr int kAskShift = 58;
  static constexpr uint64_t kAskForFirst = uint64_t{1} << kAskShift;

  Cell<rouse::internal::MessageSlot<T>> slots[kSlots];
  // Guarded by the lock of the queue.
  Cell<size_t> claims_before;
  // Changed by receivers only. Not on the line of the members that senders
  // read.
  Atomic<uint64_t> taken{kAskForFirst};
};

// Queue
//
// Thread-safe, except for the destructor. If memory runs out the program ends,
// because a claimed position cannot be given back. No function of this class
// throws.
template <class T, size_t kSlots = kBlockSlots>
class Queue
    : public rouse::internal::BlockChain<QueueBlock<T, kSlots>, Positions> {
  static_assert(
      std::is_nothrow_move_constructible_v<T> &&
          std::is_nothrow_destructible_v<T>,
      "the move constructor and the destructor of a message must not throw");

  using Block = QueueBlock<T, kSlots>;
  using Chain = rouse::internal::BlockChain<Block, Positions>;
  using Chain::Advance;
  using Chain::block_tail_;
  using Chain::Distance;
  using Chain::gaps_;
  using Chain::head_;
  using Chain::kAllSlots;
  using Chain::kFirstPosition;
  using Chain::kFlags;
  using Chain::kGaps;
  using Chain::kPosition;
  using Chain::kReleased;
  using Chain::kWanted;
  using Chain::mu_;
  using Chain::NextOf;
  using Chain::ready_;
  using Chain::SlotBit;

 public:
  using Chain::Chain;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // REQUIRES: all messages were taken.
  ~Queue() {
    // Relaxed, here and below: no other thread uses the queue any more.
    Block* block =
        oldest_ != nullptr ? oldest_ : first_.load(std::memory_order_relaxed);
    while (block != nullptr) {
      delete std::exchange(block, block->next.load(std::memory_order_relaxed));
    }
  }

  // Writes `value` at a claimed position. Returns whether receivers wait: the
  // caller must then call `Settle()`.
  [[nodiscard]] bool Push(size_t position, T&& value) noexcept {
    const size_t slot = position % kSlots;
    Block* const block = Find(position - slot);
    std::construct_at(&block->slots[slot].Write().value, std::move(value));
    // Relaxed: an older value is seen again under the lock.
    if (ABSL_PREDICT_FALSE(ready_.load(std::memory_order_relaxed) / kPosition !=
                           position)) {
      return LeaveGap(block, position);
    }
    // Release pairs with the acquires of pops.
    const uint64_t before =
        ready_.fetch_add(kPosition, std::memory_order_release);
    if (ABSL_PREDICT_TRUE((before & kFlags) == 0)) return false;
    return FillGap(before);
  }

  // Passes the messages of `claim` to `consume(T&&)`, one after another.
  // `consume` must not throw.
  template <class Consume>
  void Take(const Claim& claim, Consume consume) noexcept {
    size_t position = claim.position;
    size_t n = claim.count;
    Block* block = FindClaimed(position - position % kSlots);
    while (n > 0) {
      const size_t first = position % kSlots;
      const size_t end = std::min(kSlots, first + n);
      uint64_t bits = 0;
      for (size_t slot = first; slot < end; ++slot) {
        T& value = block->slots[slot].Write().value;
        consume(std::move(value));
        std::destroy_at(&value);
        bits |= SlotBit(slot);
      }
      n -= end - first;
      position += end - first;
      // The bits that are not set yet keep this block until the next step.
      Block* const next = n > 0 ? NextOf(block) : nullptr;
      // Release pairs with the acquire of Reclaim: the messages are used no
      // more. The bits are clear, so adding sets them. (Unlike an addition, an
      // "or" whose result is needed is a loop on x86.)
      const uint64_t before =
          block->taken.fetch_add(bits, std::memory_order_release);
      if (ABSL_PREDICT_FALSE(MustReclaim(before, bits))) Reclaim();
      block = next;
    }
  }

 private:
  friend Chain;

  // Returns the number of slots before the first whose bit is not set.
  static size_t FirstSlots(uint64_t word) {
    return std::countr_one(word & kAllSlots);
  }
  // Returns whether a take that has added `bits` to the value `taken` must call
  // `Reclaim()`.
  static bool MustReclaim(uint64_t taken, uint64_t bits) {
    const size_t slots = FirstSlots(taken | bits);
    const size_t asked = taken >> Block::kAskShift;
    return slots == kSlots || (slots >= asked && FirstSlots(taken) < asked);
  }

  // Makes the message at `position` ready, although an earlier message was not
  // ready a moment ago. Returns whether receivers wait for what was added to
  // the prefix.
  ABSL_ATTRIBUTE_NOINLINE bool LeaveGap(Block* block, size_t position) {
    uint64_t ready;
    {
      const BriefLockHolder lock(mu_);
      // Relaxed, and no read-modify-write: changed under the lock, until the
      // slot is in the prefix.
      const uint64_t state = block->state.load(std::memory_order_relaxed);
      block->state.store(state | SlotBit(position % kSlots),
                         std::memory_order_relaxed);
      ++gaps_;
      // Relaxed: the push that sees kGaps takes the lock.
      ready = ready_.fetch_or(kGaps, std::memory_order_relaxed);
    }
    bool is_wanted = false;
    if (ready / kPosition == position) {
      ROUSE_MUTABLE_CALL(is_wanted = ExtendPrefix());
    }
    return is_wanted;
  }

  // Called by a push that has added to `ready_` when it was `before`. Returns
  // what `LeaveGap()` returns.
  ABSL_ATTRIBUTE_NOINLINE bool FillGap(uint64_t before) {
    bool is_wanted = (before & kWanted) != 0;
    if ((before & kGaps) != 0) ROUSE_MUTABLE_CALL(is_wanted |= ExtendPrefix());
    return is_wanted;
  }

  // Extends the prefix over the slots that have their bits. Returns whether
  // receivers wait for what was added.
  bool ExtendPrefix() {
    bool is_wanted = false;
    bool goes_on;
    do {
      // Between two steps kGaps stays, and only holders of the lock can move
      // `ready_`, because the slot there has its bit: any of them goes on.
      const BriefLockHolder lock(mu_);
      goes_on = ExtendBySome(is_wanted);
    } while (goes_on);
    return is_wanted;
  }

  // Does a part of `ExtendPrefix()`, so that the lock is not held for long.
  // Sets `is_wanted` if receivers wait for what was added. Returns whether
  // there may be more to do.
  bool ExtendBySome(bool& is_wanted) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // Acquire pairs with the releases of pushes: if a push has ended, its store
    // to `block_tail_` is visible. Otherwise there is nothing to extend.
    (void)ready_.load(std::memory_order_acquire);
    // Acquire pairs with the releases in FindFrom and in MoveTail, whose thread
    // has seen that the blocks before are full: the prefix does not end before
    // this block when `ready_` is loaded below.
    Block* block = block_tail_.load(std::memory_order_acquire);
    int passed = 0;
    while (block != nullptr && gaps_ > 0) {
      // If the slot there has its bit, only holders of the lock change the
      // position. Otherwise another push goes on from there. Acquire: as in
      // IsFull.
      const size_t ready = ready_.load(std::memory_order_acquire) / kPosition;
      const int64_t distance = Distance(block->start.Read(), ready);
      ABSL_ASSERT(distance >= 0);
      const auto first = static_cast<size_t>(distance);
      if (first >= kSlots) {
        if (++passed > kBlocksAtOnce) return true;
        // There is a next block. Relaxed: a push that is counted in `gaps_` has
        // searched the chain up to the block of the prefix's end, or further.
        // The lock hands on what it has seen.
        Block* const next = block->next.load(std::memory_order_relaxed);
        // If not, a push has moved `block_tail_`. In any case, `block_tail_` is
        // past the block now.
        (void)Chain::MoveTail(block, next);
        block = next;
        continue;
      }
      // Relaxed: changed under the lock. The bit behind the last slot is clear.
      const uint64_t state = block->state.load(std::memory_order_relaxed);
      const size_t count = FirstSlots(state >> first);
      if (count == 0) break;
      gaps_ -= count;
      // Release pairs with the acquires of pops: the pushes have handed their
      // messages on with the lock.
      const uint64_t flag = MutableCondition(gaps_ == 0) ? kGaps : 0;
      const uint64_t before =
          ready_.fetch_add(count * kPosition - flag, std::memory_order_release);
      ROUSE_MUTABLE_CALL(is_wanted |= (before & kWanted) != 0);
    }
    return false;
  }

  Block* Find(size_t start) {
    return Chain::Find(start, [this] { return First(); });
  }

  // Returns the block of a claimed position. The position is ready, so all
  // blocks up to this block exist, and none is made.
  Block* FindClaimed(size_t start) {
    // Relaxed: a claim sees all pushes before its position, and so all blocks
    // before.
    Block* block = block_head_.load(std::memory_order_relaxed);
    if (ABSL_PREDICT_FALSE(block == nullptr)) block = First();
    while (ABSL_PREDICT_FALSE(block->start.Read() != start)) {
      block = NextOf(block);
    }
    return block;
  }

  // Returns the first block, and makes the block if there is none. Called by a
  // thread that has found no block in `block_tail_` or in `block_head_`.
  Block* First() {
    // Acquire, here and if the exchange fails, pairs with the release of the
    // exchange: the block is fully constructed.
    Block* first = first_.load(std::memory_order_acquire);
    if (first != nullptr) return first;
    auto* const made = new Block(kFirstPosition, 0);
    // Release pairs with the acquires of the threads that visit the block.
    if (first_.compare_exchange_strong(first, made, std::memory_order_release,
                                       std::memory_order_acquire)) {
      return made;
    }
    delete made;
    return first;
  }

  // Frees the blocks that no thread can reach any more. Called by a take after
  // which the first slots of a block are taken: see the top of the file.
  ABSL_ATTRIBUTE_NOINLINE void Reclaim() {
    const BriefLockHolder lock(mu_);
    // Relaxed: written under the lock.
    Block* block = block_head_.load(std::memory_order_relaxed);
    if (block == nullptr) block = oldest_ = First();
    // Acquire, here and below, pairs with the releases of Take: the messages
    // are used no more.
    uint64_t taken = block->taken.load(std::memory_order_acquire);
    while (FirstSlots(taken) == kSlots) {
      // Acquire pairs with the release of Append.
      Block* const next = block->next.load(std::memory_order_acquire);
      if (next == nullptr) break;  // no message was sent behind this block
      // Relaxed: the next step publishes it, to claims that must see it.
      block_head_.store(next, std::memory_order_relaxed);
      // Release pairs with the acquires of claims: a claim after this step
      // begins its search at `next`, or behind it.
      block->claims_before.Write() =
          head_.fetch_add(0, std::memory_order_release) / kPosition;
      block = next;
      taken = block->taken.load(std::memory_order_acquire);
    }
    while (oldest_ != block) {
      const size_t all_taken_before =
          Advance(block->start.Read(), FirstSlots(taken));
      size_t needed;
      if (CanFree(oldest_, all_taken_before, needed)) {
        // Relaxed: this lock's holder has passed the block above, or before.
        Recycle(std::exchange(oldest_,
                              oldest_->next.load(std::memory_order_relaxed)));
        continue;
      }
      const auto ask =
          static_cast<size_t>(Distance(block->start.Read(), needed));
      const size_t asked = taken >> Block::kAskShift;
      if (ask >= kSlots || MutableCondition(ask == asked)) return;
      // Only the holder of the lock changes the top bits.
      const auto change = static_cast<uint64_t>(ask - asked)
                          << Block::kAskShift;
      taken =
          block->taken.fetch_add(change, std::memory_order_acquire) + change;
    }
  }

  // Returns whether `block`, which `block_head_` has passed, can be freed when
  // all messages before `all_taken_before` were taken. If not, sets `needed` to
  // a later position: the call is worth repeating when all messages before
  // `needed` were taken.
  bool CanFree(Block* block, size_t all_taken_before, size_t& needed)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    needed = Advance(all_taken_before, 1);
    // Acquire pairs with the release in MoveTail.
    const uint64_t state = block->state.load(std::memory_order_acquire);
    if ((state & kReleased) == 0) {
      // Relaxed: this lock's holder has passed the block, or one before. The
      // takes of the block have acquired its pushes.
      Block* const next = block->next.load(std::memory_order_relaxed);
      // If not, a push is in the middle of the same step.
      if (!Chain::MoveTail(block, next)) return false;
    }
    const size_t pushes = block->pushes_before.Read();
    const size_t claims = block->claims_before.Read();
    const bool has_pushes = Distance(all_taken_before, pushes) > 0;
    const bool has_claims = Distance(all_taken_before, claims) > 0;
    if (MutableCondition(has_pushes) || MutableCondition(has_claims)) {
      needed = Distance(pushes, claims) > 0 ? claims : pushes;
      return false;
    }
    return true;
  }

  // Reuses `block`, which no other thread can reach.
  void Recycle(Block* block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // Relaxed, in all cases: Append publishes the block.
    block->state.store(0, std::memory_order_relaxed);
    block->next.store(nullptr, std::memory_order_relaxed);
    block->taken.store(Block::kAskForFirst, std::memory_order_relaxed);
    // The lock keeps the block to which `block_tail_` points.
    Chain::AppendSpare(block);
  }

  // ---- Changed by senders, like the members of the chain.
  // The first block ever. Used only while one of the other pointers is null.
  Atomic<Block*> first_{nullptr};

  // ---- Changed under the lock, about once for a block, and read by receivers.
  // Null before a block was taken in full.
  alignas(ABSL_CACHELINE_SIZE) Atomic<Block*> block_head_{nullptr};
  // No thread visits a block before this one.
  Block* oldest_ ABSL_GUARDED_BY(mu_) = nullptr;
};

}  // namespace rouse::mpmc::internal

#endif  // ROUSE_SYNC_MPMC_QUEUE_H_

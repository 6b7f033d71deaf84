// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: queue.h
// -----------------------------------------------------------------------------
//
// The queue of a channel with several receivers. Any number of threads push and
// take. The queue counts the messages that are ready, and whoever calls the
// queue hands this many permits to the receivers. Internal to `sync/`.
//
//   size_t ready = queue.Push(std::move(value));       // kRefused if closed
//   messages.Release(ready);                           // a SemaphoreCore
//
//   if (!messages.TryAcquire(1)) ...                   // nothing to take yet
//   size_t position = queue.Claim(1);
//   if (queue.CountBeforeEnd(position, 1) == 0) ...    // the end
//   T value = queue.Take(position);
//
// # The protocol
//
// A push claims a position, and makes its slot ready: see block_chain.h. Pushes
// may finish in any order, but receivers must not claim a slot that is not
// ready. Therefore the messages are counted in order: the *ready prefix* are
// the positions before the first position that is not ready. The push that
// fills the gap at the end of the prefix extends the prefix over all ready
// slots behind the gap, and reports their number.
//
// Further bits of the `state` of a block:
//
//   kOpen          all blocks before this block are ready in full, so the
//                  prefix ends in this block, or behind it
//   the top bits   the number of slots before the end of the channel, if the
//                  channel ends in this block or right behind it; 0 otherwise
//
//   From         To          By
//   not open     open        the push that extends the prefix up to this block.
//                            The first block is open from the start.
//   no end       an end      Close(), in the block of the last position
//
// The steps are read-modify-writes of one word. The last step of those that
// make the prefix longer sees all the others: a ready bit in an open block, if
// the bits below are set; or the opening of a block whose first bits are set.
// Its thread therefore counts each position exactly once. The end counts as
// kEndPermits further messages. The last of the end bits, kOpen and the ready
// bits before the end reports them, by the same argument.
//
// A receiver takes a permit, and only then claims a position at `head_`. Each
// claim is a read-modify-write that acquires and releases, so the k-th claim
// sees k permits taken. Until the end is reported, these permits come from at
// least k messages in the prefix. The position is therefore ready, and visible
// to the receiver. A claim at or behind `end_` has seen that the end was
// reported, and has no message.
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
// block before. (The exception is a block from which `block_tail_` was not
// moved, because a push was slow. The next push moves it, and the take of that
// push calls `Reclaim()`.)
//
// The last access of a push to a block comes before the report of its own
// position, and the last access of a receiver is its `taken` bit, except in
// `Reclaim()` and `Close()`, which hold the lock.

#ifndef ROUSE_SYNC_MPMC_QUEUE_H_
#define ROUSE_SYNC_MPMC_QUEUE_H_

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/base/mutable_step.h"
#include "rouse/sync/internal/block_chain.h"

namespace rouse::mpmc::internal {

#ifdef ROUSE_MODEL
inline constexpr size_t kBlockSlots = 2;
#else
inline constexpr size_t kBlockSlots = 32;
#endif

// The number of permits that stand for the end. Each receive after the last
// message uses one, so the number is practically infinite.
inline constexpr size_t kEndPermits = size_t{1} << 58;

// The result of a push into a closed queue.
inline constexpr size_t kRefused = std::numeric_limits<size_t>::max();

// A block of a queue.
template <class T, size_t kCount>
struct QueueBlock : rouse::internal::ChainedBlock<QueueBlock<T, kCount>> {
  using rouse::internal::ChainedBlock<QueueBlock>::ChainedBlock;

  static constexpr size_t kSlots = kCount;
  // The top bits of `taken` begin here.
  static constexpr int kAskShift = 58;
  static constexpr uint64_t kAskForFirst = uint64_t{1} << kAskShift;

  // Guarded by the lock of the queue.
  Cell<size_t> claims_before;
  // Changed by receivers only.
  Atomic<uint64_t> taken{kAskForFirst};
  Cell<rouse::internal::MessageSlot<T>> slots[kSlots];
};

// Queue
//
// Thread-safe, except for the destructor. If memory runs out the program ends,
// because a claimed position cannot be given back. No function throws.
template <class T, size_t kSlots = kBlockSlots>
class Queue : private rouse::internal::BlockChain<QueueBlock<T, kSlots>> {
  static_assert(
      std::is_nothrow_move_constructible_v<T> &&
          std::is_nothrow_destructible_v<T>,
      "the move constructor and the destructor of a message must not throw");

  using Block = QueueBlock<T, kSlots>;
  using Chain = rouse::internal::BlockChain<Block>;
  using Chain::kAllSlots;
  using Chain::kNoMore;
  using Chain::kPosition;
  using Chain::kReleased;
  using Chain::NextOf;
  using Chain::SlotBit;
  using Chain::tail_;

 public:
  Queue() = default;
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

  // ---- For senders. The numbers that these functions return are permits,
  // which the caller must release to the receivers.

  // Appends `value`. Returns the number of messages that are ready now and were
  // not before, or kRefused, leaving `value` alone, if the queue was closed.
  size_t Push(T&& value) noexcept {
    // Acquire pairs with the release in FindFrom: a push that claims a position
    // after that step sees where `block_tail_` was before the step. Acquire
    // also pairs with the release in Close.
    const uint64_t tail = tail_.fetch_add(kPosition, std::memory_order_acquire);
    if (ABSL_PREDICT_FALSE((tail & kNoMore) != 0)) return kRefused;
    const size_t position = tail / kPosition;
    const size_t slot = position % kSlots;
    Block* const block = Find(position - slot);
    std::construct_at(&block->slots[slot].Write().value, std::move(value));
    // Release pairs with the acquire of the push that counts this slot: the
    // same step of another push, or the step in Extend. Acquire: if this push
    // counts other slots, it hands on their contents.
    const uint64_t before =
        block->state.fetch_or(SlotBit(slot), std::memory_order_acq_rel);
    if (!IsOpen(before) || FirstSlots(before) != slot) return 0;
    return Extend(block, before | SlotBit(slot), slot);
  }

  // Called when no more pushes will come, by a caller that sees all of them.
  size_t SendersAreGone() noexcept {
    // Relaxed: the permits hand everything on.
    const uint64_t tail = tail_.fetch_or(kNoMore, std::memory_order_relaxed);
    if ((tail & kNoMore) != 0) return 0;  // Close() has reported the end
    SetEnd(tail / kPosition);
    return kEndPermits;
  }

  // ---- For receivers.

  // Makes pushes that begin from now on do nothing. Returns a number of
  // permits, as the functions for senders do.
  size_t Close() noexcept {
    // Release pairs with the acquire of Push: a refused push sees everything
    // before the close.
    const uint64_t tail = tail_.fetch_or(kNoMore, std::memory_order_release);
    if ((tail & kNoMore) != 0) return 0;
    const size_t end = tail / kPosition;
    SetEnd(end);
    if (end == 0) return kEndPermits;
    const size_t slots = (end - 1) % kSlots + 1;
    // The lock keeps the blocks of the search, even if their messages are taken
    // meanwhile. No push reaches a block behind the last position, so
    // `block_tail_` does not pass the block of that position.
    const BriefLockHolder lock(mu_);
    // Acquire and release: as in Push.
    const uint64_t before = Find(end - slots)
                                ->state.fetch_or(uint64_t{slots} << kEndShift,
                                                 std::memory_order_acq_rel);
    // The search may have released blocks, and no other push will come for
    // which `Reclaim()` could wait.
    ReclaimLocked();
    return IsOpen(before) && FirstSlots(before) == slots ? kEndPermits : 0;
  }

  // Claims `n` positions for a caller with `n` permits. Returns the first.
  size_t Claim(size_t n) noexcept {
    // Acquire and release: each claim sees what the claims before have seen.
    // Acquire also pairs with the release in Reclaim.
    return head_.fetch_add(n, std::memory_order_acq_rel);
  }

  // Returns how many of `n` claimed positions are before the end.
  size_t CountBeforeEnd(size_t position, size_t n) const {
    // Relaxed: the claim of a position behind the end has acquired the end.
    const size_t end = end_.load(std::memory_order_relaxed);
    if (ABSL_PREDICT_TRUE(position + n <= end)) return n;
    return position < end ? end - position : 0;
  }

  // Passes the messages at `n` claimed positions to `consume(T&&)`, one after
  // another. `consume` must not throw. REQUIRES: the positions are before the
  // end.
  template <class Consume>
  void Take(size_t position, size_t n, Consume consume) noexcept {
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
      // more.
      const uint64_t before =
          block->taken.fetch_or(bits, std::memory_order_release);
      if (ABSL_PREDICT_FALSE(MustReclaim(before, bits))) Reclaim();
      block = next;
    }
  }

  // Returns the number of messages that are in the queue or are being pushed.
  size_t size() const {
    // Acquire pairs with the release of Claim: the pushes of the claimed
    // positions are visible, so the tail is not behind the head. A queue that
    // seems empty has been empty in between.
    const size_t head = head_.load(std::memory_order_acquire);
    const size_t end = PushedEnd();
    return end > head ? end - head : 0;
  }

  // Returns the position behind all pushes that have begun before the call.
  size_t PushedEnd() const {
    // Relaxed, in both cases: a caller sees its own pushes, and those that
    // happened before the call.
    return std::min<size_t>(tail_.load(std::memory_order_relaxed) / kPosition,
                            end_.load(std::memory_order_relaxed));
  }
  // Returns the position behind all claims that are visible to the caller.
  size_t ClaimedEnd() const {
    // Relaxed: a caller that counts waiters after this step takes the lock of
    // the waiters. A counted waiter makes its claim after it has taken the same
    // lock, so its claim happens after this step, and is not visible here.
    return head_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr uint64_t kOpen = uint64_t{1} << 32;
  static constexpr int kEndShift = 58;

  // Returns the number of slots before the first whose bit is not set.
  static size_t FirstSlots(uint64_t word) {
    return std::countr_one(word & kAllSlots);
  }
  static bool IsOpen(uint64_t state) { return (state & kOpen) != 0; }
  // Returns whether a take that has added `bits` to the value `taken` must call
  // `Reclaim()`.
  static bool MustReclaim(uint64_t taken, uint64_t bits) {
    const size_t slots = FirstSlots(taken | bits);
    const size_t asked = taken >> Block::kAskShift;
    return slots == kSlots || (slots >= asked && FirstSlots(taken) < asked);
  }

  void SetEnd(size_t end) {
    // Relaxed: the permits that stand for the end hand this on.
    end_.store(end, std::memory_order_relaxed);
  }

  // Extends the prefix, which ended before slot `from` of `block`, over the
  // ready slots from there on. `state` is the state of the block. Returns the
  // number of permits. The caller has not reported the position at `from`, so
  // none of the blocks can be freed.
  static size_t Extend(Block* block, uint64_t state, size_t from) {
    size_t ready = 0;
    for (;;) {
      const size_t to = FirstSlots(state);
      ready += to - from;
      if (ABSL_PREDICT_FALSE(state >> kEndShift != 0) &&
          to == state >> kEndShift) {
        return ready + kEndPermits;
      }
      if (ABSL_PREDICT_TRUE(to < kSlots)) return ready;
      block = NextOf(block);
      // Acquire and release: as in Push.
      state = block->state.fetch_or(kOpen, std::memory_order_acq_rel);
      from = 0;
    }
  }

  Block* Find(size_t start) {
    return Chain::Find(start, [this] { return First(); });
  }

  // Returns the block of a claimed position. The position is ready, so all
  // blocks up to this block exist, and none is made.
  Block* FindClaimed(size_t start) {
    // Relaxed: a caller that has a permit sees all pushes before its position,
    // and so all blocks before.
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
    auto* const made = new Block(0, kOpen);
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
    ReclaimLocked();
  }

  void ReclaimLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // Relaxed: written under the lock.
    Block* block = block_head_.load(std::memory_order_relaxed);
    if (block == nullptr) block = oldest_ = First();
    // Acquire, here and below, pairs with the releases of Take: the messages
    // are used no more.
    uint64_t taken = block->taken.load(std::memory_order_acquire);
    while (FirstSlots(taken) == kSlots) {
      // Acquire pairs with the release of Append.
      Block* const next = block->next.load(std::memory_order_acquire);
      if (next == nullptr) break;  // the end is behind this block
      // Relaxed: the next step publishes it, to claims that must see it.
      block_head_.store(next, std::memory_order_relaxed);
      // Release pairs with the acquire of Claim: a claim after this step begins
      // its search at `next`, or behind it. Acquire pairs with the release of
      // claims, of which those behind the end have seen `end_`.
      block->claims_before.Write() =
          BeforeEnd(head_.fetch_add(0, std::memory_order_acq_rel));
      block = next;
      taken = block->taken.load(std::memory_order_acquire);
    }
    while (oldest_ != block) {
      const size_t all_taken_before = block->start.Read() + FirstSlots(taken);
      size_t needed;
      if (CanFree(oldest_, all_taken_before, needed)) {
        // Relaxed: this lock's holder has passed the block above, or before.
        Recycle(std::exchange(oldest_,
                              oldest_->next.load(std::memory_order_relaxed)));
        continue;
      }
      const size_t ask = needed - block->start.Read();
      const size_t asked = taken >> Block::kAskShift;
      if (ask >= kSlots || ask == asked) return;
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
  bool CanFree(Block* block, size_t all_taken_before, size_t& needed) const {
    needed = all_taken_before + 1;
    // Acquire pairs with the release in FindFrom.
    const uint64_t state = block->state.load(std::memory_order_acquire);
    if ((state & kReleased) == 0) return false;
    // Refused pushes count, too.
    const size_t pushes = BeforeEnd(block->pushes_before.Read());
    const size_t claims = block->claims_before.Read();
    if (MutableCondition(pushes > all_taken_before) ||
        MutableCondition(claims > all_taken_before)) {
      needed = std::max(pushes, claims);
      return false;
    }
    return true;
  }

  // Returns the position behind `claimed` claims, of pushes or of takes, that
  // can visit a block: those behind the end do not.
  size_t BeforeEnd(size_t claimed) const {
    // Relaxed: if the end is not visible, a block is freed later.
    return std::min(claimed, end_.load(std::memory_order_relaxed));
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

  // ---- Changed by receivers.
  alignas(ABSL_CACHELINE_SIZE) Atomic<size_t> head_{0};
  // Null before a block was taken in full. Written under the lock.
  Atomic<Block*> block_head_{nullptr};
  // The position behind the last message, when that is known.
  Atomic<size_t> end_{std::numeric_limits<size_t>::max()};
  // No thread visits a block before this one.
  Block* oldest_ ABSL_GUARDED_BY(mu_) = nullptr;
  BriefLock mu_;
};

}  // namespace rouse::mpmc::internal

#endif  // ROUSE_SYNC_MPMC_QUEUE_H_

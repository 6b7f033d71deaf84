// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: queue.h
// -----------------------------------------------------------------------------
//
// The queue of a channel. Any number of threads push; one thread pops and can
// wait. Internal to `sync/`.
//
//   if (queue.Push(std::move(value)) == PushResult::kWake) waker.Wake();
//
//   if (queue.HasFront()) return queue.Pop();
//   waker.Register(cx.waker());
//   if (!queue.Watch()) return kPending;
//
// # The protocol
//
// A push claims a position, and makes its slot ready: see block_chain.h.
//
// The first block is made by the first push. Until then, `first_` says whether
// the receiver waits and whether the last sender is destroyed, as a state does
// later. A channel that is never used therefore has no block.
//
// Further bits of the state of a block:
//
//   kClosed        the last sender is destroyed: the first slot that is not
//                  ready never will be
//   the top bits   1 + the slot that the receiver waits for; 0 for none
//
//   From             To                 By
//   not ready        ready              the push that has the position, which
//                                       thereby hands the value to the receiver
//   waits for s      waits for t        the receiver, which learns in the same
//                                       step whether t is ready
//   open             closed             the last sender
//   released         all zero           the receiver, which appends the block
//                                       again
//
// The values of `first_`:
//
//   From             To                 By
//   null             kWaits             the receiver, which waits for slot 0
//   null, kWaits     kEnded             the last sender, if nothing was pushed
//   null, kWaits     the first block    a push. After kWaits, the state of the
//                                       block is "waits for 0" from the start
//
// Invariants:
//
// * A slot is written by the push that claimed its position, before the ready
//   bit is set, and read by the receiver, after that.
// * The push that makes the awaited slot ready sees that the receiver waits,
//   and is the only such push: no other push calls the waker. The receiver
//   leaves the old slot number in the word after a wait, because a slot becomes
//   ready only once.
// * Only the receiver takes blocks out of the chain. The block must be
//   released, and all positions before `pushes_before` must have been popped:
//   then no push visits the block.

#ifndef ROUSE_SYNC_MPSC_QUEUE_H_
#define ROUSE_SYNC_MPSC_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/sync/internal/block_chain.h"

namespace rouse::mpsc::internal {

#ifdef ROUSE_MODEL
inline constexpr size_t kBlockSlots = 2;
#else
inline constexpr size_t kBlockSlots = 32;
#endif

// The result of a push.
enum class PushResult : uint8_t {
  kPushed,
  kWake,    // pushed, and the receiver waits for the value: wake it
  kClosed,  // nothing was done
};

// Separates the ends of a queue: no cache line contains members of both,
// wherever the queue is.
struct QueueGap {
  char unused[ABSL_CACHELINE_SIZE - 8];
};

// A block of a queue.
template <class T>
struct QueueBlock : rouse::internal::ChainedBlock<QueueBlock<T>> {
  using rouse::internal::ChainedBlock<QueueBlock>::ChainedBlock;

  static constexpr size_t kSlots = kBlockSlots;

  Cell<rouse::internal::MessageSlot<T>> slots[kSlots];
};

// Queue
//
// A chain of blocks of messages. `Push()` is thread-safe. All other members
// except the destructor are for the receiver, unless a comment names another
// caller. A push takes two atomic operations. A pop takes none, except for one
// load when the receiver has popped all known values. If memory runs out the
// program ends, because a claimed position cannot be given back.
//
// `Gap` is a base class, whose members are between those of the chain, which
// senders change, and those that the receiver changes. The receiver changes
// `tail_` once, when it closes.
template <class T, class Gap = QueueGap>
class Queue : private rouse::internal::BlockChain<QueueBlock<T>>, public Gap {
  static_assert(
      std::is_nothrow_move_constructible_v<T> &&
          std::is_nothrow_destructible_v<T>,
      "the move constructor and the destructor of a message must not throw");
  static_assert(sizeof(Gap) >= ABSL_CACHELINE_SIZE - 8,
                "the gap must separate `block_tail_` from `head_block_`");

  using Block = QueueBlock<T>;
  using Chain = rouse::internal::BlockChain<Block>;
  using Chain::kNoMore;
  using Chain::kPosition;
  using Chain::kReleased;
  using Chain::NextOf;
  using Chain::SlotBit;
  using Chain::tail_;

 public:
  using Gap::Gap;
  Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Destroys the values that were not popped.
  ~Queue() {
    // Relaxed: no other thread uses the queue any more.
    Block* block = oldest_ != nullptr
                       ? oldest_
                       : BlockOf(first_.load(std::memory_order_relaxed));
    while (block != nullptr) {
      // Relaxed: no other thread uses the queue any more.
      const uint64_t state = block->state.load(std::memory_order_relaxed);
      for (size_t i = 0; i < kBlockSlots; ++i) {
        if ((state & SlotBit(i)) == 0 || block->start.Read() + i < head_) {
          continue;
        }
        std::destroy_at(&block->slots[i].Write().value);
      }
      // Relaxed: no other thread uses the queue any more.
      delete std::exchange(block, block->next.load(std::memory_order_relaxed));
    }
  }

  // ---- For senders.

  // Appends `value`, or leaves `value` alone if the receiver has called
  // `Close()`.
  PushResult Push(T&& value) noexcept {
    // Acquire pairs with the release in MoveTail: a push that claims a position
    // after that step sees where `block_tail_` was before the step. Acquire
    // also pairs with the release in Close.
    const uint64_t tail = tail_.fetch_add(kPosition, std::memory_order_acquire);
    if (ABSL_PREDICT_FALSE((tail & kNoMore) != 0)) return PushResult::kClosed;
    const size_t position = tail / kPosition;
    const size_t slot = position % kBlockSlots;
    Block* const block = Find(position - slot);
    std::construct_at(&block->slots[slot].Write().value, std::move(value));
    // Release pairs with the acquires of the receiver, in Check and Watch. The
    // bit is clear, so adding sets it. (Unlike an addition, an "or" whose
    // result is needed is a loop on x86, in which senders of other slots
    // interfere.)
    const uint64_t before =
        block->state.fetch_add(SlotBit(slot), std::memory_order_release);
    return WaitsFor(before, slot) ? PushResult::kWake : PushResult::kPushed;
  }

  // Called by the last sender, when it sees everything that the other senders
  // did: no more pushes will come. Returns whether the receiver must be woken.
  bool SendersAreGone() noexcept {
    // Relaxed: only the receiver is left to change the tail.
    const uint64_t tail = tail_.load(std::memory_order_relaxed);
    if ((tail & kNoMore) != 0) return false;  // the receiver knows its end
    const size_t position = tail / kPosition;
    if (position == 0) {
      // Release pairs with the acquires of the receiver, as below. The receiver
      // makes no block.
      return first_.exchange(kEnded, std::memory_order_release) == kWaits;
    }
    const size_t slot = position % kBlockSlots;
    // Release pairs with the acquires of the receiver: a receiver that sees the
    // end has seen all values, in this block and in the blocks before.
    const uint64_t before =
        Find(position - slot)
            ->state.fetch_or(kClosed, std::memory_order_release);
    return WaitsFor(before, slot);
  }

  // ---- For the receiver.

  // Returns whether there is a value to pop. Values that are being pushed do
  // not count.
  bool HasFront() {
    return ABSL_PREDICT_TRUE((seen_.Read() & SlotBit(head_ % kBlockSlots)) !=
                             0) ||
           Check();
  }

  // REQUIRES: HasFront().
  T& Front() { return head_block_->slots[head_ % kBlockSlots].Write().value; }

  // Removes the front. REQUIRES: HasFront().
  void PopFront() {
    std::destroy_at(&Front());
    ++head_;
    // The next value is in another block, and the receiver must check for that
    // block.
    if (head_ % kBlockSlots == 0) seen_.Write() = 0;
  }
  T Pop() {
    T value = std::move(Front());
    PopFront();
    return value;
  }

  // Called after a waker has been registered: makes the push of the front, or
  // the announcement of the end, report that the receiver must be woken.
  // Returns whether the front or the end is already there.
  bool Watch() noexcept {
    if (head_block_ == nullptr) {
      if (!WatchFirst()) return (seen_.Read() & kClosed) != 0;
    } else if (HasLeftBlock()) {
      EnterBlock(NextOf(head_block_));
    }
    const size_t slot = head_ % kBlockSlots;
    const uint64_t wait = WaitFor(slot);
    uint64_t seen;
    // Acquire, in both cases, pairs with the releases of Push and
    // SendersAreGone.
    if (wait == wait_) {
      seen = head_block_->state.load(std::memory_order_acquire);
    } else {
      seen =
          head_block_->state.fetch_add(wait - wait_, std::memory_order_acquire);
      wait_ = wait;
    }
    seen_.Write() = seen;
    return (seen & (SlotBit(slot) | kClosed)) != 0;
  }

  // Returns whether `Watch()` has been called for this front.
  bool IsWatching() const {
    return (head_block_ == nullptr || !HasLeftBlock()) &&
           wait_ == WaitFor(head_ % kBlockSlots);
  }

  // Returns whether there is no front and never will be, as of the last check.
  bool HasEnded() const {
    return head_ == end_ ||
           (seen_.Read() & (kClosed | SlotBit(head_ % kBlockSlots))) == kClosed;
  }

  // Makes pushes that begin from now on do nothing.
  void Close() {
    // Release pairs with the acquire of Push: a refused push sees everything
    // before the close. Relaxed otherwise: the receiver waits for the pushes
    // before the end.
    end_ = tail_.fetch_or(kNoMore, std::memory_order_release) / kPosition;
  }

  // Returns the number of values that can be popped or are being pushed.
  size_t size() const {
    // Relaxed: the number may change at once. The number is never behind
    // `head_`, because the receiver has acquired from the push of each popped
    // value.
    const size_t tail = tail_.load(std::memory_order_relaxed) / kPosition;
    return (tail < end_ ? tail : end_) - head_;
  }

 private:
  static constexpr uint64_t kClosed = uint64_t{1} << 32;
  static constexpr int kWaitShift = 58;

  static constexpr uint64_t WaitFor(size_t slot) {
    return uint64_t{slot + 1} << kWaitShift;
  }
  static bool WaitsFor(uint64_t state, size_t slot) {
    return state >> kWaitShift == slot + 1;
  }

  // Values of `first_` that are not blocks, and neither is null.
  static constexpr uintptr_t kWaits = 1;
  static constexpr uintptr_t kEnded = 2;

  // Returns the block that is the value of `first_`, or null.
  static Block* BlockOf(uintptr_t first) {
    return first <= kEnded ? nullptr : reinterpret_cast<Block*>(first);
  }

  Block* Find(size_t start) {
    return Chain::Find(start, [this] { return First(); });
  }

  // Returns the first block, and makes the block if there is none. Called by a
  // push that has found no block in `block_tail_`.
  Block* First() {
    // Acquire, here and if the exchange fails, pairs with the release of the
    // exchange: the block is fully constructed.
    uintptr_t first = first_.load(std::memory_order_acquire);
    if (Block* const block = BlockOf(first)) return block;
    auto* const made = new Block(0, first == kWaits ? WaitFor(0) : 0);
    // Release pairs with the acquires of the threads that visit the block.
    while (!first_.compare_exchange_strong(
        first, reinterpret_cast<uintptr_t>(made), std::memory_order_release,
        std::memory_order_acquire)) {
      if (Block* const block = BlockOf(first)) {
        delete made;
        return block;
      }
      // The receiver has begun to wait. Relaxed: the exchange publishes the
      // block.
      made->state.store(WaitFor(0), std::memory_order_relaxed);
    }
    return made;
  }

  // Like `Watch()`, before the receiver has entered a block. Returns whether
  // the receiver has entered the first block. If not, notes in `seen_` whether
  // the senders are destroyed.
  bool WatchFirst() noexcept {
    uintptr_t first = 0;
    // Relaxed: a push only needs the value kWaits.
    if (first_.compare_exchange_strong(first, kWaits, std::memory_order_relaxed,
                                       std::memory_order_relaxed)) {
      wait_ = WaitFor(0);
      return false;
    }
    // Acquire pairs with the releases of First and SendersAreGone.
    first = first_.load(std::memory_order_acquire);
    if (Block* const block = BlockOf(first)) {
      EnterBlock(block);
      return true;
    }
    if (first == kEnded) seen_.Write() = kClosed;
    return false;
  }

  // Returns whether the front is in a block after `head_block_`.
  // REQUIRES: the receiver has entered a block.
  bool HasLeftBlock() const {
    return head_ % kBlockSlots == 0 && head_block_->start.Read() != head_;
  }

  // Checks again whether the front is ready.
  ABSL_ATTRIBUTE_NOINLINE bool Check() {
    if (head_block_ == nullptr) {
      // Acquire pairs with the releases of First and SendersAreGone.
      const uintptr_t first = first_.load(std::memory_order_acquire);
      if (first == kEnded) seen_.Write() = kClosed;
      Block* const block = BlockOf(first);
      if (block == nullptr) return false;
      EnterBlock(block);
    } else if (HasLeftBlock()) {
      // Acquire pairs with the release of Append: the block is fully
      // constructed.
      Block* const next = head_block_->next.load(std::memory_order_acquire);
      if (next == nullptr) return false;
      EnterBlock(next);
    }
    // Acquire pairs with the releases of Push and SendersAreGone.
    const uint64_t seen = head_block_->state.load(std::memory_order_acquire);
    seen_.Write() = seen;
    return (seen & SlotBit(head_ % kBlockSlots)) != 0;
  }

  void EnterBlock(Block* block) {
    if (head_block_ == nullptr) {
      // `wait_` stays: the block was made with the wait.
      head_block_ = oldest_ = block;
      return;
    }
    head_block_ = block;
    wait_ = 0;
    while (oldest_ != head_block_) {
      // Acquire pairs with the release of MoveTail.
      const uint64_t state = oldest_->state.load(std::memory_order_acquire);
      if ((state & kReleased) == 0 || oldest_->pushes_before.Read() > head_) {
        return;
      }
      // Relaxed: the receiver has already passed this block.
      Recycle(std::exchange(oldest_,
                            oldest_->next.load(std::memory_order_relaxed)));
    }
  }

  // Reuses `block`, which no other thread can reach.
  void Recycle(Block* block) {
    // Relaxed, in both cases: Append publishes the block.
    block->state.store(0, std::memory_order_relaxed);
    block->next.store(nullptr, std::memory_order_relaxed);
    Chain::AppendSpare(block);
  }

  // ---- The receiver's members, except for `first_`, which changes at most
  // twice.

  Block* head_block_ = nullptr;  // of `head_`, or before it
  size_t head_ = 0;              // the position of the front
  // The state of the block of the front, as of the last check. The copy may be
  // older than the state, but is never wrong, because bits are not taken back.
  // In a cell, so that models detect concurrent receivers.
  Cell<uint64_t> seen_;
  // The top bits of the state of `head_block_`, or of the first block, which
  // does not exist yet.
  uint64_t wait_ = 0;
  size_t end_ = std::numeric_limits<size_t>::max();  // after `Close()`
  Block* oldest_ = nullptr;  // no thread visits a block before this one
  Atomic<uintptr_t> first_{0};
};

}  // namespace rouse::mpsc::internal

#endif  // ROUSE_SYNC_MPSC_QUEUE_H_

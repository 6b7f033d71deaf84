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
// Values are in a chain of blocks of `kBlockSlots` slots. Positions count from
// 0. Position p is slot p % kBlockSlots of the block that starts at p - p %
// kBlockSlots. A push claims a position at `tail_`, finds or appends the block
// of the position, in a search from `block_tail_`, writes the slot and sets the
// ready bit of the slot.
//
// The first block is made by the first push. Until then, `first_` says whether
// the receiver waits and whether the last sender is destroyed, as a state does
// later. A channel that is never used therefore has no block.
//
// The state of a block:
//
//   bits 0 .. 31   the slots that are ready
//   kClosed        the last sender is destroyed: the first slot that is not
//                  ready never will be
//   kReleased      no push that begins from now on visits this block
//   the top bits   1 + the slot that the receiver waits for; 0 for none
//
//   From             To                 By
//   not ready        ready              the push that has the position, which
//                                       thereby hands the value to the receiver
//   waits for s      waits for t        the receiver, which learns in the same
//                                       step whether t is ready
//   open             closed             the last sender
//   linked           released           the push that moved `block_tail_` past
//                                       the block
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
// * `block_tail_` never passes a block with a slot that is not ready. Therefore
//   no push finds its block behind `block_tail_`.
// * Only the receiver takes blocks out of the chain. The block must be
//   released, and all positions that were claimed before the release,
//   `claimed_before`, must have been popped. A push that claims a position
//   later begins at a later block: it acquires the tail from the step that read
//   `claimed_before`, which comes after the move of `block_tail_`. A push that
//   claimed a position earlier has made the slot ready, which is its last step
//   here.
// * A push reads `first_` only if `block_tail_` was null after the push claimed
//   its position. By the last invariant, the first block is then still in the
//   chain.

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
struct QueueBlock {
  union Slot {
    Slot() {}
    ~Slot() {}
    T value;
  };

  QueueBlock(size_t position, uint64_t initial_state)
      : state(initial_state), start(position) {}

  Atomic<uint64_t> state;
  Atomic<QueueBlock*> next{nullptr};
  // Written before the block is appended.
  Cell<size_t> start;
  // Written before kReleased is set, by the same thread.
  Cell<size_t> claimed_before;
  Cell<Slot> slots[kBlockSlots];
};

// The members of a queue that senders change. The receiver changes `tail_`
// once, when it closes.
template <class T>
class QueueTail {
 protected:
  Atomic<uint64_t> tail_{0};
  // Null before the first push.
  Atomic<QueueBlock<T>*> block_tail_{nullptr};
};

// Queue
//
// A chain of blocks of messages. `Push()` is thread-safe. All other members
// except the destructor are for the receiver, unless a comment names another
// caller. A push takes two atomic operations. A pop takes none, except for one
// load when the receiver has popped all known values. If memory runs out the
// program ends, because a claimed position cannot be given back.
//
// `Gap` is a base class, whose members are between those that senders change
// and those that the receiver changes.
template <class T, class Gap = QueueGap>
class Queue : private QueueTail<T>, public Gap {
  static_assert(
      std::is_nothrow_move_constructible_v<T> &&
          std::is_nothrow_destructible_v<T>,
      "the move constructor and the destructor of a message must not throw");
  static_assert(sizeof(Gap) >= ABSL_CACHELINE_SIZE - 8,
                "the gap must separate `block_tail_` from `head_block_`");

  using Block = QueueBlock<T>;
  using QueueTail<T>::tail_;
  using QueueTail<T>::block_tail_;

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
        if ((state & ReadyBit(i)) == 0 || block->start.Read() + i < head_) {
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
    // Acquire pairs with the release in FindFrom: a push that claims a position
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
        block->state.fetch_add(ReadyBit(slot), std::memory_order_release);
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
    return ABSL_PREDICT_TRUE((seen_.Read() & ReadyBit(head_ % kBlockSlots)) !=
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
    return (seen & (ReadyBit(slot) | kClosed)) != 0;
  }

  // Returns whether `Watch()` has been called for this front.
  bool IsWatching() const {
    return (head_block_ == nullptr || !HasLeftBlock()) &&
           wait_ == WaitFor(head_ % kBlockSlots);
  }

  // Returns whether there is no front and never will be, as of the last check.
  bool HasEnded() const {
    return head_ == end_ ||
           (seen_.Read() & (kClosed | ReadyBit(head_ % kBlockSlots))) ==
               kClosed;
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
  static_assert(kBlockSlots <= 32);
  static constexpr uint64_t kClosed = uint64_t{1} << 32;
  static constexpr uint64_t kReleased = uint64_t{1} << 33;
  static constexpr int kWaitShift = 58;
  static constexpr uint64_t kAllReady = (uint64_t{1} << kBlockSlots) - 1;

  static constexpr uint64_t ReadyBit(size_t slot) {
    return uint64_t{1} << slot;
  }
  static constexpr uint64_t WaitFor(size_t slot) {
    return uint64_t{slot + 1} << kWaitShift;
  }
  static bool WaitsFor(uint64_t state, size_t slot) {
    return state >> kWaitShift == slot + 1;
  }

  // A bit of `tail_`: the receiver accepts no more values.
  static constexpr uint64_t kNoMore = 1;
  static constexpr uint64_t kPosition = 2;

  // Values of `first_` that are not blocks, and neither is null.
  static constexpr uintptr_t kWaits = 1;
  static constexpr uintptr_t kEnded = 2;

  // Returns the block that is the value of `first_`, or null.
  static Block* BlockOf(uintptr_t first) {
    return first <= kEnded ? nullptr : reinterpret_cast<Block*>(first);
  }

  // Returns the block with the first position `start`. The caller has claimed a
  // position in the block.
  Block* Find(size_t start) {
    // Acquire pairs with the release in FindFrom: the block is fully
    // constructed.
    Block* const block = block_tail_.load(std::memory_order_acquire);
    if (ABSL_PREDICT_TRUE(block != nullptr && block->start.Read() == start)) {
      return block;
    }
    return FindFrom(block, start);
  }

  ABSL_ATTRIBUTE_NOINLINE Block* FindFrom(Block* block, size_t start) {
    bool moves_tail = true;
    if (block == nullptr) {
      block = First();
      if (start == 0) {
        // Release pairs with the acquire of Find. A store is enough: until this
        // push has made its slot ready, `block_tail_` does not pass the block.
        block_tail_.store(block, std::memory_order_release);
        return block;
      }
      moves_tail = false;
    }
    do {
      Block* const next = NextOf(block);
      // Acquire pairs with the releases of Push, as the comment below says. The
      // owners of these slots have found the block.
      moves_tail = moves_tail && (block->state.load(std::memory_order_acquire) &
                                  kAllReady) == kAllReady;
      if (moves_tail) {
        Block* expected = block;
        // Release pairs with the acquire of Find. Relaxed on failure: another
        // push has moved `block_tail_`, and continues to move it.
        moves_tail = block_tail_.compare_exchange_strong(
            expected, next, std::memory_order_release,
            std::memory_order_relaxed);
      }
      if (moves_tail) {
        // Release pairs with the acquire of Push; see the comment there.
        block->claimed_before.Write() =
            tail_.fetch_add(0, std::memory_order_release) / kPosition;
        // Release pairs with the acquire of EnterBlock, which reads
        // `claimed_before`, and passes on everything that the pushes into the
        // block released. A store is enough: the only other possible change is
        // the receiver's wait for a slot, and all slots are ready.
        block->state.store(kAllReady | kReleased, std::memory_order_release);
      }
      block = next;
    } while (block->start.Read() != start);
    return block;
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

  // Returns the block after `block`, and appends a block if there is none.
  static Block* NextOf(Block* block) {
    // Acquire pairs with the release of Append: the block is fully constructed.
    Block* next = block->next.load(std::memory_order_acquire);
    if (ABSL_PREDICT_TRUE(next != nullptr)) return next;
    auto* const appended = new Block(0, 0);
    next = Append(block, appended);
    if (next == nullptr) return appended;
    // Another push was quicker. The new block is kept for later.
    Block* last = next;
    for (int tries = 0; tries < kAppendTries; ++tries) {
      last = Append(last, appended);
      if (last == nullptr) return next;
    }
    delete appended;
    return next;
  }

  // Makes `appended` the block after `last` and returns null, if `last` has no
  // next block. Otherwise returns the next block of `last`.
  static Block* Append(Block* last, Block* appended) {
    appended->start.Write() = last->start.Read() + kBlockSlots;
    Block* next = nullptr;
    // Release pairs with the acquires of the threads that visit the block: the
    // block is fully constructed. Acquire, on failure, pairs with the same
    // release.
    last->next.compare_exchange_strong(
        next, appended, std::memory_order_release, std::memory_order_acquire);
    return next;
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
    return (seen & ReadyBit(head_ % kBlockSlots)) != 0;
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
      // Acquire pairs with the release of FindFrom.
      const uint64_t state = oldest_->state.load(std::memory_order_acquire);
      if ((state & kReleased) == 0 || oldest_->claimed_before.Read() > head_) {
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
    // Acquire pairs with the release in FindFrom: the block is fully
    // constructed.
    Block* last = block_tail_.load(std::memory_order_acquire);
    for (int tries = 0; tries < kAppendTries; ++tries) {
      last = Append(last, block);
      if (last == nullptr) return;
    }
    delete block;
  }

  // Number of attempts to append a spare block, each attempt a block further.
  // If more blocks are ahead, the chain has enough blocks, and the spare block
  // is deleted.
  static constexpr int kAppendTries = 3;

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

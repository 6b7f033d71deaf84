// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: queue.h
// -----------------------------------------------------------------------------
//
// The queue of a channel: any number of threads push, one pops and may wait.
// Internal to `sync/`.
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
// 0; position p is slot p % kBlockSlots of the block that starts at p minus
// that. A push claims a position at `tail_`, finds or appends its block, starts
// to look at `block_tail_`, writes its slot and sets the slot's ready bit.
//
// The state of a block:
//
//   bits 0 .. 31   the slots that are ready
//   kClosed        the last sender has gone: the first slot that is not ready
//                  never will be
//   kReleased      no push that begins from now on comes by this block
//   the top bits   1 + the slot that the receiver waits for; 0 for none
//
//   From             To                 By
//   not ready        ready              the push that has the position, which
//                                       thereby hands the value to the receiver
//   waits for s      waits for t        the receiver, which learns in the same
//                                       step whether t is ready
//   open             closed             the last sender
//   linked           released           who has moved `block_tail_` past it
//   released         all zero           the receiver, which appends it anew
//
// Invariants:
//
// * A slot is written by the push that claimed its position, before the ready
//   bit, and read by the receiver, after it.
// * Whoever makes ready the slot that the receiver waits for sees that it does,
//   and is the only one: nobody else calls the waker. The receiver leaves what
//   it has waited for in the word, since a slot becomes ready only once.
// * `block_tail_` never passes a block that has a slot which is not ready. So
//   no push finds its block behind it.
// * Only the receiver takes blocks out of the chain, when they are released,
// and
//   all positions claimed before the release, `claimed_before`, have been
//   popped. Who claims one later begins at a later block: it acquires the tail
//   from the step, after the move of `block_tail_`, that read `claimed_before`.
//   Who claimed one earlier has made it ready, its last step here.

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

// What a push has come to.
enum class PushResult : uint8_t {
  kPushed,
  kWake,    // pushed, and the receiver waits for it: wake it
  kClosed,  // nothing was done
};

// Queue
//
// `Push()` is thread-safe. All else but the destructor is for the receiver, or
// says for whom it is. A push is two atomic operations, and a pop none, but for
// one load where the receiver has caught up with what it knows. Where memory
// runs out the program ends: a position that was claimed cannot be given back.
template <class T>
class Queue {
  static_assert(std::is_nothrow_move_constructible_v<T> &&
                    std::is_nothrow_destructible_v<T>,
                "a message's move constructor and destructor must not throw");

 public:
  Queue() : Queue(new Block(0)) {}
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Destroys what was not popped.
  ~Queue() {
    for (Block* block = oldest_; block != nullptr;) {
      // Relaxed: everybody else has gone.
      const uint64_t state = block->state.load(std::memory_order_relaxed);
      for (size_t i = 0; i < kBlockSlots; ++i) {
        if ((state & ReadyBit(i)) == 0 || block->start.Read() + i < head_) {
          continue;
        }
        std::destroy_at(&block->slots[i].Write().value);
      }
      // Relaxed: as above.
      delete std::exchange(block, block->next.load(std::memory_order_relaxed));
    }
  }

  // ---- For senders.

  // Appends `value`, or leaves it alone if the receiver has called `Close()`.
  PushResult Push(T&& value) noexcept {
    // Acquire pairs with the release in FindFrom: who claims a position after
    // that step sees where `block_tail_` was before it. And with that in Close.
    const uint64_t tail = tail_.fetch_add(kPosition, std::memory_order_acquire);
    if (ABSL_PREDICT_FALSE((tail & kNoMore) != 0)) return PushResult::kClosed;
    const size_t position = tail / kPosition;
    const size_t slot = position % kBlockSlots;
    Block* const block = Find(position - slot);
    std::construct_at(&block->slots[slot].Write().value, std::move(value));
    // Release pairs with the acquires of the receiver, in Look and Watch.
    const uint64_t before =
        block->state.fetch_or(ReadyBit(slot), std::memory_order_release);
    return WaitsFor(before, slot) ? PushResult::kWake : PushResult::kPushed;
  }

  // By the last sender, when it sees all that the others did: there will be no
  // more pushes. Whether the receiver is to be woken.
  bool SendersAreGone() noexcept {
    // Relaxed: nobody but the receiver is left to change it.
    const uint64_t tail = tail_.load(std::memory_order_relaxed);
    if ((tail & kNoMore) != 0) return false;  // it knows its end
    const size_t position = tail / kPosition;
    const size_t slot = position % kBlockSlots;
    // Release pairs with the acquires of the receiver: who sees that there is
    // no more has seen all there was, in this block and those before.
    const uint64_t before =
        Find(position - slot)
            ->state.fetch_or(kClosed, std::memory_order_release);
    return WaitsFor(before, slot);
  }

  // ---- For the receiver.

  // Whether there is a value to pop. Those that are being pushed do not count.
  bool HasFront() {
    return ABSL_PREDICT_TRUE((seen_.Read() & ReadyBit(head_ % kBlockSlots)) !=
                             0) ||
           Look();
  }

  // REQUIRES: HasFront().
  T& Front() { return head_block_->slots[head_ % kBlockSlots].Write().value; }

  // Removes the front. REQUIRES: HasFront().
  void PopFront() {
    std::destroy_at(&Front());
    ++head_;
    // What is in a next block is to be looked for.
    if (head_ % kBlockSlots == 0) seen_.Write() = 0;
  }
  T Pop() {
    T value = std::move(Front());
    PopFront();
    return value;
  }

  // After a waker has been registered: has the push that makes the front, or
  // the end, say `kWake`. Whether there is one of the two already.
  bool Watch() noexcept {
    if (HasLeftBlock()) EnterBlock(NextOf(head_block_));
    const size_t slot = head_ % kBlockSlots;
    const uint64_t wait = WaitFor(slot);
    uint64_t seen;
    // Acquire, in both, pairs with the releases of Push and SendersAreGone.
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

  // Whether `Watch()` has been called for this front.
  bool IsWatching() const {
    return !HasLeftBlock() && wait_ == WaitFor(head_ % kBlockSlots);
  }

  // Whether there is no front, and never will be. As was seen last.
  bool HasEnded() const {
    return head_ == end_ ||
           (seen_.Read() & (kClosed | ReadyBit(head_ % kBlockSlots))) ==
               kClosed;
  }

  // Lets pushes that begin from now on do nothing.
  void Close() {
    // Release pairs with the acquire of Push: who is refused sees what came
    // before. Relaxed otherwise: what is before the end is waited for.
    end_ = tail_.fetch_or(kNoMore, std::memory_order_release) / kPosition;
  }

  // Those that can be popped and those that are being pushed.
  size_t size() const {
    // Relaxed: it may be another number at once. It is never behind `head_`:
    // who popped has acquired from the push.
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

  // Of `tail_`: the receiver wants no more.
  static constexpr uint64_t kNoMore = 1;
  static constexpr uint64_t kPosition = 2;

  union Slot {
    Slot() {}
    ~Slot() {}
    T value;
  };

  struct Block {
    explicit Block(size_t position) : start(position) {}

    Atomic<uint64_t> state{0};
    Atomic<Block*> next{nullptr};
    // Written before the block is appended.
    Cell<size_t> start;
    // Written by who sets kReleased, before.
    Cell<size_t> claimed_before;
    Cell<Slot> slots[kBlockSlots];
  };

  explicit Queue(Block* first)
      : block_tail_(first), head_block_(first), oldest_(first) {}

  // The block that starts at `start`, a position that the caller has claimed.
  Block* Find(size_t start) {
    // Acquire pairs with the release in FindFrom: the block is whole.
    Block* const block = block_tail_.load(std::memory_order_acquire);
    if (ABSL_PREDICT_TRUE(block->start.Read() == start)) return block;
    return FindFrom(block, start);
  }

  ABSL_ATTRIBUTE_NOINLINE Block* FindFrom(Block* block, size_t start) {
    bool moves_tail = true;
    do {
      Block* const next = NextOf(block);
      // Acquire pairs with the releases of Push, as said below. Those whose
      // slots these are have found their block.
      moves_tail = moves_tail && (block->state.load(std::memory_order_acquire) &
                                  kAllReady) == kAllReady;
      if (moves_tail) {
        Block* expected = block;
        // Release pairs with the acquire of Find. Relaxed on failure: another
        // has moved it, and goes on with that.
        moves_tail = block_tail_.compare_exchange_strong(
            expected, next, std::memory_order_release,
            std::memory_order_relaxed);
      }
      if (moves_tail) {
        // Release pairs with the acquire of Push, as is said there.
        block->claimed_before.Write() =
            tail_.fetch_add(0, std::memory_order_release) / kPosition;
        // Release pairs with the acquire of EnterBlock, which reads that, and
        // passes on what the pushes into the block released. A store: all that
        // anybody else might do is to wait for a slot that is ready.
        block->state.store(kAllReady | kReleased, std::memory_order_release);
      }
      block = next;
    } while (block->start.Read() != start);
    return block;
  }

  // The block after `block`, appended if there is none.
  static Block* NextOf(Block* block) {
    // Acquire pairs with the release of Append: the block is whole.
    Block* next = block->next.load(std::memory_order_acquire);
    if (ABSL_PREDICT_TRUE(next != nullptr)) return next;
    auto* const appended = new Block(0);
    next = Append(block, appended);
    if (next == nullptr) return appended;
    // Another was quicker. What has been made is good for later.
    Block* last = next;
    for (int tries = 0; tries < kAppendTries; ++tries) {
      last = Append(last, appended);
      if (last == nullptr) return next;
    }
    delete appended;
    return next;
  }

  // Makes `appended` the block after `last` if that has none, and gives null,
  // or else the one that it has.
  static Block* Append(Block* last, Block* appended) {
    appended->start.Write() = last->start.Read() + kBlockSlots;
    Block* next = nullptr;
    // Release pairs with the acquires of who comes by: the block is whole.
    // Acquire, on failure, pairs with the same.
    last->next.compare_exchange_strong(
        next, appended, std::memory_order_release, std::memory_order_acquire);
    return next;
  }

  // Whether the front is in a block after `head_block_`.
  bool HasLeftBlock() const {
    return head_ % kBlockSlots == 0 && head_block_->start.Read() != head_;
  }

  // Looks anew whether the front is ready.
  ABSL_ATTRIBUTE_NOINLINE bool Look() {
    if (HasLeftBlock()) {
      // Acquire pairs with the release of Append: the block is whole.
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
    head_block_ = block;
    wait_ = 0;
    while (oldest_ != head_block_) {
      // Acquire pairs with the release of FindFrom.
      const uint64_t state = oldest_->state.load(std::memory_order_acquire);
      if ((state & kReleased) == 0 || oldest_->claimed_before.Read() > head_) {
        return;
      }
      // Relaxed: the receiver has come by here.
      Recycle(std::exchange(oldest_,
                            oldest_->next.load(std::memory_order_relaxed)));
    }
  }

  // Nobody else knows `block`.
  void Recycle(Block* block) {
    // Relaxed, in both: it is Append that hands the block on.
    block->state.store(0, std::memory_order_relaxed);
    block->next.store(nullptr, std::memory_order_relaxed);
    // Acquire pairs with the release in FindFrom: the block is whole.
    Block* last = block_tail_.load(std::memory_order_acquire);
    for (int tries = 0; tries < kAppendTries; ++tries) {
      last = Append(last, block);
      if (last == nullptr) return;
    }
    delete block;
  }

  // How far from where it looks first a block is appended that is not needed
  // there. With more than these ahead, there are enough.
  static constexpr int kAppendTries = 3;

  // What senders and receiver change is kept apart.
  Atomic<uint64_t> tail_{0};
  Atomic<Block*> block_tail_;

  // ---- The receiver's.

  alignas(ABSL_CACHELINE_SIZE) Block* head_block_;  // of `head_`, or before it
  size_t head_ = 0;                                 // the position of the front
  // The state of the front's block, as of the last look. It may be older than
  // the state, but not wrong: bits are not taken back. In a cell, so that
  // models see whether one at a time is the receiver.
  Cell<uint64_t> seen_;
  uint64_t wait_ = 0;  // the top bits of the state of `head_block_`
  size_t end_ = std::numeric_limits<size_t>::max();  // after `Close()`
  Block* oldest_;  // not before any that somebody may come by
};

}  // namespace rouse::mpsc::internal

#endif  // ROUSE_SYNC_MPSC_QUEUE_H_

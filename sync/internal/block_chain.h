// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: block_chain.h
// -----------------------------------------------------------------------------
//
// The part of a channel's queue that the pushes of all kinds of channels have
// in common: the order of the messages, and the search for a slot. Internal to
// `sync/`.
//
//   uint64_t tail = tail_.fetch_add(kPosition, std::memory_order_acquire);
//   if ((tail & kNoMore) != 0) return false;
//   const size_t position = tail / kPosition;
//   const size_t slot = position % Block::kSlots;
//   Block* const block = Find(position - slot, [this] { return First(); });
//   ...                                                     // writes the slot
//   block->state.fetch_or(SlotBit(slot), std::memory_order_release);
//
// # The protocol
//
// Messages are in a chain of blocks of `kSlots` slots. Positions count from
// `kFirstPosition`, a multiple of `kSlots`. Position p is slot p % kSlots of
// the block that starts at p - p % kSlots. A push claims a position at `tail_`,
// finds or appends the block of the position, in a search from `block_tail_`,
// writes the slot, and then makes the slot ready: how, is up to the queue, and
// the base class `Tail` of the chain says which blocks are ready in full.
//
// A bit of a state is used here:
//
//   kReleased      no push that begins from now on visits this block
//
// `ChainTail` also uses the low bits: the slots that are ready. The other bits
// belong to the queue.
//
//   From         To          By
//   not ready    ready       the push that has the position
//   linked       released    the thread that moved `block_tail_` past the block
//
// Invariants:
//
// * `block_tail_` never passes a block with a slot that is not ready. Therefore
//   no push finds its block behind `block_tail_`.
// * A push that finds its block behind full blocks moves `block_tail_` past
//   them, as long as no other thread does. (Others are pushes, and threads that
//   have the lock that frees blocks.) The thread that has moved `block_tail_`
//   past a block reads `tail_`, with a read-modify-write that releases, and
//   writes the number of claimed positions into the block (`pushes_before`). A
//   push that claims a position later acquires the tail from that step, sees
//   where `block_tail_` is, and begins its search at a later block. A push that
//   claimed a position earlier does not make its slot ready until it is done
//   with its search. Therefore no push visits a released block if the messages
//   at all positions before `pushes_before` were received.
// * A push needs the first block of all only if `block_tail_` was null after
//   the push had claimed its position. By the last invariant, the first block
//   is then still in the chain.

#ifndef ROUSE_SYNC_INTERNAL_BLOCK_CHAIN_H_
#define ROUSE_SYNC_INTERNAL_BLOCK_CHAIN_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"

namespace rouse::internal {

// Room for a message, which exists while its slot is ready and was not taken.
template <class T>
union MessageSlot {
  MessageSlot() {}
  ~MessageSlot() {}
  T value;
};

// The members of a block that a chain uses. `Block` derives from this, adds the
// slots, and has their number: `kSlots`, at most 32.
template <class Block>
struct ChainedBlock {
  ChainedBlock(size_t position, uint64_t initial_state)
      : state(initial_state), start(position) {}

  Atomic<uint64_t> state;
  Atomic<Block*> next{nullptr};
  // Written before the block is appended.
  Cell<size_t> start;
  // Written before kReleased is set, by the same thread.
  Cell<size_t> pushes_before;
};

// ChainTail
//
// The tail of a chain whose blocks have a bit for each slot that is ready.
class ChainTail {
 protected:
  // A bit of `tail_`: no more values are accepted.
  static constexpr uint64_t kNoMore = 1;
  static constexpr uint64_t kPosition = 2;
  // The position of the first message.
  static constexpr size_t kFirstPosition = 0;

  // Returns the position that is `count` behind `position`.
  static size_t Advance(size_t position, size_t count) {
    return position + count;
  }

  // Returns whether all slots of `block` are ready.
  template <class Block>
  static bool IsFull(const Block& block) {
    constexpr uint64_t kAllSlots = (uint64_t{1} << Block::kSlots) - 1;
    // Acquire pairs with the releases of the pushes into the block. They have
    // found the block, and have done the store in FindFrom if they had to.
    return (block.state.load(std::memory_order_acquire) & kAllSlots) ==
           kAllSlots;
  }

  Atomic<uint64_t> tail_{0};
};

// BlockChain
//
// A base class of a queue. `Tail` has the members of `ChainTail`. If memory
// runs out the program ends, because a claimed position cannot be given back:
// call from functions that do not throw.
template <class Block, class Tail = ChainTail>
class BlockChain : public Tail {
 protected:
  static_assert(Block::kSlots <= 32);

  using Tail::kPosition;
  using Tail::Tail;
  using Tail::tail_;

  static constexpr uint64_t kAllSlots = (uint64_t{1} << Block::kSlots) - 1;
  static constexpr uint64_t kReleased = uint64_t{1} << 33;
  static constexpr uint64_t SlotBit(size_t slot) { return uint64_t{1} << slot; }

  // Returns the block with the first position `start`, which cannot be freed,
  // because the caller has claimed a position in the block, or has the lock
  // that frees blocks. `first()` returns the first block of all.
  template <class First>
  Block* Find(size_t start, First first) {
    // Acquire pairs with the releases in FindFrom and in MoveTail: the block is
    // fully constructed.
    Block* const block = block_tail_.load(std::memory_order_acquire);
    if (ABSL_PREDICT_TRUE(block != nullptr && block->start.Read() == start)) {
      return block;
    }
    return FindFrom(block, start, first);
  }

  // Returns the block after `block`, and appends a block if there is none.
  static Block* NextOf(Block* block) {
    // Acquire pairs with the release of Append: the block is fully constructed.
    Block* next = block->next.load(std::memory_order_acquire);
    if (ABSL_PREDICT_TRUE(next != nullptr)) return next;
    auto* const appended = new Block(0, 0);
    next = Append(block, appended);
    if (next == nullptr) return appended;
    // Another thread was quicker. The new block is kept for later.
    AppendSpare(next, appended);
    return next;
  }

  // Appends `spare`, which is like a new block, for later use, or deletes it if
  // the chain has enough blocks. The block to which `block_tail_` points must
  // not be freed meanwhile.
  void AppendSpare(Block* spare) {
    // Acquire pairs with the releases in FindFrom and in MoveTail: the block is
    // fully constructed.
    AppendSpare(block_tail_.load(std::memory_order_acquire), spare);
  }

  // Moves `block_tail_` past `block`, to the block after it. Returns false if
  // another thread has done so.
  // REQUIRES: all slots of `block` are ready, the caller has acquired that from
  // their pushes, and `block` cannot be freed meanwhile.
  bool MoveTail(Block* block, Block* next) {
    Block* expected = block;
    // Release pairs with the acquires of the threads that search from
    // `block_tail_`. Relaxed on failure: nothing that was read is used.
    if (!block_tail_.compare_exchange_strong(expected, next,
                                             std::memory_order_release,
                                             std::memory_order_relaxed)) {
      return false;
    }
    // Release pairs with the acquire of the claims: see the top of the file.
    block->pushes_before.Write() =
        tail_.fetch_add(0, std::memory_order_release) / kPosition;
    // Release pairs with the acquire of the thread that frees the block, which
    // reads `pushes_before`.
    block->state.fetch_or(kReleased, std::memory_order_release);
    return true;
  }

  // Null before the first push.
  Atomic<Block*> block_tail_{nullptr};

 private:
  // Number of attempts to append a spare block, each attempt a block further.
  // If more blocks are ahead, the chain has enough blocks, and the spare block
  // is deleted.
  static constexpr int kAppendTries = 3;

  template <class First>
  ABSL_ATTRIBUTE_NOINLINE Block* FindFrom(Block* block, size_t start,
                                          First first) {
    bool moves_tail = true;
    if (block == nullptr) {
      block = first();
      if (start == Tail::kFirstPosition) {
        // Release pairs with the acquire of Find. A store is enough: until this
        // push has made its slot ready, `block_tail_` does not pass the block.
        block_tail_.store(block, std::memory_order_release);
        return block;
      }
      moves_tail = false;
    }
    do {
      Block* const next = NextOf(block);
      moves_tail = moves_tail && this->IsFull(*block);
      // If not, another thread has moved `block_tail_`, and this push need not.
      moves_tail = moves_tail && MoveTail(block, next);
      block = next;
    } while (block->start.Read() != start);
    return block;
  }

  // Makes `appended` the block after `last` and returns null, if `last` has no
  // next block. Otherwise returns the next block of `last`.
  static Block* Append(Block* last, Block* appended) {
    appended->start.Write() = Tail::Advance(last->start.Read(), Block::kSlots);
    Block* next = nullptr;
    // Release pairs with the acquires of the threads that visit the block: the
    // block is fully constructed. Acquire, on failure, pairs with the same
    // release.
    last->next.compare_exchange_strong(
        next, appended, std::memory_order_release, std::memory_order_acquire);
    return next;
  }

  // Appends `spare` behind `last`, or deletes it.
  static void AppendSpare(Block* last, Block* spare) {
    for (int tries = 0; tries < kAppendTries; ++tries) {
      last = Append(last, spare);
      if (last == nullptr) return;
    }
    delete spare;
  }
};

}  // namespace rouse::internal

#endif  // ROUSE_SYNC_INTERNAL_BLOCK_CHAIN_H_

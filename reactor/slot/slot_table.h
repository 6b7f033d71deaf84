// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: slot_table.h
// -----------------------------------------------------------------------------
//
// The slots of a reactor, by index.

#ifndef ROUSE_REACTOR_SLOT_SLOT_TABLE_H_
#define ROUSE_REACTOR_SLOT_SLOT_TABLE_H_

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "rouse/base/atomic.h"
#include "rouse/reactor/slot/slot.h"

namespace rouse::reactor::internal {

// SlotTable
//
// Stores slots in chunks, each twice the size of the previous one, which are
// neither moved nor freed before the table. `Get()` therefore needs no lock. A
// slot is first touched when it is first allocated: the unused part of a chunk
// costs only address space.
//
// `Get()` is thread-safe; all other members need a lock of the caller.
class SlotTable {
 public:
  // Capacity of all chunks together.
  static constexpr uint32_t kMaxSlots = ((uint32_t{1} << 17) - 1) * 64;

  SlotTable() = default;
  SlotTable(const SlotTable&) = delete;
  SlotTable& operator=(const SlotTable&) = delete;
  ~SlotTable();

  // Returns the slot at `index`, or null if that index was never allocated.
  Slot* Get(uint32_t index) const {
    // Acquire pairs with the release by which the slot was added. The chunk was
    // added earlier, so the second load has nothing to order.
    if (index >= bound_.load(std::memory_order_acquire)) return nullptr;
    const uint32_t chunk = ChunkOf(index);
    return chunks_[chunk].load(std::memory_order_relaxed) +
           (index - FirstOf(chunk));
  }

  // Takes a slot, the most recently freed one if there is any, and sets
  // `index`. Returns null if all slots are taken or memory is exhausted. O(1).
  Slot* Allocate(uint32_t& index);

  // Gives back a slot.
  void Free(uint32_t index);

  // Withdraws a slot that must not be used again.
  void Retire() { --used_; }

  // Returns the number of slots in use.
  uint32_t used() const { return used_; }

  // Returns a bound on the index: all slots that were ever taken have a smaller
  // index. The bound changes only under the caller's lock: nothing to order.
  uint32_t bound() const { return bound_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kChunks = 17;
  static constexpr uint32_t kFirstChunk = 64;
  static constexpr uint32_t kNone = ~uint32_t{0};

  // Chunk c has kFirstChunk << c slots, and the chunks before it together have
  // the same number less kFirstChunk.
  static uint32_t ChunkOf(uint32_t index) {
    return static_cast<uint32_t>(std::bit_width(index / kFirstChunk + 1)) - 1;
  }
  static uint32_t FirstOf(uint32_t chunk) {
    return (kFirstChunk << chunk) - kFirstChunk;
  }

  Atomic<Slot*> chunks_[kChunks] = {};
  uint32_t free_ = kNone;
  uint32_t used_ = 0;
  Atomic<uint32_t> bound_{0};
};

}  // namespace rouse::reactor::internal

#endif  // ROUSE_REACTOR_SLOT_SLOT_TABLE_H_

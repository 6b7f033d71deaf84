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
// Slots are in chunks, each twice the size of the one before, that are neither
// moved nor freed before the table is. So `Get()` needs no lock. A slot is
// touched for the first time when it is first allocated: what a chunk has more
// than is used costs address space alone.
//
// `Get()` is thread-safe; all else wants a lock of the caller's.
class SlotTable {
 public:
  // What the chunks have room for.
  static constexpr uint32_t kMaxSlots = ((uint32_t{1} << 17) - 1) * 64;

  SlotTable() = default;
  SlotTable(const SlotTable&) = delete;
  SlotTable& operator=(const SlotTable&) = delete;
  ~SlotTable();

  // The slot at `index`, or null if there has been none yet.
  Slot* Get(uint32_t index) const {
    // Acquire pairs with the release by which the slot was added; that is later
    // than the addition of its chunk, so the second load has nothing to order.
    if (index >= bound_.load(std::memory_order_acquire)) return nullptr;
    const uint32_t chunk = ChunkOf(index);
    return chunks_[chunk].load(std::memory_order_relaxed) +
           (index - FirstOf(chunk));
  }

  // Takes a slot, the one freed last if there is one, and sets `index`. Null
  // where all are taken or there is no memory. O(1).
  Slot* Allocate(uint32_t& index);

  // Gives back a slot.
  void Free(uint32_t index);

  // Withdraws a slot that must not be used again.
  void Retire() { --used_; }

  // How many slots are taken.
  uint32_t used() const { return used_; }

  // All slots that were ever taken have an index less than this. Changes under
  // the caller's lock alone: nothing to order.
  uint32_t bound() const { return bound_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kChunks = 17;
  static constexpr uint32_t kFirstChunk = 64;
  static constexpr uint32_t kNone = ~uint32_t{0};

  // Chunk c has kFirstChunk << c slots, and as many less kFirstChunk are in the
  // chunks before it.
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

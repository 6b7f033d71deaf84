// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/slot/slot_table.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "rouse/base/atomic.h"
#include "rouse/reactor/slot/slot.h"

namespace rouse::reactor::internal {

SlotTable::~SlotTable() {
  for (uint32_t i = 0; i < bound(); ++i) std::destroy_at(Get(i));
  for (Atomic<Slot*>& chunk : chunks_) {
    // Relaxed: no other thread uses the table any more.
    ::operator delete(chunk.load(std::memory_order_relaxed),
                      std::align_val_t(alignof(Slot)));
  }
}

Slot* SlotTable::Allocate(uint32_t& index) {
  if (free_ != kNone) {
    index = free_;
    Slot* slot = Get(index);
    free_ = slot->next_free_;
    ++used_;
    return slot;
  }
  const uint32_t next = bound();
  if (next == kMaxSlots) return nullptr;
  const uint32_t chunk = ChunkOf(next);
  // Relaxed, here and below: changes only under the caller's lock.
  Slot* slots = chunks_[chunk].load(std::memory_order_relaxed);
  if (slots == nullptr) {
    slots = static_cast<Slot*>(
        ::operator new((size_t{kFirstChunk} << chunk) * sizeof(Slot),
                       std::align_val_t(alignof(Slot)), std::nothrow));
    if (slots == nullptr) return nullptr;
    chunks_[chunk].store(slots, std::memory_order_relaxed);
  }
  Slot* slot = std::construct_at(slots + (next - FirstOf(chunk)));
  // Release pairs with the acquire of `Get()`.
  bound_.store(next + 1, std::memory_order_release);
  ++used_;
  index = next;
  return slot;
}

void SlotTable::Free(uint32_t index) {
  Slot* slot = Get(index);
  slot->next_free_ = free_;
  free_ = index;
  --used_;
}

}  // namespace rouse::reactor::internal

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: slots.h
// -----------------------------------------------------------------------------
//
// The slots of a wheel, each a list of entries, and words that mark the
// occupied slots. Only wheel.h knows the meaning of a slot.

#ifndef ROUSE_TIMER_WHEEL_SLOTS_H_
#define ROUSE_TIMER_WHEEL_SLOTS_H_

#include <cstddef>
#include <cstdint>

#include "rouse/base/intrusive_list.h"
#include "rouse/timer/wheel/entry.h"

namespace rouse::wheel {

// Slots
//
// Holds `kWords` times 64 slots. Every operation is O(1). Not thread-safe.
template <size_t kWords>
class Slots {
 public:
  static constexpr size_t kSlots = kWords * 64;

  Slots() = default;
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  // Bit i is set if and only if slot 64 * `word` + i holds an entry.
  uint64_t occupied(size_t word) const { return occupied_[word]; }

  IntrusiveList<Entry>& operator[](size_t slot) { return slots_[slot]; }

  // Adds `entry` to the end of `slot`. REQUIRES: `entry` is in no list.
  void Insert(Entry& entry, size_t slot) {
    slots_[slot].PushBack(&entry);
    occupied_[slot / 64] |= Bit(slot);
  }

  // Unlinks `entry`, which is in a slot or in another list.
  void Remove(Entry& entry) {
    IntrusiveList<Entry>* const emptied = IntrusiveList<Entry>::Remove(&entry);
    if (emptied == nullptr) return;
    // The address of the list identifies the slot. For a list outside of
    // `slots_` the difference is too large, or wraps around and is then too
    // large.
    const size_t slot = (reinterpret_cast<uintptr_t>(emptied) -
                         reinterpret_cast<uintptr_t>(slots_)) /
                        sizeof(IntrusiveList<Entry>);
    if (slot < kSlots) OnEmptied(slot);
  }

  // Marks `slot` as empty. To be called when the list was emptied in another
  // way.
  void OnEmptied(size_t slot) { occupied_[slot / 64] &= ~Bit(slot); }

  // Appends all entries of `slot` to `list`.
  void MoveSlot(size_t slot, IntrusiveList<Entry>& list) {
    list.Append(slots_[slot]);
    OnEmptied(slot);
  }

 private:
  static uint64_t Bit(size_t slot) { return uint64_t{1} << (slot % 64); }

  uint64_t occupied_[kWords] = {};
  IntrusiveList<Entry> slots_[kSlots];
};

}  // namespace rouse::wheel

#endif  // ROUSE_TIMER_WHEEL_SLOTS_H_

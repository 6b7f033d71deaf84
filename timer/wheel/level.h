// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: level.h
// -----------------------------------------------------------------------------
//
// One hand of the clock: 64 slots, each a list of entries, and a word that says
// which of them hold any. What a slot means is known to wheel.h alone.

#ifndef ROUSE_TIMER_WHEEL_LEVEL_H_
#define ROUSE_TIMER_WHEEL_LEVEL_H_

#include <bit>
#include <cstdint>

#include "absl/base/macros.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/timer/wheel/entry.h"

namespace rouse::wheel {

// Level
//
// Every operation is O(1). Not thread-safe.
class Level {
 public:
  static constexpr int kSlots = 64;

  Level() = default;
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

  bool IsEmpty() const { return occupied_ == 0; }

  // The lowest slot that holds an entry. REQUIRES: there is one.
  int FirstOccupied() const {
    ABSL_ASSERT(!IsEmpty());
    return std::countr_zero(occupied_);
  }

  // REQUIRES: `entry` is in no list.
  void Insert(Entry& entry, int slot) {
    slots_[slot].PushBack(&entry);
    occupied_ |= Bit(slot);
  }

  // To be called when an entry that may have been in `slot` has been unlinked.
  void OnUnlinked(int slot) {
    if (slots_[slot].IsEmpty()) occupied_ &= ~Bit(slot);
  }

  // Moves all that is in `slot` behind what is in `list`.
  void MoveSlot(int slot, IntrusiveList<Entry>& list) {
    list.Append(slots_[slot]);
    occupied_ &= ~Bit(slot);
  }

 private:
  static uint64_t Bit(int slot) { return uint64_t{1} << slot; }

  // Bit i is set if and only if slots_[i] is not empty.
  uint64_t occupied_ = 0;
  IntrusiveList<Entry> slots_[kSlots];
};

}  // namespace rouse::wheel

#endif  // ROUSE_TIMER_WHEEL_LEVEL_H_

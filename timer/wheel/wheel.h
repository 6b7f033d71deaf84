// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: wheel.h
// -----------------------------------------------------------------------------
//
// A `Wheel` keeps entries by the tick at which they are due. It is a data
// structure and no more: no clock, no lock, no thread, no allocation. A tick is
// whatever its owner says.
//
//   Wheel wheel;
//   if (!wheel.Insert(alarm, 100)) Ring(alarm);    // due already
//   ...
//   for (;;) {                                     // it is tick `now`
//     const Wheel::Step step = wheel.Advance(now);
//     if (step.due != nullptr) Ring(*step.due);
//     if (!step.more) break;
//   }
//   Sleep until wheel.NextExpiration();
//
// # How it works
//
// Hashed hierarchical timing wheels (Varghese and Lauck, "Hashed and
// hierarchical timing wheels", SOSP 1987), six levels of 64 slots. A tick is
// written in base 64. An entry is at the level of the highest digit in which
// its tick differs from the present one, in the slot that this digit names:
//
//            level 5 ... 2    1    0
//   now          0   ... 7   12   61
//   when         0   ... 7   14   03        level 1, slot 14
//
// When the present comes to the beginning of a slot, its entries are spread
// over the finer levels; those of a slot of level 0 are due. So an entry moves
// at most five times, whatever its delay, once it is within reach of the
// levels.
//
// An entry's tick lies ahead and agrees with the present one in all higher
// digits, so its digit is greater than the present one: no occupied slot lies
// behind the hand, the first occupied one of a level is the next, and all of a
// level come before all of the level above. Nothing ever wraps round. (Wheels
// that put what is out of reach into a slot that has been passed let it shadow
// nearer entries: tokio #8334.)
//
// What differs in a digit above the sixth, that is, lies beyond the next
// multiple of 2^36 ticks, is in a list of its own. All of that is placed anew
// when the present comes to such a multiple, and so moves once for each.

#ifndef ROUSE_TIMER_WHEEL_WHEEL_H_
#define ROUSE_TIMER_WHEEL_WHEEL_H_

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/base/macros.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/timer/wheel/entry.h"
#include "rouse/timer/wheel/level.h"

namespace rouse::wheel {

// Wheel
//
// Not thread-safe. About 6 KiB. Must be empty when it is destroyed.
class Wheel {
 public:
  static constexpr int kLevels = 6;
  static constexpr int kBitsPerLevel = 6;
  // What lies beyond a multiple of this many ticks is kept in the overflow.
  static constexpr uint64_t kReach = uint64_t{1} << (kLevels * kBitsPerLevel);
  // A tick that does not come: what is inserted for it stays until it is
  // removed, and counts for nothing else.
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
  // How many entries one step moves to finer levels at the most.
  static constexpr int kMovesPerStep = 64;

  // What a step came to.
  struct Step {
    // An entry that is due and no longer in the wheel, or null.
    Entry* due;
    // Whether there is more to do for this `now`.
    bool more;
  };

  explicit Wheel(uint64_t now = 0) : elapsed_(now) {}
  Wheel(const Wheel&) = delete;
  Wheel& operator=(const Wheel&) = delete;

  // The present: the latest tick to which the wheel has been advanced.
  uint64_t elapsed() const { return elapsed_; }

  // Inserts `entry` for the tick `when`; false, and nothing is inserted, if
  // that is not after the present. O(1). REQUIRES: `entry` is in no wheel.
  [[nodiscard]] bool Insert(Entry& entry, uint64_t when);

  // Removes `entry`, wherever it is. Does nothing if it is not in the wheel.
  // O(1).
  void Remove(Entry& entry);

  // The tick to which the wheel should next be advanced: the present if there
  // is more to do for it, or else one after it; none if no entry will be due.
  // No entry is due before. O(1).
  std::optional<uint64_t> NextExpiration() const;

  // Takes one step towards `now` and says whether to take another. Entries come
  // out in the order of their ticks, at the step for their tick or the first
  // one after it. Between steps the wheel may be used freely. A `now` before
  // the present counts as the present.
  //
  // A step takes constant time: it takes out one entry, or moves up to
  // `kMovesPerStep`. The number of steps is that of the entries that come due
  // or move, and does not grow with the distance to `now`.
  Step Advance(uint64_t now);

  // Removes and returns any entry; null if the wheel is empty. O(1).
  Entry* PopAny();

 private:
  // A slot, and the tick at which it begins.
  struct Position {
    int level;
    int slot;
    uint64_t start;
  };

  // The digit in which the two differ; `kLevels` or more if it is above them
  // all. REQUIRES: they differ.
  static int LevelOf(uint64_t elapsed, uint64_t when) {
    return (static_cast<int>(std::bit_width(elapsed ^ when)) - 1) /
           kBitsPerLevel;
  }
  static int SlotOf(int level, uint64_t when) {
    return static_cast<int>((when >> (level * kBitsPerLevel)) &
                            (Level::kSlots - 1));
  }

  std::optional<Position> NextSlot() const;
  void Place(Entry& entry);
  void MoveSome();

  uint64_t elapsed_;
  // Due, in order, and not yet taken out.
  IntrusiveList<Entry> due_;
  // From slots that have begun, to be placed anew.
  IntrusiveList<Entry> moving_;
  // For ticks that differ from `elapsed_` above the levels' digits.
  IntrusiveList<Entry> overflow_;
  // For `kNever`.
  IntrusiveList<Entry> never_;
  Level levels_[kLevels];
};

inline bool Wheel::Insert(Entry& entry, uint64_t when) {
  ABSL_ASSERT(!entry.IsLinked());
  entry.when_ = when;
  if (when <= elapsed_) return false;
  Place(entry);
  return true;
}

inline void Wheel::Place(Entry& entry) {
  const int level = LevelOf(elapsed_, entry.when_);
  if (entry.when_ == kNever) {
    never_.PushBack(&entry);
  } else if (level >= kLevels) {
    overflow_.PushBack(&entry);
  } else {
    levels_[level].Insert(entry, SlotOf(level, entry.when_));
  }
}

inline void Wheel::Remove(Entry& entry) {
  if (!entry.IsLinked()) return;
  entry.Unlink();
  // If it was in a slot it was in this one: slots are emptied before the
  // present reaches them, so level and slot are still those of its placing. If
  // it was in a list the slot is some other, and is only looked at.
  if (entry.when_ <= elapsed_) return;
  const int level = LevelOf(elapsed_, entry.when_);
  if (level < kLevels) levels_[level].OnUnlinked(SlotOf(level, entry.when_));
}

}  // namespace rouse::wheel

#endif  // ROUSE_TIMER_WHEEL_WHEEL_H_

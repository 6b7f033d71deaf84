// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: wheel.h
// -----------------------------------------------------------------------------
//
// A `Wheel` keeps entries by the ticks at which the entries are due. It is only
// a data structure, without a clock, lock, thread or allocation. The owner
// decides the meaning of a tick.
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
// The algorithm is hashed hierarchical timing wheels (Varghese and Lauck,
// "Hashed and hierarchical timing wheels", SOSP 1987), with six levels of 64
// slots. A tick is written in base 64. The highest digit in which the entry's
// tick differs from the present tick gives the entry's level, and the value of
// the digit gives the slot:
//
//            level 5 ... 2    1    0
//   now          0   ... 7   12   61
//   when         0   ... 7   14   03        level 1, slot 14
//
// When the present comes to the beginning of a slot, the entries of the slot
// are spread over the finer levels; entries in a slot of level 0 are due. An
// entry within reach of the levels therefore moves at most five times,
// regardless of the delay.
//
// # A slot is moved ahead of its beginning
//
// Moving thousands of entries when their slot begins would take milliseconds,
// and would delay the first entry and all other work of the owner. The next
// slot of level 1 or above is therefore moved in pieces, by `Prepare()`,
// shortly before the slot begins. Entries that have not been moved by then are
// moved when the slot begins.
//
// Moving ahead needs a spare row. A row is 64 slots. A block is the range of a
// row at some level: 64 slots of the level, or one slot of the level above.
// Each level has a row for its present block. The spare row is for the next
// block of a single level, until the block begins. Then the two rows of the
// level change places, because all ticks in the other row have passed. Between
// any two calls:
//
// - An entry in a slot is due within the ticks of the slot, and the slot begins
//   after the present.
// - An entry is in the present block of its own level (the level of the highest
//   digit that differs) or, if its slot there begins at `spare_begin_`, in the
//   spare row. Nothing depends on which of the two: a removed entry leaves its
//   list by its links, and the address of a list that becomes empty says which
//   slot it is.
// - Among the present blocks, all slots of a level come before all slots of the
//   levels above. A slot of the spare row does not begin before the slot of the
//   level above from which it was moved. If several slots begin together, the
//   one of the highest level is found, and all of them are moved with it.
//   Entries therefore come out in the order of their ticks, however much of a
//   slot has been moved ahead.
//
// No slot is hidden by a slot that has been passed. (If a wheel puts entries
// beyond its reach into such a slot, these entries can hide nearer entries:
// tokio #8334.)
//
// # Beyond the levels
//
// Entries whose ticks differ in a digit above the sixth, and so lie at or
// beyond the next multiple of 2^36 ticks, are in a separate list. The whole
// list is placed again when the present comes to such a multiple, so each entry
// moves once for each multiple.

#ifndef ROUSE_TIMER_WHEEL_WHEEL_H_
#define ROUSE_TIMER_WHEEL_WHEEL_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/base/macros.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/timer/wheel/entry.h"
#include "rouse/timer/wheel/slots.h"

namespace rouse::wheel {

// Wheel
//
// Not thread-safe. Takes about 7 KiB. A wheel must be empty when it is
// destroyed.
class Wheel {
 public:
  static constexpr int kLevels = 6;
  static constexpr int kBitsPerLevel = 6;
  // Entries at or beyond the next multiple of this many ticks are kept in the
  // overflow.
  static constexpr uint64_t kReach = uint64_t{1} << (kLevels * kBitsPerLevel);
  // A tick that never comes, and the end of all ticks. An entry inserted for
  // `kNever` stays until removed, and has no other effect.
  static constexpr uint64_t kNever = (uint64_t{1} << Entry::kTickBits) - 1;
  // Maximum number of entries that a step moves to finer levels.
  static constexpr int kMovesPerStep = 64;
  // Number of entries in a slot from which `NextTurn()` asks for a turn ahead.
  static constexpr int kCrowd = 32;

  // The result of a step.
  struct Step {
    // An entry that is due and no longer in the wheel, or null.
    Entry* due;
    // True if there is more to do for this `now`.
    bool more;
  };

  explicit Wheel(uint64_t now = 0) : elapsed_(now), prepared_(now) {}
  Wheel(const Wheel&) = delete;
  Wheel& operator=(const Wheel&) = delete;

  // Returns the present: the latest tick to which the wheel has been advanced.
  uint64_t elapsed() const { return elapsed_; }

  // Inserts `entry` for the tick `when`. Returns false, and inserts nothing, if
  // `when` is not after the present. O(1). REQUIRES: `entry` is in no wheel,
  // and `when` <= `kNever`.
  [[nodiscard]] bool Insert(Entry& entry, uint64_t when);

  // Removes `entry`, whichever list of the wheel contains it. Does nothing if
  // `entry` is not in the wheel. O(1).
  void Remove(Entry& entry);

  // Returns the tick to which the wheel should next be advanced: the present if
  // there is more to do for the present, or else a later tick. Returns nothing
  // if no entry will be due. No entry is due before the returned tick. O(1).
  std::optional<uint64_t> NextExpiration() const;

  // Takes a step towards `now`, and returns whether to take another. Entries
  // come out in the order of their ticks, each at the step for its tick or for
  // the first tick thereafter. The wheel can be used freely between steps. A
  // `now` before the present counts as the present. REQUIRES: `now` < `kNever`.
  //
  // A step takes constant time: the step takes out an entry, or moves up to
  // `kMovesPerStep` entries. The number of steps is the number of entries that
  // come due or move, and does not grow with the distance to `now`.
  Step Advance(uint64_t now);

  // Moves up to `kMovesPerStep` entries of slots that begin soon to finer
  // levels: fewer entries then have to be moved when the slots begin. An owner
  // that wants this calls `Prepare()` after each turn (all steps towards some
  // `now`). Does nothing, and takes almost no time, if everything has been
  // prepared for the present. Constant time.
  void Prepare() {
    if (prepared_ != elapsed_) PrepareSome();
  }

  // Returns when an owner that calls `Prepare()` should next have a turn: at
  // `NextExpiration()`; some time before that, if many entries have to be moved
  // then; or at the present, if entries have to be moved now. O(1), and reads
  // up to `kCrowd` entries.
  std::optional<uint64_t> NextTurn();

  // Removes and returns any entry, or returns null if the wheel is empty. O(1).
  Entry* PopAny();

 private:
  // A slot of a level, counted from tick 0; or the overflow, at `kLevels`.
  struct Position {
    int level;
    uint64_t number;

    uint64_t start() const { return number << (level * kBitsPerLevel); }
  };

  static constexpr uint64_t kSlotsPerBlock = uint64_t{1} << kBitsPerLevel;

  // Returns how many ticks before the beginning a slot of `level` is prepared.
  static constexpr uint64_t Ahead(int level) {
    return (kSlotsPerBlock / 4) << (level == 1 ? 0 : kBitsPerLevel);
  }

  // Returns the highest digit in which the two ticks differ: `kLevels` or more
  // if the digit is above all levels. REQUIRES: the ticks differ.
  static int LevelOf(uint64_t elapsed, uint64_t when) {
    return (static_cast<int>(std::bit_width(elapsed ^ when)) - 1) /
           kBitsPerLevel;
  }
  static uint64_t NumberOf(int level, uint64_t when) {
    return when >> (level * kBitsPerLevel);
  }
  // Returns the index of a slot in `slots_`.
  static size_t PlaceIn(size_t row, uint64_t number) {
    return row * kSlotsPerBlock + number % kSlotsPerBlock;
  }
  // Returns the index of `slot` in `slots_`. REQUIRES: `slot` is in a present
  // block.
  size_t PlaceOf(const Position& slot) const {
    return PlaceIn(row_[slot.level], slot.number);
  }

  // Returns the first occupied slot of a present block, from `lowest_level` up.
  std::optional<Position> NextOfPresentBlocks(int lowest_level) const;
  // Returns the first occupied slot, including the block that is ahead.
  std::optional<Position> NextSlot() const;
  void SetElapsed(uint64_t now);
  // REQUIRES: `when` is the entry's tick, and after the present.
  void Place(Entry& entry, uint64_t when);
  void MoveSome();
  void PrepareSome();

  uint64_t elapsed_;
  // The present tick for which nothing is left to prepare.
  uint64_t prepared_;
  // Entries that are due, in order, and not yet taken out.
  IntrusiveList<Entry> due_;
  // Entries from begun slots, to be placed again.
  IntrusiveList<Entry> moving_;
  // Entries for ticks that differ from `elapsed_` above the levels' digits.
  IntrusiveList<Entry> overflow_;
  // Entries for `kNever`.
  IntrusiveList<Entry> never_;
  // The row of each level's present block, and the remaining row.
  uint8_t row_[kLevels] = {0, 1, 2, 3, 4, 5};
  uint8_t spare_row_ = kLevels;
  // The level whose next block is in the spare row, and the beginning of the
  // block, or `kNever` if there is no such block.
  uint8_t spare_level_ = 0;
  uint64_t spare_begin_ = kNever;
  Slots<kLevels + 1> slots_;
};

inline bool Wheel::Insert(Entry& entry, uint64_t when) {
  ABSL_ASSERT(!entry.IsLinked());
  ABSL_ASSERT(when <= kNever);
  entry.set_when(when);
  if (when <= elapsed_) return false;
  Place(entry, when);
  return true;
}

inline void Wheel::Place(Entry& entry, uint64_t when) {
  const int level = LevelOf(elapsed_, when);
  if (when == kNever) {
    never_.PushBack(&entry);
  } else if (level >= kLevels) {
    overflow_.PushBack(&entry);
  } else {
    slots_.Insert(entry, PlaceIn(row_[level], NumberOf(level, when)));
  }
}

inline void Wheel::Remove(Entry& entry) {
  if (entry.IsLinked()) slots_.Remove(entry);
}

}  // namespace rouse::wheel

#endif  // ROUSE_TIMER_WHEEL_WHEEL_H_

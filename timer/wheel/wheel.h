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
// # A slot is moved ahead of its beginning
//
// To move thousands of entries when their slot begins takes milliseconds, for
// which the first of them, and all else that the owner does, would wait. So the
// next slot of level 1 or above is moved in pieces, by `Prepare()`, shortly
// before it begins. What has not been moved by then is moved when it begins.
//
// For this there is a spare row. A row is 64 slots, and a block is what a row
// covers at some level: 64 slots of the level, or one slot of the level above.
// Each level has a row for its present block; the spare one is for the next
// block of one level, until that begins. Then the two rows of the level change
// places, as all in the other one has passed. Between any two calls:
//
// - An entry in a slot is due within the ticks of the slot, and the slot begins
//   after the present.
// - An entry is in the present block of its own level (that of the highest
//   digit that differs) or, if its slot there begins at `spare_begin_`, in the
//   spare row. Nothing depends on which: a removed entry leaves its list by its
//   links, and the slot that this empties is known by its address.
// - Of the present blocks all of a level come before all of the levels above. A
//   slot of the spare row does not begin before the slot of the level above
//   that it was moved from. Of slots that begin together, the one of the
//   highest level is found, and all are moved with it. So entries come out in
//   the order of their ticks, however much of a slot has been moved ahead.
//
// No slot is shadowed by one that has been passed. (Wheels that put what is out
// of reach into such a slot let it hide nearer entries: tokio #8334.)
//
// # Beyond the levels
//
// What differs in a digit above the sixth, that is, lies beyond the next
// multiple of 2^36 ticks, is in a list of its own. All of that is placed anew
// when the present comes to such a multiple, and so moves once for each.

#ifndef ROUSE_TIMER_WHEEL_WHEEL_H_
#define ROUSE_TIMER_WHEEL_WHEEL_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/base/macros.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/timer/wheel/entry.h"
#include "rouse/timer/wheel/slots.h"

namespace rouse::wheel {

// Wheel
//
// Not thread-safe. About 7 KiB. Must be empty when it is destroyed.
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
  // Of how many entries in a slot `NextTurn()` asks for a turn ahead.
  static constexpr int kCrowd = 32;

  // What a step came to.
  struct Step {
    // An entry that is due and no longer in the wheel, or null.
    Entry* due;
    // Whether there is more to do for this `now`.
    bool more;
  };

  explicit Wheel(uint64_t now = 0) : elapsed_(now), prepared_(now) {}
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

  // Moves up to `kMovesPerStep` entries of slots that begin soon to finer
  // levels, so that there is less to move when they begin. To be called by an
  // owner that wants this after each turn, which is all steps towards some
  // `now`. Does nothing, and takes next to no time, if that has been done for
  // the present. Constant time.
  void Prepare() {
    if (prepared_ != elapsed_) PrepareSome();
  }

  // When an owner that calls `Prepare()` should next have a turn: at
  // `NextExpiration()` or, if many entries are to be moved then, some time
  // before; at the present if there are entries to be moved now. O(1), with up
  // to `kCrowd` entries that are looked at.
  std::optional<uint64_t> NextTurn();

  // Removes and returns any entry; null if the wheel is empty. O(1).
  Entry* PopAny();

 private:
  // A slot of a level, counted from tick 0; or the overflow, at `kLevels`.
  struct Position {
    int level;
    uint64_t number;

    uint64_t start() const { return number << (level * kBitsPerLevel); }
  };

  static constexpr uint64_t kSlotsPerBlock = uint64_t{1} << kBitsPerLevel;

  // How many ticks before its beginning a slot of `level` is prepared.
  static constexpr uint64_t Ahead(int level) {
    return (kSlotsPerBlock / 4) << (level == 1 ? 0 : kBitsPerLevel);
  }

  // The digit in which the two differ; `kLevels` or more if it is above them
  // all. REQUIRES: they differ.
  static int LevelOf(uint64_t elapsed, uint64_t when) {
    return (static_cast<int>(std::bit_width(elapsed ^ when)) - 1) /
           kBitsPerLevel;
  }
  static uint64_t NumberOf(int level, uint64_t when) {
    return when >> (level * kBitsPerLevel);
  }
  // Where a slot is in `slots_`.
  static size_t PlaceIn(size_t row, uint64_t number) {
    return row * kSlotsPerBlock + number % kSlotsPerBlock;
  }
  // REQUIRES: it is in a present block.
  size_t PlaceOf(const Position& slot) const {
    return PlaceIn(row_[slot.level], slot.number);
  }

  // The first occupied slot of a present block, from `lowest_level` up.
  std::optional<Position> NextOfPresentBlocks(int lowest_level) const;
  // The same, with the block that is ahead.
  std::optional<Position> NextSlot() const;
  void SetElapsed(uint64_t now);
  void Place(Entry& entry);
  void MoveSome();
  void PrepareSome();

  uint64_t elapsed_;
  // The present for which nothing is left to prepare.
  uint64_t prepared_;
  // Due, in order, and not yet taken out.
  IntrusiveList<Entry> due_;
  // From slots that have begun, to be placed anew.
  IntrusiveList<Entry> moving_;
  // For ticks that differ from `elapsed_` above the levels' digits.
  IntrusiveList<Entry> overflow_;
  // For `kNever`.
  IntrusiveList<Entry> never_;
  // The row of each level's present block, and the one that is left.
  uint8_t row_[kLevels] = {0, 1, 2, 3, 4, 5};
  uint8_t spare_row_ = kLevels;
  // Whose next block is in the spare row, and when it begins, if any is.
  uint8_t spare_level_ = 0;
  uint64_t spare_begin_ = kNever;
  Slots<kLevels + 1> slots_;
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
    slots_.Insert(entry, PlaceIn(row_[level], NumberOf(level, entry.when_)));
  }
}

inline void Wheel::Remove(Entry& entry) {
  if (entry.IsLinked()) slots_.Remove(entry);
}

}  // namespace rouse::wheel

#endif  // ROUSE_TIMER_WHEEL_WHEEL_H_

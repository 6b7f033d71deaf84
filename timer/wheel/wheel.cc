// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/wheel/wheel.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/base/macros.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/timer/wheel/entry.h"

namespace rouse::wheel {

// The level that stands for the overflow.
static constexpr int kOverflow = Wheel::kLevels;

std::optional<Wheel::Position> Wheel::NextOfPresentBlocks(
    int lowest_level) const {
  for (int level = lowest_level; level < kLevels; ++level) {
    const uint64_t occupied = slots_.occupied(row_[level]);
    if (occupied == 0) continue;
    return Position{level, NumberOf(level + 1, elapsed_) * kSlotsPerBlock +
                               std::countr_zero(occupied)};
  }
  if (overflow_.IsEmpty()) return std::nullopt;
  // Does not overflow, because the list has an entry at or after this start.
  return Position{kOverflow, NumberOf(kOverflow, elapsed_) + 1};
}

std::optional<Wheel::Position> Wheel::NextSlot() const {
  const std::optional<Position> next = NextOfPresentBlocks(0);
  const uint64_t occupied = slots_.occupied(spare_row_);
  if (occupied == 0) return next;
  const Position ahead = {spare_level_, NumberOf(spare_level_, spare_begin_) +
                                            std::countr_zero(occupied)};
  // If both slots begin together, the slot of the higher level is chosen, which
  // is not the slot ahead.
  if (next.has_value() && next->start() <= ahead.start()) return next;
  return ahead;
}

std::optional<uint64_t> Wheel::NextExpiration() const {
  if (!due_.IsEmpty() || !moving_.IsEmpty()) return elapsed_;
  const std::optional<Position> next = NextSlot();
  if (!next.has_value()) return std::nullopt;
  return next->start();
}

Wheel::Step Wheel::Advance(uint64_t now) {
  ABSL_ASSERT(now < kNever);
  if (Entry* entry = due_.PopFront()) return {entry, true};
  if (!moving_.IsEmpty()) {
    MoveSome();
    return {nullptr, true};
  }
  const std::optional<Position> next = NextSlot();
  if (!next.has_value() || next->start() > now) {
    SetElapsed(std::max(elapsed_, now));
    return {nullptr, false};
  }
  SetElapsed(next->start());
  if (next->level == 0) {
    slots_.MoveSlot(PlaceOf(*next), due_);
    return {nullptr, true};
  }
  if (next->level == kOverflow) moving_.Append(overflow_);
  // Also moves the slots that begin with this one, because this one may have
  // been moved in part.
  for (int level = std::min(next->level, kLevels - 1); level >= 0; --level) {
    slots_.MoveSlot(PlaceOf({level, NumberOf(level, elapsed_)}), moving_);
  }
  return {nullptr, true};
}

void Wheel::SetElapsed(uint64_t now) {
  elapsed_ = now;
  if (now < spare_begin_) return;
  // The block that was ahead is now present. The previous present block is
  // empty.
  std::swap(row_[spare_level_], spare_row_);
  spare_begin_ = kNever;
}

void Wheel::MoveSome() {
  for (int i = 0; i < kMovesPerStep; ++i) {
    Entry* entry = moving_.PopFront();
    if (entry == nullptr) return;
    const uint64_t when = entry->when();
    if (when <= elapsed_) {
      due_.PushBack(entry);
    } else {
      Place(*entry, when);
    }
  }
}

void Wheel::PrepareSome() {
  int moves = kMovesPerStep;
  for (const int lowest_level : {2, 1}) {
    // When the next slot of this level or of a higher level begins.
    const uint64_t begin = (NumberOf(lowest_level, elapsed_) + 1)
                           << (lowest_level * kBitsPerLevel);
    if (begin - elapsed_ > Ahead(lowest_level)) continue;
    const int level = LevelOf(elapsed_, begin);
    if (level >= kLevels) continue;
    const size_t place = PlaceOf({level, NumberOf(level, begin)});
    IntrusiveList<Entry>& slot = slots_[place];
    if (slot.IsEmpty()) continue;
    if (spare_begin_ == kNever) {
      spare_begin_ = begin;
      spare_level_ = level - 1;
    } else if (spare_begin_ != begin) {
      continue;  // until the other block has begun
    }
    for (; !slot.IsEmpty(); --moves) {
      if (moves == 0) return;
      Entry* const entry = slot.PopFront();
      slots_.Insert(*entry,
                    PlaceIn(spare_row_, NumberOf(spare_level_, entry->when())));
    }
    slots_.OnEmptied(place);
  }
  prepared_ = elapsed_;
}

std::optional<uint64_t> Wheel::NextTurn() {
  const std::optional<uint64_t> next = NextExpiration();
  if (!next.has_value() || *next == elapsed_) return next;
  if (prepared_ != elapsed_) return elapsed_;
  const std::optional<Position> coarse = NextOfPresentBlocks(1);
  if (!coarse.has_value() || coarse->level == kOverflow) return next;
  if (spare_begin_ != kNever && spare_begin_ != coarse->start()) return next;
  const uint64_t ahead =
      std::max(coarse->start() - Ahead(coarse->level), elapsed_);
  if (ahead >= *next || !slots_[PlaceOf(*coarse)].HasAtLeast(kCrowd)) {
    return next;
  }
  // The entries were inserted after the last `Prepare()`.
  if (ahead == elapsed_) prepared_ = kNever;
  return ahead;
}

Entry* Wheel::PopAny() {
  if (Entry* entry = due_.PopFront()) return entry;
  if (Entry* entry = moving_.PopFront()) return entry;
  for (size_t row = 0; row <= kLevels && moving_.IsEmpty(); ++row) {
    const uint64_t occupied = slots_.occupied(row);
    if (occupied == 0) continue;
    slots_.MoveSlot(PlaceIn(row, std::countr_zero(occupied)), moving_);
  }
  moving_.Append(overflow_);
  if (Entry* entry = moving_.PopFront()) return entry;
  return never_.PopFront();
}

}  // namespace rouse::wheel

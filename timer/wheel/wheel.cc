#include "rouse/timer/wheel/wheel.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "rouse/timer/wheel/entry.h"
#include "rouse/timer/wheel/level.h"

namespace rouse::wheel {

// The level that stands for the overflow.
static constexpr int kOverflow = Wheel::kLevels;

std::optional<Wheel::Position> Wheel::NextSlot() const {
  for (int level = 0; level < kLevels; ++level) {
    if (levels_[level].IsEmpty()) continue;
    const int slot = levels_[level].FirstOccupied();
    const int shift = level * kBitsPerLevel;
    // Digits above are those of the present, digits below are zero.
    const uint64_t above = elapsed_ & (~uint64_t{0} << (shift + kBitsPerLevel));
    return Position{level, slot,
                    above | (static_cast<uint64_t>(slot) << shift)};
  }
  if (overflow_.IsEmpty()) return std::nullopt;
  // No sum overflows: something in the list is for a tick beyond.
  return Position{kOverflow, 0, (elapsed_ & ~(kReach - 1)) + kReach};
}

std::optional<uint64_t> Wheel::NextExpiration() const {
  if (!due_.IsEmpty() || !moving_.IsEmpty()) return elapsed_;
  const std::optional<Position> next = NextSlot();
  if (!next.has_value()) return std::nullopt;
  return next->start;
}

Wheel::Step Wheel::Advance(uint64_t now) {
  if (Entry* entry = due_.PopFront()) return {entry, true};
  if (!moving_.IsEmpty()) {
    MoveSome();
    return {nullptr, true};
  }
  const std::optional<Position> next = NextSlot();
  if (!next.has_value() || next->start > now) {
    elapsed_ = std::max(elapsed_, now);
    return {nullptr, false};
  }
  elapsed_ = next->start;
  if (next->level == 0) {
    levels_[0].MoveSlot(next->slot, due_);
  } else if (next->level < kOverflow) {
    levels_[next->level].MoveSlot(next->slot, moving_);
  } else {
    moving_.Append(overflow_);
  }
  return {nullptr, true};
}

void Wheel::MoveSome() {
  for (int i = 0; i < kMovesPerStep; ++i) {
    Entry* entry = moving_.PopFront();
    if (entry == nullptr) return;
    if (entry->when_ <= elapsed_) {
      due_.PushBack(entry);
    } else {
      Place(*entry);
    }
  }
}

Entry* Wheel::PopAny() {
  if (Entry* entry = due_.PopFront()) return entry;
  if (Entry* entry = moving_.PopFront()) return entry;
  if (const std::optional<Position> next = NextSlot()) {
    if (next->level < kOverflow) {
      levels_[next->level].MoveSlot(next->slot, moving_);
    } else {
      moving_.Append(overflow_);
    }
  }
  if (Entry* entry = moving_.PopFront()) return entry;
  return never_.PopFront();
}

}  // namespace rouse::wheel

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: entry.h
// -----------------------------------------------------------------------------
//
// An `Entry` is a place in a `Wheel` (wheel.h). The waiting object has an
// `Entry` as a base class or a member, so a wheel allocates nothing:
//
//   struct Alarm : rouse::wheel::Entry { std::string name; };

#ifndef ROUSE_TIMER_WHEEL_ENTRY_H_
#define ROUSE_TIMER_WHEEL_ENTRY_H_

#include <cstdint>

#include "rouse/base/intrusive_list.h"

namespace rouse::wheel {

// Entry
//
// An entry must not move while in a wheel, and must be removed or have come due
// before its destruction. The guard of a wheel also guards the wheel's entries.
class Entry : public IntrusiveListNode<> {
 public:
  Entry() = default;

  // Number of bits of a tick. The longest clock has fewer ticks (ticks.h).
  static constexpr int kTickBits = 48;

  // Returns the tick for which the entry was last inserted.
  uint64_t when() const { return uint64_t{when_high_} << 32 | when_low_; }

 private:
  friend class Wheel;

  void set_when(uint64_t when) {
    when_low_ = static_cast<uint32_t>(when);
    when_high_ = static_cast<uint16_t>(when >> 32);
  }

  // In two parts, so that a derived class can use the last two bytes of the
  // word.
  uint32_t when_low_ = 0;
  uint16_t when_high_ = 0;
};

}  // namespace rouse::wheel

#endif  // ROUSE_TIMER_WHEEL_ENTRY_H_

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

  // Returns the tick for which the entry was last inserted.
  uint64_t when() const { return when_; }

 private:
  friend class Wheel;

  uint64_t when_ = 0;
};

}  // namespace rouse::wheel

#endif  // ROUSE_TIMER_WHEEL_ENTRY_H_

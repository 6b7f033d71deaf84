// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: entry.h
// -----------------------------------------------------------------------------
//
// An `Entry` is a place in a `Wheel` (wheel.h). It is a base class of, or a
// member of, what waits; a wheel allocates nothing:
//
//   struct Alarm : rouse::wheel::Entry { std::string name; };

#ifndef ROUSE_TIMER_WHEEL_ENTRY_H_
#define ROUSE_TIMER_WHEEL_ENTRY_H_

#include <cstdint>

#include "rouse/base/intrusive_list.h"

namespace rouse::wheel {

// Entry
//
// Stays where it is while it is in a wheel, and is removed or has come due
// before it is destroyed. It belongs to whatever guards its wheel.
class Entry : public IntrusiveListNode<> {
 public:
  Entry() = default;

  // The tick for which it was last inserted.
  uint64_t when() const { return when_; }

 private:
  friend class Wheel;

  uint64_t when_ = 0;
};

}  // namespace rouse::wheel

#endif  // ROUSE_TIMER_WHEEL_ENTRY_H_

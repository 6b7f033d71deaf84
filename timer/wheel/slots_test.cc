// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/wheel/slots.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/timer/wheel/entry.h"

namespace rouse::wheel {
namespace {

using TwoWords = Slots<2>;

constexpr uint64_t Bit(int i) { return uint64_t{1} << i; }

TEST(Slots, AreEmptyAtFirst) {
  const TwoWords slots;
  EXPECT_EQ(slots.occupied(0), 0);
  EXPECT_EQ(slots.occupied(1), 0);
}

TEST(Slots, KnowWhichAreOccupied) {
  TwoWords slots;
  Entry a;
  Entry b;
  Entry c;
  slots.Insert(a, 63);
  slots.Insert(b, 17);
  slots.Insert(c, 64);
  EXPECT_EQ(slots.occupied(0), Bit(63) | Bit(17));
  EXPECT_EQ(slots.occupied(1), Bit(0));
  EXPECT_EQ(slots[17].Front(), &b);
  slots.Remove(a);
  EXPECT_EQ(slots.occupied(0), Bit(17));
  slots.Remove(b);
  slots.Remove(c);
  EXPECT_EQ(slots.occupied(0), 0);
  EXPECT_EQ(slots.occupied(1), 0);
}

TEST(Slots, ASlotIsOccupiedUntilItsLastEntryIsRemoved) {
  TwoWords slots;
  Entry a;
  Entry b;
  slots.Insert(a, 5);
  slots.Insert(b, 5);
  slots.Remove(a);
  EXPECT_EQ(slots.occupied(0), Bit(5));
  slots.Remove(b);
  EXPECT_EQ(slots.occupied(0), 0);
}

// Tests lists at lower and at higher addresses.
TEST(Slots, UnlinkingAnEntryOfAnotherListChangesNoSlot) {
  struct {
    IntrusiveList<Entry> before;
    TwoWords slots;
    IntrusiveList<Entry> after;
  } lists;
  Entry in_first;
  Entry in_last;
  lists.slots.Insert(in_first, 0);
  lists.slots.Insert(in_last, TwoWords::kSlots - 1);
  for (IntrusiveList<Entry>* list : {&lists.before, &lists.after}) {
    Entry other;
    list->PushBack(&other);
    lists.slots.Remove(other);
    EXPECT_TRUE(list->IsEmpty());
    EXPECT_EQ(lists.slots.occupied(0), Bit(0));
    EXPECT_EQ(lists.slots.occupied(1), Bit(63));
  }
  lists.slots.Remove(in_first);
  lists.slots.Remove(in_last);
}

TEST(Slots, MoveASlotInOrder) {
  TwoWords slots;
  Entry a;
  Entry b;
  Entry c;
  IntrusiveList<Entry> list;
  list.PushBack(&c);
  slots.Insert(a, 69);
  slots.Insert(b, 69);
  slots.MoveSlot(69, list);
  EXPECT_EQ(slots.occupied(1), 0);
  EXPECT_EQ(list.PopFront(), &c);
  EXPECT_EQ(list.PopFront(), &a);
  EXPECT_EQ(list.PopFront(), &b);
}

}  // namespace
}  // namespace rouse::wheel

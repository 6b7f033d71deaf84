// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/slot/slot_table.h"

#include <cstdint>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "rouse/reactor/slot/slot.h"

namespace rouse::reactor::internal {
namespace {

TEST(SlotTable, GivesEachIndexItsOwnSlot) {
  SlotTable table;
  std::set<Slot*> slots;
  // Enough slots for several chunks.
  for (uint32_t i = 0; i < 1000; ++i) {
    uint32_t index;
    Slot* slot = table.Allocate(index);
    ASSERT_NE(slot, nullptr);
    EXPECT_EQ(index, i);
    EXPECT_TRUE(slots.insert(slot).second);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(slot) % alignof(Slot), 0u);
  }
  EXPECT_EQ(table.used(), 1000u);
  EXPECT_EQ(table.bound(), 1000u);
}

TEST(SlotTable, SlotsDoNotMove) {
  SlotTable table;
  std::vector<Slot*> slots;
  for (int i = 0; i < 1000; ++i) {
    uint32_t index;
    slots.push_back(table.Allocate(index));
  }
  for (uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(table.Get(i), slots[i]);
}

TEST(SlotTable, ReusesTheSlotFreedLast) {
  SlotTable table;
  uint32_t a, b, c;
  table.Allocate(a);
  table.Allocate(b);
  table.Free(a);
  table.Free(b);
  EXPECT_EQ(table.used(), 0u);
  table.Allocate(c);
  EXPECT_EQ(c, b);
  table.Allocate(c);
  EXPECT_EQ(c, a);
  EXPECT_EQ(table.bound(), 2u);
}

// R6: no slot exists at or past the bound.
TEST(SlotTable, HasNoSlotPastItsBound) {
  SlotTable table;
  EXPECT_EQ(table.Get(0), nullptr);
  for (int i = 0; i < 64; ++i) {
    uint32_t index;
    table.Allocate(index);
    EXPECT_NE(table.Get(index), nullptr);
    EXPECT_EQ(table.Get(index + 1), nullptr);
  }
  EXPECT_EQ(table.Get(~uint32_t{0}), nullptr);
}

TEST(SlotTable, ARetiredSlotIsNotReused) {
  SlotTable table;
  uint32_t a, b;
  table.Allocate(a);
  table.Retire();
  EXPECT_EQ(table.used(), 0u);
  table.Allocate(b);
  EXPECT_NE(a, b);
}

}  // namespace
}  // namespace rouse::reactor::internal

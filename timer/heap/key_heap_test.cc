// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/key_heap.h"

#include <cstddef>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rouse::heap {
namespace {

using ::testing::ElementsAre;

// The functions that `Heap` only passes on are tested with `Heap`, in
// heap_test.cc and heap_property_test.cc.

std::vector<int> Drain(KeyHeap<int>& heap) {
  std::vector<int> keys;
  while (!heap.IsEmpty()) {
    keys.push_back(heap.key(heap.Front()));
    heap.Remove(heap.Front());
    EXPECT_TRUE(heap.IsConsistent());
  }
  return keys;
}

TEST(KeyHeap, ReturnsTheSlotOfEachPush) {
  KeyHeap<int> heap;
  const Slot first = heap.NextSlot();
  EXPECT_EQ(first.index(), 0);
  EXPECT_FALSE(heap.Contains(first));
  EXPECT_EQ(heap.Push(1), first);
  EXPECT_TRUE(heap.Contains(first));
  EXPECT_EQ(heap.NextSlot().index(), 1);
  EXPECT_EQ(heap.Push(2).index(), 1);
  heap.Remove(first);
  EXPECT_EQ(heap.NextSlot(), first);
}

TEST(KeyHeap, ContainsNoSlotWhenEmpty) {
  KeyHeap<int> heap;
  EXPECT_FALSE(heap.Contains(Slot()));
  const Slot slot = heap.Push(1);
  EXPECT_FALSE(heap.Contains(Slot()));
  heap.Remove(slot);
  EXPECT_FALSE(heap.Contains(slot));
}

TEST(KeyHeap, FreesTakenSlotsOneByOne) {
  KeyHeap<int> heap;
  std::vector<Slot> slots;
  for (int i = 0; i < 20; ++i) slots.push_back(heap.Push(i));
  heap.Remove(slots[7]);
  std::vector<bool> freed(slots.size());
  Slot slot = heap.TakeAll();
  EXPECT_TRUE(heap.IsEmpty());
  size_t count = 0;
  while (slot != Slot()) {
    EXPECT_FALSE(heap.Contains(slot));
    EXPECT_FALSE(freed[slot.index()]);
    // Other entries may be pushed meanwhile, but not into the slots that are
    // still occupied.
    const Slot other = heap.Push(100 + static_cast<int>(count++));
    EXPECT_TRUE(other.index() >= slots.size() || other == slots[7] ||
                freed[other.index()]);
    freed[slot.index()] = true;
    slot = heap.FreeNext(slot);
  }
  EXPECT_EQ(count, 19);
  EXPECT_TRUE(heap.IsConsistent());
  EXPECT_EQ(Drain(heap).size(), 19);
}

TEST(KeyHeap, PopsNothingWhenEmpty) {
  KeyHeap<int> heap;
  EXPECT_EQ(heap.TakeAll(), Slot());
  heap.Push(2);
  heap.Push(1);
  EXPECT_THAT(Drain(heap), ElementsAre(1, 2));
  EXPECT_EQ(heap.TakeAll(), Slot());
}

TEST(KeyHeap, HasRoomForReservedEntries) {
  KeyHeap<int> heap;
  heap.Reserve(100);
  const size_t capacity = heap.capacity();
  EXPECT_GE(capacity, 100);
  for (int i = 0; i < 100; ++i) heap.Push(i);
  EXPECT_EQ(heap.capacity(), capacity);
}

}  // namespace
}  // namespace rouse::heap

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/heap.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rouse::heap {
namespace {

using ::testing::ElementsAre;

// A key that counts how often keys are compared.
class CountedKey {
 public:
  CountedKey(int key, int* comparisons) : key_(key), count_(comparisons) {}
  friend bool operator<(const CountedKey& a, const CountedKey& b) {
    ++*a.count_;
    return a.key_ < b.key_;
  }

 private:
  int key_;
  int* count_;
};

template <class T>
std::vector<int> Drain(Heap<int, T>& heap) {
  std::vector<int> keys;
  while (!heap.IsEmpty()) {
    keys.push_back(heap.Pop().key);
    EXPECT_TRUE(heap.IsConsistent());
  }
  return keys;
}

TEST(Heap, IsEmptyAtFirst) {
  const Heap<int, int> heap;
  EXPECT_TRUE(heap.IsEmpty());
  EXPECT_EQ(heap.size(), 0u);
  EXPECT_EQ(heap.Peek(), nullptr);
  EXPECT_TRUE(heap.IsConsistent());
}

TEST(Heap, PopsTheSmallestKeyWithItsValue) {
  Heap<int, std::string> heap;
  heap.Push(2, "two");
  heap.Push(1, "one");
  heap.Push(3, "three");
  EXPECT_EQ(heap.size(), 3u);
  EXPECT_EQ(*heap.Peek(), 1);
  EXPECT_EQ(heap.Pop().value, "one");
  EXPECT_EQ(heap.Pop().value, "two");
  EXPECT_EQ(*heap.Peek(), 3);
  EXPECT_EQ(heap.Pop().value, "three");
  EXPECT_TRUE(heap.IsEmpty());
}

TEST(Heap, SortsEntriesPushedInAnyOrder) {
  std::vector<std::vector<int>> orders = {
      {1, 2, 3, 4, 5}, {5, 4, 3, 2, 1}, {3, 3, 1, 2, 1}};
  for (const std::vector<int>& order : orders) {
    Heap<int, int> heap;
    for (const int key : order) {
      heap.Push(key, 0);
      EXPECT_TRUE(heap.IsConsistent());
    }
    EXPECT_TRUE(std::ranges::is_sorted(Drain(heap)));
  }
}

TEST(Heap, RemovesAnyEntry) {
  for (size_t which = 0; which < 7; ++which) {
    Heap<int, int> heap;
    std::vector<Heap<int, int>::Slot> slots;
    for (int key = 0; key < 7; ++key) slots.push_back(heap.Push(key, 10 * key));
    const auto removed = heap.Remove(slots[which]);
    EXPECT_EQ(removed.key, static_cast<int>(which));
    EXPECT_EQ(removed.value, 10 * static_cast<int>(which));
    EXPECT_TRUE(heap.IsConsistent());
    const std::vector<int> rest = Drain(heap);
    EXPECT_EQ(rest.size(), 6u);
    EXPECT_TRUE(std::ranges::is_sorted(rest));
  }
}

// The last entry, which takes the free place, may be less than the parent of
// that place.
TEST(Heap, ARemovalCanSiftUp) {
  Heap<int, int> heap;
  heap.Push(0, 0);
  heap.Push(10, 0);
  heap.Push(1, 0);
  const auto slot = heap.Push(11, 0);
  heap.Push(12, 0);
  heap.Push(2, 0);
  heap.Push(3, 0);
  heap.Remove(slot);
  EXPECT_TRUE(heap.IsConsistent());
  EXPECT_THAT(Drain(heap), ElementsAre(0, 1, 2, 3, 10, 12));
}

TEST(Heap, UpdatesSiftUpOrDownOrNotAtAll) {
  Heap<int, char> heap;
  heap.Push(10, 'a');
  const auto b = heap.Push(20, 'b');
  heap.Push(30, 'c');
  heap.Update(b, 5);
  EXPECT_TRUE(heap.IsConsistent());
  EXPECT_EQ(*heap.Peek(), 5);
  heap.Update(b, 5);
  EXPECT_EQ(heap.key(b), 5);
  heap.Update(b, 35);
  EXPECT_TRUE(heap.IsConsistent());
  EXPECT_EQ(heap.value(b), 'b');
  EXPECT_THAT(Drain(heap), ElementsAre(10, 30, 35));
}

// Defect 8 of the seed: a timer that is registered again is removed and pushed,
// which sifts twice.
TEST(Heap, Defect8AnUpdateSiftsOnce) {
  int comparisons = 0;
  Heap<CountedKey, int> heap;
  std::vector<Heap<CountedKey, int>::Slot> slots;
  constexpr int kSize = 1023;
  constexpr int kArity = 4;
  constexpr int kLevels = 5;  // below the first level
  for (int i = 0; i < kSize; ++i) {
    slots.push_back(heap.Push(CountedKey(i, &comparisons), i));
  }
  // In place: one comparison upwards, and one with each child.
  comparisons = 0;
  heap.Update(slots[kSize / 8], CountedKey(kSize / 8, &comparisons));
  EXPECT_LE(comparisons, 1 + kArity);
  // All the way down: one comparison for each child on each level.
  comparisons = 0;
  heap.Update(slots[0], CountedKey(kSize, &comparisons));
  EXPECT_LE(comparisons, kArity * kLevels);
  // All the way up: one comparison on each level, and one that gives the
  // direction.
  comparisons = 0;
  heap.Update(slots[0], CountedKey(-1, &comparisons));
  EXPECT_LE(comparisons, 1 + kLevels);
  EXPECT_TRUE(heap.IsConsistent());
}

TEST(Heap, SlotsStayWhileOthersAreAddedAndRemoved) {
  Heap<int, int> heap;
  const auto kept = heap.Push(50, 42);
  for (int i = 0; i < 100; ++i) {
    const auto other = heap.Push(i, i);
    if (i % 2 == 0) heap.Remove(other);
    EXPECT_EQ(heap.key(kept), 50);
    EXPECT_EQ(heap.value(kept), 42);
  }
  heap.Update(kept, -1);
  EXPECT_EQ(heap.Pop().value, 42);
}

TEST(Heap, ReusesSlots) {
  Heap<int, int> heap;
  const auto first = heap.Push(1, 1);
  heap.Push(2, 2);
  heap.Remove(first);
  EXPECT_EQ(heap.Push(3, 3), first);
  EXPECT_TRUE(heap.IsConsistent());
}

TEST(Heap, TakesMoveOnlyValues) {
  Heap<int, std::unique_ptr<int>> heap;
  heap.Push(2, std::make_unique<int>(20));
  const auto slot = heap.Push(1, std::make_unique<int>(10));
  EXPECT_EQ(*heap.Remove(slot).value, 10);
  Heap<int, std::unique_ptr<int>> moved = std::move(heap);
  EXPECT_EQ(*moved.Pop().value, 20);
  EXPECT_TRUE(heap.IsConsistent());  // NOLINT(bugprone-use-after-move)
  heap.Push(1, nullptr);
  EXPECT_TRUE(heap.IsConsistent());
}

// A value is destroyed when its entry is removed, not when the slot is used
// again.
TEST(Heap, KeepsNoValueOfARemovedEntry) {
  Heap<int, std::shared_ptr<int>> heap;
  const auto value = std::make_shared<int>(1);
  heap.Push(1, value);
  const auto slot = heap.Push(2, value);
  heap.Pop();
  heap.Remove(slot);
  EXPECT_EQ(value.use_count(), 1);
}

}  // namespace
}  // namespace rouse::heap

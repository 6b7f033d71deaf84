// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/lifo_slot.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rouse::scheduler {
namespace {

using testing::Each;

TEST(LifoSlot, StartsEmpty) {
  LifoSlot<int> slot;
  EXPECT_TRUE(slot.IsEmpty());
  EXPECT_EQ(slot.Take(), nullptr);
}

TEST(LifoSlot, GivesWhatWasPut) {
  LifoSlot<int> slot;
  int element = 0;
  EXPECT_EQ(slot.Put(&element), nullptr);
  EXPECT_FALSE(slot.IsEmpty());
  EXPECT_EQ(slot.Take(), &element);
  EXPECT_TRUE(slot.IsEmpty());
  EXPECT_EQ(slot.Take(), nullptr);
}

TEST(LifoSlot, GivesBackWhatWasThereBefore) {
  LifoSlot<int> slot;
  int first = 0;
  int second = 0;
  slot.Put(&first);
  EXPECT_EQ(slot.Put(&second), &first);
  EXPECT_EQ(slot.Take(), &second);
}

// Its owner puts, and takes now and then, beside one other that takes.
TEST(LifoSlotStress, EachElementIsTakenOnce) {
  constexpr int kElements = 100'000;
  // How often each was taken: plain, as what a task was told is.
  std::vector<int> taken(kElements, 0);
  LifoSlot<int> slot;
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done.load(std::memory_order_acquire)) {
      if (int* const element = slot.Take()) ++*element;
    }
  });
  for (int i = 0; i < kElements; ++i) {
    if (int* const before = slot.Put(&taken[i])) ++*before;
    if (i % 3 == 0) {
      if (int* const element = slot.Take()) ++*element;
    }
  }
  done.store(true, std::memory_order_release);
  other.join();
  if (int* const element = slot.Take()) ++*element;
  EXPECT_THAT(taken, Each(1));
}

}  // namespace
}  // namespace rouse::scheduler

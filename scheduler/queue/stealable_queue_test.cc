// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/queue/stealable_queue.h"

#include <atomic>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rouse::scheduler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Queue = StealableQueue<int, 8>;

class StealableQueueTest : public testing::Test {
 protected:
  StealableQueueTest() { std::iota(elements_, elements_ + 64, 0); }

  // Pushes `count` numbers, each greater by one. Returns the overflow.
  std::vector<int> Push(Queue& queue, int count) {
    std::vector<int> overflown;
    for (; count > 0; --count) {
      queue.Push(&elements_[next_++],
                 [&](int* element) { overflown.push_back(*element); });
    }
    return overflown;
  }

  static std::vector<int> PopAll(Queue& queue) {
    std::vector<int> popped;
    while (int* element = queue.Pop()) popped.push_back(*element);
    return popped;
  }

  int elements_[64];
  int next_ = 0;
  // The positions wrap within each test.
  Queue queue_{~uint32_t{0} - 2};
  Queue other_;
};

TEST_F(StealableQueueTest, IsEmptyAtFirst) {
  EXPECT_TRUE(queue_.IsEmpty());
  EXPECT_EQ(queue_.Room(), 8u);
  EXPECT_EQ(queue_.Pop(), nullptr);
}

TEST_F(StealableQueueTest, IsFirstInFirstOut) {
  EXPECT_THAT(Push(queue_, 3), IsEmpty());
  EXPECT_EQ(queue_.Size(), 3u);
  EXPECT_EQ(queue_.Room(), 5u);
  EXPECT_THAT(PopAll(queue_), ElementsAre(0, 1, 2));
  EXPECT_TRUE(queue_.IsEmpty());
}

TEST_F(StealableQueueTest, HoldsItsCapacity) {
  EXPECT_THAT(Push(queue_, 8), IsEmpty());
  EXPECT_EQ(queue_.Room(), 0u);
  EXPECT_THAT(PopAll(queue_), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST_F(StealableQueueTest, TakesABatch) {
  Push(queue_, 1);
  queue_.PushBatch(7, [this] { return &elements_[next_++]; });
  EXPECT_EQ(queue_.Room(), 0u);
  EXPECT_THAT(PopAll(queue_), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST_F(StealableQueueTest, CanBeReused) {
  for (int i = 0; i < 60; ++i) {
    Push(queue_, 1);
    EXPECT_EQ(*queue_.Pop(), i);
  }
}

// The elements that have waited longest run first, even after an overflow
// (tokio #8029).
TEST_F(StealableQueueTest, AFullQueueOverflowsItsSecondHalf) {
  EXPECT_THAT(Push(queue_, 9), ElementsAre(4, 5, 6, 7, 8));
  EXPECT_EQ(queue_.Size(), 4u);
  EXPECT_THAT(Push(queue_, 4), IsEmpty());
  EXPECT_THAT(PopAll(queue_), ElementsAre(0, 1, 2, 3, 9, 10, 11, 12));
}

TEST_F(StealableQueueTest, AThiefTakesHalf) {
  Push(queue_, 5);
  EXPECT_EQ(*other_.StealFrom(queue_), 0);
  EXPECT_THAT(PopAll(other_), ElementsAre(1, 2));
  EXPECT_EQ(queue_.Room(), 6u);
  EXPECT_THAT(PopAll(queue_), ElementsAre(3, 4));
}

TEST_F(StealableQueueTest, AThiefTakesTheOnlyElement) {
  Push(queue_, 1);
  EXPECT_EQ(*other_.StealFrom(queue_), 0);
  EXPECT_TRUE(other_.IsEmpty());
  EXPECT_TRUE(queue_.IsEmpty());
}

TEST_F(StealableQueueTest, AThiefTakesNothingFromAnEmptyQueue) {
  EXPECT_EQ(other_.StealFrom(queue_), nullptr);
}

TEST_F(StealableQueueTest, StolenElementsAreAppended) {
  Push(other_, 2);
  Push(queue_, 6);
  EXPECT_EQ(*other_.StealFrom(queue_), 2);
  EXPECT_THAT(PopAll(other_), ElementsAre(0, 1, 3, 4));
}

TEST_F(StealableQueueTest, StealsUpToHalfFull) {
  Push(other_, 4);
  Push(queue_, 8);
  EXPECT_EQ(*other_.StealFrom(queue_), 4);
  EXPECT_EQ(other_.Size(), 7u);
  EXPECT_EQ(other_.StealFrom(queue_), nullptr);
  EXPECT_EQ(queue_.Size(), 4u);
}

// Each element is taken once, whichever thread takes it.
TEST(LocalQueueStressTest, LosesAndRepeatsNoElement) {
  constexpr int kElements = 200'000;
  constexpr int kThieves = 3;
  struct Element {
    std::atomic<int> taken{0};
  };
  std::vector<Element> elements(kElements);
  StealableQueue<Element, 64> queue;
  std::atomic<bool> done{false};
  const auto take = [](Element* element) {
    element->taken.fetch_add(1, std::memory_order_relaxed);
  };
  std::vector<std::thread> thieves;
  for (int i = 0; i < kThieves; ++i) {
    thieves.emplace_back([&] {
      StealableQueue<Element, 64> own;
      while (!done.load(std::memory_order_acquire)) {
        Element* element = own.StealFrom(queue);
        for (; element != nullptr; element = own.Pop()) take(element);
      }
    });
  }
  for (int i = 0; i < kElements; ++i) {
    queue.Push(&elements[i], take);
    if (i % 3 == 0) {
      if (Element* element = queue.Pop()) take(element);
    }
  }
  while (Element* element = queue.Pop()) take(element);
  // All elements are released by now, or are held by a thief that is finishing.
  done.store(true, std::memory_order_release);
  for (std::thread& thief : thieves) thief.join();
  while (Element* element = queue.Pop()) take(element);
  for (int i = 0; i < kElements; ++i) {
    ASSERT_EQ(elements[i].taken.load(std::memory_order_relaxed), 1) << i;
  }
}

}  // namespace
}  // namespace rouse::scheduler

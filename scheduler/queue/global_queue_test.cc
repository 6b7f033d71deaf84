// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/queue/global_queue.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/scheduler/queue/run_queue.h"

namespace rouse::scheduler {
namespace {

using testing::ElementsAre;
using testing::Eq;

struct Element {
  int number = 0;
  Element* next_in_queue = nullptr;
  Element* previous_in_queue = nullptr;
};

class GlobalQueueTest : public testing::Test {
 protected:
  static constexpr int kSegment = GlobalQueue<Element>::kSegment;

  GlobalQueueTest() {
    for (int i = 0; i < 4 * kSegment; ++i) elements_[i].number = i;
  }

  void Push(int from, int to) {
    for (int i = from; i < to; ++i) EXPECT_TRUE(queue_.Push(&elements_[i]));
  }

  size_t PopBatch(size_t max) {
    return queue_.PopBatch(max, batch_, [this](const Element* element) {
      taken_.push_back(element->number);
    });
  }

  // Returns the numbers in `batch_`, and empties it.
  std::vector<int> Numbers() {
    std::vector<int> numbers;
    while (const Element* element = batch_.Pop()) {
      numbers.push_back(element->number);
    }
    return numbers;
  }

  static std::vector<int> Range(int from, int to) {
    std::vector<int> numbers(to - from);
    std::iota(numbers.begin(), numbers.end(), from);
    return numbers;
  }

  Element elements_[4 * kSegment];
  GlobalQueue<Element> queue_;
  RunQueue<Element> batch_;
  std::vector<int> taken_;
};

TEST_F(GlobalQueueTest, IsEmptyAtFirst) {
  EXPECT_TRUE(queue_.IsEmpty());
  EXPECT_EQ(PopBatch(8), 0u);
  EXPECT_TRUE(batch_.IsEmpty());
}

TEST_F(GlobalQueueTest, IsFirstInFirstOut) {
  Push(0, 3);
  EXPECT_EQ(queue_.Size(), 3u);
  EXPECT_EQ(PopBatch(8), 3u);
  EXPECT_THAT(Numbers(), ElementsAre(0, 1, 2));
  EXPECT_TRUE(queue_.IsEmpty());
}

TEST_F(GlobalQueueTest, CallsBackForEachTakenElement) {
  Push(0, 3);
  EXPECT_EQ(PopBatch(8), 3u);
  EXPECT_THAT(taken_, ElementsAre(0, 1, 2));
}

TEST_F(GlobalQueueTest, ReturnsWholeSegments) {
  Push(0, 3 * kSegment + 1);
  EXPECT_EQ(PopBatch(3 * kSegment - 1), 2u * kSegment);
  EXPECT_THAT(Numbers(), Eq(Range(0, 2 * kSegment)));
  EXPECT_EQ(queue_.Size(), kSegment + 1u);
  EXPECT_EQ(PopBatch(SIZE_MAX), kSegment + 1u);
  EXPECT_THAT(Numbers(), Eq(Range(2 * kSegment, 3 * kSegment + 1)));
  EXPECT_TRUE(queue_.IsEmpty());
}

TEST_F(GlobalQueueTest, ReturnsPartOfTheFirstSegment) {
  Push(0, 2 * kSegment + 2);
  EXPECT_EQ(PopBatch(1), 1u);
  EXPECT_EQ(PopBatch(2), 2u);
  // The rest of the first segment counts as a segment.
  EXPECT_EQ(PopBatch(kSegment), kSegment - 3u);
  EXPECT_EQ(PopBatch(size_t{2} * kSegment), kSegment + 2u);
  EXPECT_THAT(Numbers(), Eq(Range(0, 2 * kSegment + 2)));
  EXPECT_TRUE(queue_.IsEmpty());
}

TEST_F(GlobalQueueTest, ReturnsPartOfTheOnlySegmentAndRefillsIt) {
  Push(0, kSegment);
  EXPECT_EQ(PopBatch(3), 3u);
  Push(kSegment, 2 * kSegment);
  EXPECT_EQ(PopBatch(kSegment - 1), kSegment - 1u);
  EXPECT_EQ(queue_.Size(), kSegment - 2u);
  EXPECT_EQ(PopBatch(SIZE_MAX), kSegment - 2u);
  EXPECT_THAT(Numbers(), Eq(Range(0, 2 * kSegment)));
}

TEST_F(GlobalQueueTest, ReturnsNoElementForALimitOfZero) {
  Push(0, 2);
  EXPECT_EQ(PopBatch(0), 0u);
  EXPECT_EQ(queue_.Size(), 2u);
}

// Gives the same results as a plain queue, whatever is pushed and popped.
TEST_F(GlobalQueueTest, GivesUpWhileTheQueueIsInUse) {
  Push(0, 2);
  const auto pop = [this] {
    return queue_.PopBatch(1, batch_, [](Element*) {}, IfBusy::kGiveUp);
  };
  queue_.ForEach([&](Element*) { EXPECT_EQ(pop(), 0u); });
  EXPECT_EQ(pop(), 1u);
  EXPECT_THAT(Numbers(), ElementsAre(0));
  EXPECT_EQ(queue_.Size(), 1u);
}

TEST_F(GlobalQueueTest, BehavesLikeAQueue) {
  FastRand rand(1);
  std::deque<int> expected;
  std::vector<Element*> free;
  for (Element& element : elements_) free.push_back(&element);
  for (int i = 0; i < 20'000; ++i) {
    if (rand.Below(3) != 0) {
      for (uint32_t n = rand.Below(8); n > 0 && !free.empty(); --n) {
        expected.push_back(free.back()->number);
        EXPECT_TRUE(queue_.Push(free.back()));
        free.pop_back();
      }
    } else {
      const size_t max = rand.Below(3 * kSegment);
      const size_t count = PopBatch(max);
      EXPECT_LE(count, max);
      EXPECT_EQ(count > 0, max > 0 && !expected.empty());
      while (Element* const element = batch_.Pop()) {
        ASSERT_EQ(element->number, expected.front());
        expected.pop_front();
        free.push_back(element);
      }
    }
    ASSERT_EQ(queue_.Size(), expected.size());
  }
}

TEST_F(GlobalQueueTest, ContinuesAfterItWasEmpty) {
  for (int i = 0; i < 3; ++i) {
    Push(0, kSegment + 2);
    EXPECT_EQ(PopBatch(SIZE_MAX), kSegment + 2u);
    EXPECT_THAT(Numbers(), Eq(Range(0, kSegment + 2)));
  }
}

// The last segment is not full, and is filled further.
TEST_F(GlobalQueueTest, ContinuesAfterItsFirstSegmentIsTaken) {
  Push(0, kSegment + 2);
  EXPECT_EQ(PopBatch(kSegment), 1u * kSegment);
  Push(kSegment + 2, 3 * kSegment);
  EXPECT_EQ(PopBatch(kSegment), 1u * kSegment);
  EXPECT_EQ(PopBatch(kSegment), 1u * kSegment);
  EXPECT_THAT(Numbers(), Eq(Range(0, 3 * kSegment)));
}

TEST_F(GlobalQueueTest, ABatchStaysTogether) {
  Push(0, 1);
  batch_.Push(&elements_[1]);
  batch_.Push(&elements_[2]);
  queue_.PushBatch(batch_);
  EXPECT_TRUE(batch_.IsEmpty());
  Push(3, 4);
  EXPECT_EQ(queue_.Size(), 4u);
  EXPECT_EQ(PopBatch(4), 4u);
  EXPECT_THAT(Numbers(), ElementsAre(0, 1, 2, 3));
}

TEST_F(GlobalQueueTest, TakenElementsAreAppended) {
  batch_.Push(&elements_[7]);
  Push(0, 2);
  EXPECT_EQ(PopBatch(2), 2u);
  EXPECT_THAT(Numbers(), ElementsAre(7, 0, 1));
}

TEST_F(GlobalQueueTest, VisitsAllElements) {
  Push(0, kSegment + 2);
  std::vector<int> visited;
  queue_.ForEach([&visited](const Element* element) {
    visited.push_back(element->number);
  });
  EXPECT_THAT(visited, Eq(Range(0, kSegment + 2)));
  EXPECT_EQ(queue_.Size(), kSegment + 2u);
}

TEST_F(GlobalQueueTest, CountsNewTasks) {
  Push(0, 1);
  EXPECT_TRUE(queue_.PushNew(&elements_[1]));
  EXPECT_EQ(queue_.new_count(), 1u);
  EXPECT_EQ(PopBatch(2), 2u);
  queue_.Close();
  EXPECT_FALSE(queue_.PushNew(&elements_[2]));
  EXPECT_EQ(queue_.new_count(), 2u);
}

TEST_F(GlobalQueueTest, AClosedQueueRefusesElements) {
  queue_.Close();
  EXPECT_FALSE(queue_.Push(&elements_[0]));
  EXPECT_TRUE(queue_.IsEmpty());
}

TEST_F(GlobalQueueTest, AClosedQueueAcceptsABatch) {
  queue_.Close();
  batch_.Push(&elements_[1]);
  queue_.PushBatch(batch_);
  EXPECT_EQ(PopBatch(1), 1u);
  EXPECT_THAT(Numbers(), ElementsAre(1));
}

TEST_F(GlobalQueueTest, AClosedQueueReturnsItsElements) {
  Push(0, 2);
  queue_.Close();
  EXPECT_EQ(PopBatch(2), 2u);
  EXPECT_THAT(Numbers(), ElementsAre(0, 1));
}

}  // namespace
}  // namespace rouse::scheduler

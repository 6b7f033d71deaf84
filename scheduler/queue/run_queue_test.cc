// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/queue/run_queue.h"

#include <cstdint>
#include <deque>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"

namespace rouse::scheduler {
namespace {

using testing::ElementsAre;

struct Element {
  explicit Element(int number) : number(number) {}

  int number;
  Element* next_in_queue = nullptr;
};

std::vector<int> PopAll(RunQueue<Element>& queue) {
  std::vector<int> numbers;
  while (const Element* const element = queue.Pop()) {
    numbers.push_back(element->number);
  }
  return numbers;
}

TEST(RunQueueTest, AppendMovesAllTasksToTheBack) {
  Element one(1);
  Element two(2);
  Element three(3);
  RunQueue<Element> queue;
  RunQueue<Element> other;
  queue.Push(&one);
  other.Push(&two);
  other.Push(&three);
  queue.Append(other);
  EXPECT_TRUE(other.IsEmpty());
  EXPECT_THAT(PopAll(queue), ElementsAre(1, 2, 3));
  EXPECT_TRUE(queue.IsEmpty());
}

TEST(RunQueueTest, AppendsToAndFromAnEmptyQueue) {
  Element one(1);
  RunQueue<Element> queue;
  RunQueue<Element> other;
  queue.Append(other);
  EXPECT_TRUE(queue.IsEmpty());
  other.Push(&one);
  queue.Append(other);
  queue.Append(other);
  EXPECT_THAT(PopAll(queue), ElementsAre(1));
}

// A queue can be used again after it was appended to another, or emptied.
TEST(RunQueueTest, ReturnsTasksInOrder) {
  std::vector<Element> elements;
  for (int i = 0; i < 64; ++i) elements.emplace_back(i);
  std::vector<Element*> free;
  for (Element& element : elements) free.push_back(&element);
  RunQueue<Element> queues[2];
  std::deque<Element*> expected[2];
  FastRand rand(1);
  for (int i = 0; i < 10'000; ++i) {
    const uint32_t at = rand.Below(2);
    switch (rand.Below(5)) {
      case 0:
        queues[at].Append(queues[1 - at]);
        while (!expected[1 - at].empty()) {
          expected[at].push_back(expected[1 - at].front());
          expected[1 - at].pop_front();
        }
        break;
      case 1:
      case 2:
        if (free.empty()) break;
        queues[at].Push(free.back());
        expected[at].push_back(free.back());
        free.pop_back();
        break;
      default: {
        Element* const element = queues[at].Pop();
        if (expected[at].empty()) {
          ASSERT_EQ(element, nullptr);
          break;
        }
        ASSERT_EQ(element, expected[at].front());
        expected[at].pop_front();
        free.push_back(element);
        break;
      }
    }
    ASSERT_EQ(queues[at].IsEmpty(), expected[at].empty());
  }
}

}  // namespace
}  // namespace rouse::scheduler

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/queue/private_queue.h"

#include <cstddef>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/scheduler/queue/run_queue.h"

namespace rouse::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Element {
  bool IsNew() const { return is_new; }

  int number = 0;
  bool is_new = false;
  Element* next_in_queue = nullptr;
  Element* previous_in_queue = nullptr;
};

class PrivateQueueTest : public ::testing::Test {
 protected:
  static constexpr int kElements = 400;

  PrivateQueueTest() {
    for (int i = 0; i < kElements; ++i) elements_[i].number = i;
  }

  void MarkNew(int from, int to) {
    for (int i = from; i < to; ++i) elements_[i].is_new = true;
  }
  void Push(int from, int to) {
    for (int i = from; i < to; ++i) queue_.Push(&elements_[i]);
  }
  static int Number(const Element* element) {
    return element != nullptr ? element->number : -1;
  }
  std::vector<int> PopAll() {
    std::vector<int> numbers;
    while (const Element* element = queue_.Pop()) {
      numbers.push_back(element->number);
    }
    return numbers;
  }
  static std::vector<int> Numbers(RunQueue<Element>& batch) {
    std::vector<int> numbers;
    while (const Element* element = batch.Pop()) {
      numbers.push_back(element->number);
    }
    return numbers;
  }

  Element elements_[kElements];
  PrivateQueue<Element> queue_;
};

TEST_F(PrivateQueueTest, WokenTasksAreFirstInFirstOut) {
  Push(0, 3);
  EXPECT_EQ(queue_.Size(), 3u);
  EXPECT_THAT(PopAll(), ElementsAre(0, 1, 2));
  EXPECT_EQ(queue_.Size(), 0u);
}

TEST_F(PrivateQueueTest, TheLifoSlotIsSeparate) {
  Push(0, 1);
  queue_.PushNext(&elements_[1]);
  EXPECT_EQ(queue_.Size(), 2u);
  EXPECT_EQ(Number(queue_.PopNext()), 1);
  EXPECT_EQ(queue_.PopNext(), nullptr);
  EXPECT_THAT(PopAll(), ElementsAre(0));
}

TEST_F(PrivateQueueTest, ALaterTaskReplacesTheLifoSlot) {
  Push(0, 1);
  queue_.PushNext(&elements_[1]);
  queue_.PushNext(&elements_[2]);
  EXPECT_EQ(Number(queue_.PopNext()), 2);
  EXPECT_THAT(PopAll(), ElementsAre(0, 1));
}

TEST_F(PrivateQueueTest, NewTasksRunLastAndTheNewestFirst) {
  MarkNew(0, 3);
  Push(0, 6);
  EXPECT_THAT(PopAll(), ElementsAre(3, 4, 5, 2, 1, 0));
}

TEST_F(PrivateQueueTest, NewTasksRunInOrderIfConfigured) {
  queue_.KeepOrderOfNew();
  MarkNew(0, 3);
  Push(0, 6);
  EXPECT_THAT(PopAll(), ElementsAre(0, 1, 2, 3, 4, 5));
}

// A tree keeps growing from its newest branch.
TEST_F(PrivateQueueTest, TheOldestNewTaskHasItsTurn) {
  MarkNew(0, kElements);
  Push(0, 2);
  for (int i = 2; i < 126 + 2; ++i) {
    queue_.Push(&elements_[i]);
    EXPECT_EQ(Number(queue_.Pop()), i);
  }
  EXPECT_EQ(Number(queue_.Pop()), 0);
}

// Tasks are woken all the time.
TEST_F(PrivateQueueTest, ANewTaskHasItsTurnBesideWokenTasks) {
  MarkNew(0, 2);
  Push(0, 4);
  std::vector<int> turns;
  for (int i = 1; i <= 24; ++i) {
    Element* const element = queue_.Pop();
    if (element->is_new) {
      turns.push_back(element->number);
      EXPECT_EQ(i % 8, 0);
    } else {
      queue_.Push(element);
    }
  }
  EXPECT_THAT(turns, ElementsAre(0, 1));
}

TEST_F(PrivateQueueTest, SharesWokenTasksAndHalfOfTheNewTasks) {
  MarkNew(0, 3);
  Push(0, 5);
  queue_.PushNext(&elements_[5]);
  RunQueue<Element> batch;
  EXPECT_EQ(queue_.TakeForOthers(batch, 100, /*all_new=*/false), 4u);
  EXPECT_THAT(Numbers(batch), ElementsAre(3, 4, 0, 1));
  EXPECT_EQ(queue_.Size(), 2u);
  EXPECT_EQ(Number(queue_.PopNext()), 5);
  EXPECT_THAT(PopAll(), ElementsAre(2));
}

TEST_F(PrivateQueueTest, SharesAllNewTasksIfConfigured) {
  MarkNew(0, 3);
  Push(0, 3);
  RunQueue<Element> batch;
  EXPECT_EQ(queue_.TakeForOthers(batch, 100, /*all_new=*/true), 3u);
  EXPECT_THAT(Numbers(batch), ElementsAre(0, 1, 2));
}

TEST_F(PrivateQueueTest, SharesAtMostTheLimit) {
  MarkNew(3, 6);
  Push(0, 6);
  RunQueue<Element> batch;
  EXPECT_EQ(queue_.TakeForOthers(batch, 2, false), 2u);
  EXPECT_EQ(queue_.TakeForOthers(batch, 2, false), 2u);
  EXPECT_EQ(queue_.TakeForOthers(batch, 0, false), 0u);
  EXPECT_THAT(Numbers(batch), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(PopAll(), ElementsAre(5, 4));
}

TEST_F(PrivateQueueTest, ABatchIsQueuedBehindWokenTasks) {
  MarkNew(4, 5);
  RunQueue<Element> batch;
  batch.Push(&elements_[2]);
  batch.Push(&elements_[3]);
  Push(0, 2);
  Push(4, 5);
  queue_.Append(batch, 2);
  EXPECT_EQ(queue_.Size(), 5u);
  EXPECT_THAT(PopAll(), ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(PrivateQueueTest, AllTasksCanBeTaken) {
  MarkNew(0, 2);
  Push(0, 4);
  queue_.PushNext(&elements_[4]);
  RunQueue<Element> batch;
  EXPECT_EQ(queue_.TakeAll(batch), 5u);
  EXPECT_THAT(Numbers(batch), ElementsAre(4, 2, 3, 0, 1));
  EXPECT_EQ(queue_.Size(), 0u);
  EXPECT_EQ(queue_.PopNext(), nullptr);
  EXPECT_THAT(PopAll(), IsEmpty());
}

TEST_F(PrivateQueueTest, AllTasksCanBeRescued) {
  Push(0, 2);
  queue_.PushNext(&elements_[2]);
  std::vector<int> rescued;
  std::thread watchdog([&] {
    queue_.Rescue([&](RunQueue<Element>& batch, size_t count) {
      EXPECT_EQ(count, 3u);
      rescued = Numbers(batch);
    });
    queue_.Rescue([](RunQueue<Element>&, size_t) { ADD_FAILURE(); });
  });
  watchdog.join();
  EXPECT_THAT(rescued, ElementsAre(2, 0, 1));
  EXPECT_THAT(PopAll(), IsEmpty());
}

}  // namespace
}  // namespace rouse::scheduler

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/inject_queue.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/scheduler/run_queue.h"

namespace rouse::scheduler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Element {
  int number = 0;
  Element* next_in_queue = nullptr;
};

class InjectQueueTest : public testing::Test {
 protected:
  InjectQueueTest() {
    for (int i = 0; i < 8; ++i) elements_[i].number = i;
  }

  void Push(int from, int to) {
    for (int i = from; i < to; ++i) EXPECT_TRUE(queue_.Push(&elements_[i]));
  }

  static std::vector<int> Numbers(RunQueue<Element>& batch) {
    std::vector<int> numbers;
    while (const Element* element = batch.Pop()) {
      numbers.push_back(element->number);
    }
    return numbers;
  }

  Element elements_[8];
  InjectQueue<Element> queue_;
  RunQueue<Element> batch_;
};

TEST_F(InjectQueueTest, StartsEmpty) {
  EXPECT_TRUE(queue_.IsEmpty());
  EXPECT_EQ(queue_.PopBatch(8, batch_), 0u);
  EXPECT_EQ(queue_.PopAll(batch_), 0u);
  EXPECT_TRUE(batch_.IsEmpty());
}

TEST_F(InjectQueueTest, IsFirstInFirstOut) {
  Push(0, 3);
  EXPECT_EQ(queue_.Size(), 3u);
  EXPECT_EQ(queue_.PopBatch(8, batch_), 3u);
  EXPECT_THAT(Numbers(batch_), ElementsAre(0, 1, 2));
  EXPECT_TRUE(queue_.IsEmpty());
}

TEST_F(InjectQueueTest, GivesNoMoreThanIsAskedFor) {
  Push(0, 5);
  EXPECT_EQ(queue_.PopBatch(0, batch_), 0u);
  EXPECT_EQ(queue_.PopBatch(2, batch_), 2u);
  EXPECT_THAT(Numbers(batch_), ElementsAre(0, 1));
  EXPECT_EQ(queue_.Size(), 3u);
}

TEST_F(InjectQueueTest, GivesAll) {
  Push(0, 3);
  EXPECT_EQ(queue_.PopAll(batch_), 3u);
  EXPECT_TRUE(queue_.IsEmpty());
  EXPECT_THAT(Numbers(batch_), ElementsAre(0, 1, 2));
}

TEST_F(InjectQueueTest, ABatchStaysTogether) {
  Push(0, 1);
  batch_.Push(&elements_[1]);
  batch_.Push(&elements_[2]);
  queue_.PushBatch(batch_, 2);
  EXPECT_TRUE(batch_.IsEmpty());
  Push(3, 4);
  EXPECT_EQ(queue_.Size(), 4u);
  EXPECT_EQ(queue_.PopAll(batch_), 4u);
  EXPECT_THAT(Numbers(batch_), ElementsAre(0, 1, 2, 3));
}

TEST_F(InjectQueueTest, WhatIsTakenGoesBehindWhatIsThere) {
  batch_.Push(&elements_[7]);
  Push(0, 2);
  EXPECT_EQ(queue_.PopBatch(1, batch_), 1u);
  EXPECT_EQ(queue_.PopAll(batch_), 1u);
  EXPECT_THAT(Numbers(batch_), ElementsAre(7, 0, 1));
}

TEST_F(InjectQueueTest, AClosedOneTakesNothing) {
  queue_.Close();
  EXPECT_FALSE(queue_.Push(&elements_[0]));
  EXPECT_TRUE(queue_.IsEmpty());
}

TEST_F(InjectQueueTest, AClosedOneTakesABatch) {
  queue_.Close();
  batch_.Push(&elements_[1]);
  queue_.PushBatch(batch_, 1);
  EXPECT_EQ(queue_.PopAll(batch_), 1u);
  EXPECT_THAT(Numbers(batch_), ElementsAre(1));
}

TEST_F(InjectQueueTest, AClosedOneGivesWhatItHas) {
  Push(0, 2);
  queue_.Close();
  EXPECT_EQ(queue_.PopBatch(1, batch_), 1u);
  EXPECT_EQ(queue_.PopAll(batch_), 1u);
  EXPECT_THAT(Numbers(batch_), ElementsAre(0, 1));
  EXPECT_THAT(Numbers(batch_), IsEmpty());
}

}  // namespace
}  // namespace rouse::scheduler

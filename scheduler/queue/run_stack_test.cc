// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/queue/run_stack.h"

#include <cstdint>
#include <deque>
#include <vector>

#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"

namespace rouse::scheduler {
namespace {

struct Element {
  Element* next_in_queue = nullptr;
  Element* previous_in_queue = nullptr;
};

TEST(RunStackTest, TheOnlyTaskIsBothNewestAndOldest) {
  Element only;
  RunStack<Element> stack;
  stack.Push(&only);
  EXPECT_EQ(stack.PopOldest(), &only);
  EXPECT_EQ(stack.PopNewest(), nullptr);
  stack.Push(&only);
  EXPECT_EQ(stack.PopNewest(), &only);
  EXPECT_EQ(stack.PopOldest(), nullptr);
  EXPECT_TRUE(stack.IsEmpty());
}

TEST(RunStackTest, PopsFromEitherEnd) {
  std::vector<Element> elements(16);
  std::vector<Element*> free;
  for (Element& element : elements) free.push_back(&element);
  RunStack<Element> stack;
  std::deque<Element*> expected;
  FastRand rand(1);
  for (int i = 0; i < 10'000; ++i) {
    const uint32_t what = rand.Below(4);
    if (what >= 2) {
      if (free.empty()) continue;
      stack.Push(free.back());
      expected.push_back(free.back());
      free.pop_back();
    } else {
      const bool oldest = what == 0;
      Element* const element = oldest ? stack.PopOldest() : stack.PopNewest();
      if (expected.empty()) {
        ASSERT_EQ(element, nullptr);
        continue;
      }
      ASSERT_EQ(element, oldest ? expected.front() : expected.back());
      if (oldest) {
        expected.pop_front();
      } else {
        expected.pop_back();
      }
      free.push_back(element);
    }
    ASSERT_EQ(stack.IsEmpty(), expected.empty());
  }
}

}  // namespace
}  // namespace rouse::scheduler

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests a set while allocations fail.

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "gtest/gtest.h"
#include "rouse/future/many/futures_ordered.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/failing_allocations.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/poll_result.h"

#ifdef ROUSE_CAN_FAIL_ALLOCATIONS

namespace rouse {
namespace {

using Set = FuturesOrdered<Switch<int>::Leaf>;

class FuturesOrderedMemoryTest : public ::testing::Test {
 protected:
  // Polls the stream once. Returns -1 for a pending poll, and 0 for the end.
  int PollNextOnce(Set& set) {
    PollResult<std::optional<int>> item = task_.PollNext(set);
    return item.IsPending() ? -1 : item->value_or(0);
  }

  CountingWaker task_;
};

TEST_F(FuturesOrderedMemoryTest, AFutureThatWasNotAddedHasNoPlace) {
  std::array<Switch<int>, 2> switches;
  std::optional<Set> set;
  size_t before = 0;
  const auto push = [&] {
    set.emplace();
    set->Push(switches[0].future());
    before = set->size();
    set->Push(switches[1].future());
    return true;
  };
  const auto check = [&](std::optional<bool> pushed) {
    if (!set.has_value()) return;
    EXPECT_EQ(set->size(), pushed.has_value() ? 2 : before);
    for (Switch<int>& s : switches) {
      if (s.alive()) s.Set(1);
    }
    while (!set->empty()) EXPECT_EQ(PollNextOnce(*set), 1);
    EXPECT_EQ(PollNextOnce(*set), 0);
    set.reset();
    before = 0;
  };
  EXPECT_GT(FailEachAllocation(push, check), 0);
}

TEST_F(FuturesOrderedMemoryTest, AMoveThatFailsLeavesTheSetAsItWas) {
  std::array<Switch<int>, 2> switches;
  std::optional<Set> set(std::in_place);
  std::optional<Set> moved;
  set->Push(switches[0].future());
  set->Push(switches[1].future());
  switches[1].Set(2);
  EXPECT_EQ(PollNextOnce(*set), -1);
  const auto move = [&] {
    moved.emplace(*std::move(set));
    return true;
  };
  const auto check = [&](std::optional<bool> was_moved) {
    Set& now = was_moved.has_value() ? *moved : *set;
    EXPECT_EQ(now.size(), 2);
    EXPECT_EQ(PollNextOnce(now), -1);
    EXPECT_TRUE(switches[0].alive());
  };
  // Not every standard library allocates here.
  FailEachAllocation(move, check);
  switches[0].Set(1);
  EXPECT_EQ(PollNextOnce(*moved), 1);
  EXPECT_EQ(PollNextOnce(*moved), 2);
}

}  // namespace
}  // namespace rouse

#endif

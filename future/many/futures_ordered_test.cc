// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/many/futures_ordered.h"

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/stream.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

using Leaf = Switch<int>::Leaf;

// Polls the stream once. Returns -1 for a pending poll, and 0 for the end.
template <class Set>
int PollNextOnce(Set& set) {
  auto next = Next(set);
  PollResult<std::optional<int>> item = PollOnce(next);
  return item.IsPending() ? -1 : item->value_or(0);
}

TEST(FuturesOrdered, ReturnsOutputsInTheOrderOfTheFutures) {
  std::array<Switch<int>, 3> switches;
  FuturesOrdered<Leaf> set;
  for (Switch<int>& s : switches) set.Push(s.future());
  EXPECT_EQ(PollNextOnce(set), -1);
  switches[2].Set(3);
  EXPECT_EQ(PollNextOnce(set), -1);
  EXPECT_FALSE(switches[2].alive());
  EXPECT_EQ(set.size(), 3);
  switches[0].Set(1);
  EXPECT_EQ(PollNextOnce(set), 1);
  EXPECT_EQ(PollNextOnce(set), -1);
  switches[1].Set(2);
  EXPECT_EQ(PollNextOnce(set), 2);
  EXPECT_EQ(PollNextOnce(set), 3);
  EXPECT_EQ(PollNextOnce(set), 0);
}

TEST(FuturesOrdered, ContinuesAfterItsEnd) {
  FuturesOrdered<Leaf> set;
  EXPECT_EQ(PollNextOnce(set), 0);
  Switch<int> a;
  Switch<int> b;
  set.Push(a.future());
  a.Set(1);
  EXPECT_EQ(PollNextOnce(set), 1);
  set.Push(b.future());
  EXPECT_EQ(PollNextOnce(set), -1);
  b.Set(2);
  EXPECT_EQ(PollNextOnce(set), 2);
}

TEST(FuturesOrdered, ClearCancelsTheFuturesAndDropsTheOutputs) {
  Log log;
  Switch<int> a(&log, "a");
  Switch<int> b(&log, "b");
  FuturesOrdered<Leaf> set;
  set.Push(a.future());
  set.Push(b.future());
  b.Set(2);
  EXPECT_EQ(PollNextOnce(set), -1);
  set.Clear();
  EXPECT_THAT(log, ElementsAre("b", "a"));
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(PollNextOnce(set), 0);
  a.Set(3);
  set.Push(a.future());
  EXPECT_EQ(PollNextOnce(set), 3);
}

TEST(FuturesOrdered, YieldsWhenTheBudgetIsUsedUp) {
  CountingWaker waker;
  std::array<Switch<int>, size_t{2} * kBudgetPerPoll> switches;
  FuturesOrdered<Leaf> set;
  for (Switch<int>& s : switches) set.Push(s.future());
  // All outputs but the first are kept in the set.
  for (size_t i = 1; i < switches.size(); ++i) switches[i].Set(1);
  EXPECT_TRUE(waker.PollNext(set).IsPending());
  switches[0].Set(1);
  Context cx(waker.waker());
  for (int i = 0; i < static_cast<int>(kBudgetPerPoll); ++i) {
    ASSERT_TRUE(set.PollNext(cx).IsReady());
  }
  const int wakes = waker.wakes();
  EXPECT_TRUE(set.PollNext(cx).IsPending());
  EXPECT_EQ(waker.wakes(), wakes + 1);
  EXPECT_TRUE(waker.PollNext(set).IsReady());
}

TEST(FuturesOrdered, ClearWakesTheTask) {
  CountingWaker waker;
  Switch<int> a;
  FuturesOrdered<Leaf> set;
  set.Push(a.future());
  EXPECT_TRUE(waker.PollNext(set).IsPending());
  set.Clear();
  EXPECT_EQ(waker.wakes(), 1);
}

// Calls a function when it is destroyed.
class CallsWhenDestroyed {
 public:
  explicit CallsWhenDestroyed(std::function<void()> call)
      : call_(std::move(call)) {}
  CallsWhenDestroyed(CallsWhenDestroyed&& other) noexcept
      : call_(std::exchange(other.call_, nullptr)) {}
  CallsWhenDestroyed& operator=(CallsWhenDestroyed&&) = delete;
  ~CallsWhenDestroyed() {
    if (call_ != nullptr) call_();
  }

 private:
  std::function<void()> call_;
};

TEST(FuturesOrdered, FuturesAndOutputsCanAddOthersWhenTheyAreDestroyed) {
  auto wait = [](CallsWhenDestroyed /*call*/) -> Co<CallsWhenDestroyed> {
    Switch<int> never;
    (void)co_await never.future();
    co_return CallsWhenDestroyed(nullptr);
  };
  auto give = [](CallsWhenDestroyed call) -> Co<CallsWhenDestroyed> {
    co_return std::move(call);
  };
  int calls = 0;
  FuturesOrdered<Co<CallsWhenDestroyed>> set;
  const auto push = [&] {
    ++calls;
    set.Push(give(CallsWhenDestroyed(nullptr)));
  };
  const auto fill = [&] {
    calls = 0;
    set.Push(wait(CallsWhenDestroyed(push)));
    // This output is kept.
    set.Push(give(CallsWhenDestroyed(push)));
    auto next = Next(set);
    EXPECT_TRUE(PollOnce(next).IsPending());
  };
  const auto is_at_end = [&set] {
    auto next = Next(set);
    return !PollOnce(next).value().has_value();
  };
  fill();
  set.Clear();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(set.size(), 0);
  EXPECT_TRUE(is_at_end());
  fill();
  set = FuturesOrdered<Co<CallsWhenDestroyed>>();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(set.size(), 0);
  EXPECT_TRUE(is_at_end());
  fill();
}

TEST(FuturesOrdered, KeepsItsFuturesWhenAssignedToItself) {
  Switch<int> a;
  FuturesOrdered<Leaf> set;
  set.Push(a.future());
  EXPECT_EQ(PollNextOnce(set), -1);
  FuturesOrdered<Leaf>& same = set;
  set = std::move(same);
  EXPECT_EQ(set.size(), 1);
  a.Set(1);
  EXPECT_EQ(PollNextOnce(set), 1);
}

TEST(FuturesOrdered, MovesWithItsFuturesAndOutputs) {
  Switch<int> a;
  Switch<int> b;
  FuturesOrdered<Leaf> set;
  set.Push(a.future());
  set.Push(b.future());
  b.Set(2);
  EXPECT_EQ(PollNextOnce(set), -1);
  FuturesOrdered<Leaf> moved(std::move(set));
  a.Set(1);
  EXPECT_EQ(PollNextOnce(moved), 1);
  EXPECT_EQ(PollNextOnce(moved), 2);
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(FuturesOrdered, HasNoItemForAFutureThatThrows) {
  Switch<int> s;
  auto body = [](int i, Switch<int>& s) -> Co<int> {
    if (i == 1) co_return co_await s.future();
    if (i == 2) throw std::runtime_error("child");
    co_return i;
  };
  FuturesOrdered<Co<int>> set;
  for (int i = 1; i <= 3; ++i) set.Push(body(i, s));
  EXPECT_THROW((void)PollNextOnce(set), std::runtime_error);
  EXPECT_EQ(set.size(), 2);
  EXPECT_EQ(PollNextOnce(set), -1);
  s.Set(1);
  EXPECT_EQ(PollNextOnce(set), 1);
  EXPECT_EQ(PollNextOnce(set), 3);
  EXPECT_EQ(PollNextOnce(set), 0);
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse

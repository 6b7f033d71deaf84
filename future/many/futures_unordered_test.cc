// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/many/futures_unordered.h"

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/co.h"
#include "rouse/future/stream.h"
#include "rouse/future/yield.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

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

TEST(FuturesUnordered, ReturnsOutputsInTheOrderOfReadiness) {
  std::array<Switch<int>, 3> switches;
  FuturesUnordered<Leaf> set;
  for (Switch<int>& s : switches) set.Push(s.future());
  EXPECT_EQ(set.size(), 3);
  EXPECT_EQ(PollNextOnce(set), -1);
  switches[2].Set(3);
  switches[0].Set(1);
  EXPECT_EQ(PollNextOnce(set), 3);
  EXPECT_EQ(set.size(), 2);
  EXPECT_EQ(PollNextOnce(set), 1);
  EXPECT_EQ(PollNextOnce(set), -1);
  switches[1].Set(2);
  EXPECT_EQ(PollNextOnce(set), 2);
  EXPECT_TRUE(set.empty());
}

TEST(FuturesUnordered, EndsWhenEmptyAndContinuesAfterAPush) {
  FuturesUnordered<Leaf> set;
  EXPECT_EQ(PollNextOnce(set), 0);
  Switch<int> s;
  set.Push(s.future());
  EXPECT_EQ(PollNextOnce(set), -1);
  s.Set(7);
  EXPECT_EQ(PollNextOnce(set), 7);
  EXPECT_EQ(PollNextOnce(set), 0);
  s.Set(8);
  set.Push(s.future());
  EXPECT_EQ(PollNextOnce(set), 8);
}

TEST(FuturesUnordered, PollsOnlyTheFuturesThatWereWoken) {
  std::array<Switch<int>, 100> switches;
  FuturesUnordered<Leaf> set;
  for (Switch<int>& s : switches) set.Push(s.future());
  EXPECT_EQ(PollNextOnce(set), -1);
  for (int i = 99; i >= 0; --i) {
    switches[i].Set(i + 1);
    EXPECT_EQ(PollNextOnce(set), i + 1);
  }
  for (const Switch<int>& s : switches) EXPECT_EQ(s.polls(), 2);
}

TEST(FuturesUnordered, AReadyFutureIsDestroyedBeforeItsOutputIsReturned) {
  Switch<int> s;
  FuturesUnordered<Leaf> set;
  set.Push(s.future());
  s.Set(1);
  EXPECT_EQ(PollNextOnce(set), 1);
  EXPECT_FALSE(s.alive());
}

TEST(FuturesUnordered, AWakeOfAFutureWakesTheTask) {
  CountingWaker waker;
  Context cx(waker.waker());
  std::array<Switch<int>, 2> switches;
  FuturesUnordered<Leaf> set;
  for (Switch<int>& s : switches) set.Push(s.future());
  EXPECT_TRUE(set.PollNext(cx).IsPending());
  EXPECT_EQ(waker.wakes(), 0);
  switches[1].Set(1);
  EXPECT_EQ(waker.wakes(), 1);
  // One wake suffices for both.
  switches[0].Set(1);
  EXPECT_EQ(waker.wakes(), 1);
}

TEST(FuturesUnordered, APushWakesTheTask) {
  CountingWaker waker;
  Context cx(waker.waker());
  Switch<int> a;
  Switch<int> b;
  FuturesUnordered<Leaf> set;
  set.Push(a.future());
  EXPECT_TRUE(set.PollNext(cx).IsPending());
  set.Push(b.future());
  EXPECT_EQ(waker.wakes(), 1);
}

TEST(FuturesUnordered, APushWakesNoTaskThatDoesNotWait) {
  CountingWaker waker;
  Switch<int> a;
  Switch<int> b;
  Switch<int> c;
  FuturesUnordered<Leaf> set;
  set.Push(a.future());
  a.Set(1);
  EXPECT_TRUE(waker.PollNext(set).IsReady());
  set.Push(b.future());
  EXPECT_EQ(waker.wakes(), 0);
  EXPECT_TRUE(waker.PollNext(set).IsPending());
  set.Push(c.future());
  EXPECT_EQ(waker.wakes(), 1);
}

TEST(FuturesUnordered, AFutureCanAddOthers) {
  FuturesUnordered<Co<int>> set;
  auto body = [](FuturesUnordered<Co<int>>& set, int depth,
                 auto& self) -> Co<int> {
    if (depth > 1) set.Push(self(set, depth - 1, self));
    co_return depth;
  };
  set.Push(body(set, 3, body));
  EXPECT_EQ(PollNextOnce(set), 3);
  EXPECT_EQ(PollNextOnce(set), 2);
  EXPECT_EQ(PollNextOnce(set), 1);
  EXPECT_EQ(PollNextOnce(set), 0);
}

TEST(FuturesUnordered, AFutureThatYieldsDoesNotKeepTheThread) {
  auto yields = [](int& polls) -> Co<int> {
    for (;;) {
      ++polls;
      co_await Yield();
    }
  };
  int polls = 0;
  Switch<int> s;
  CountingWaker waker;
  FuturesUnordered<Co<int>> set;
  set.Push(yields(polls));
  for (int i = 1; i <= 3; ++i) {
    Context cx(waker.waker());
    EXPECT_TRUE(set.PollNext(cx).IsPending());
    EXPECT_EQ(polls, i);
    EXPECT_EQ(waker.wakes(), i);
  }
}

TEST(FuturesUnordered, AFutureThatYieldsIsPolledOnceBesideIdleFutures) {
  auto yields = [](int& polls) -> Co<int> {
    for (;;) {
      ++polls;
      co_await Yield();
    }
  };
  auto waits = [](Switch<int>& s) -> Co<int> { co_return co_await s.future(); };
  int polls = 0;
  std::array<Switch<int>, 9> idle;
  CountingWaker waker;
  FuturesUnordered<Co<int>> set;
  set.Push(yields(polls));
  for (Switch<int>& s : idle) set.Push(waits(s));
  for (int i = 1; i <= 3; ++i) {
    EXPECT_TRUE(waker.PollNext(set).IsPending());
    EXPECT_EQ(polls, i);
    EXPECT_EQ(waker.wakes(), i);
  }
}

TEST(FuturesUnordered, AnAddedFutureIsPolledByTheNextPoll) {
  Switch<int> added;
  Switch<int> idle;
  auto adds = [](FuturesUnordered<Co<int>>& set, Switch<int>& added,
                 auto& waits) -> Co<int> {
    set.Push(waits(added));
    co_await Yield();
    co_return 1;
  };
  auto waits = [](Switch<int>& s) -> Co<int> { co_return co_await s.future(); };
  CountingWaker waker;
  FuturesUnordered<Co<int>> set;
  set.Push(waits(idle));
  EXPECT_TRUE(waker.PollNext(set).IsPending());
  set.Push(adds(set, added, waits));
  const int wakes = waker.wakes();
  EXPECT_TRUE(waker.PollNext(set).IsPending());
  EXPECT_EQ(added.polls(), 0);
  EXPECT_EQ(waker.wakes(), wakes + 1);
  EXPECT_TRUE(waker.PollNext(set).IsReady());
  EXPECT_EQ(added.polls(), 1);
}

// The wake must not bring the removed future back.
TEST(FuturesUnordered, AFutureCanWakeItselfAndBeReadyInOnePoll) {
  class WakesAndIsReady {
   public:
    PollResult<int> Poll(Context& cx) {
      cx.waker().WakeByRef();
      return 1;
    }
  };
  FuturesUnordered<WakesAndIsReady> set;
  for (int i = 0; i < 2; ++i) set.Push(WakesAndIsReady());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(PollNextOnce(set), 1);
  EXPECT_EQ(PollNextOnce(set), 0);
  set.Push(WakesAndIsReady());
  EXPECT_EQ(PollNextOnce(set), 1);
}

TEST(FuturesUnordered, YieldsWhenTheBudgetIsUsedUp) {
  CountingWaker waker;
  std::array<Switch<int>, size_t{2} * kBudgetPerPoll> switches;
  FuturesUnordered<Leaf> set;
  for (Switch<int>& s : switches) {
    set.Push(s.future());
    s.Set(1);
  }
  Context cx(waker.waker());
  for (int i = 0; i < static_cast<int>(kBudgetPerPoll); ++i) {
    EXPECT_TRUE(set.PollNext(cx).IsReady());
  }
  EXPECT_EQ(waker.wakes(), 0);
  EXPECT_TRUE(set.PollNext(cx).IsPending());
  EXPECT_EQ(waker.wakes(), 1);
  // No wake was lost.
  Context next(waker.waker());
  EXPECT_TRUE(set.PollNext(next).IsReady());
}

TEST(FuturesUnordered, OutputsOfAllKinds) {
  int x = 1;
  auto reference = [](int& x) -> Co<int&> { co_return x; };
  FuturesUnordered<Co<int&>> references;
  references.Push(reference(x));
  auto next = Next(references);
  std::optional<std::reference_wrapper<int>> item = PollOnce(next).value();
  EXPECT_EQ(&item->get(), &x);

  auto nothing = []() -> Co<> { co_return; };
  FuturesUnordered<Co<>> nothings;
  nothings.Push(nothing());
  static_assert(
      std::is_same_v<StreamItem<FuturesUnordered<Co<>>>, std::monostate>);
  auto end = Next(nothings);
  EXPECT_TRUE(PollOnce(end).value().has_value());
}

TEST(FuturesUnordered, DestructionAndClearCancelTheFutures) {
  Log log;
  Switch<int> a(&log, "a");
  Switch<int> b(&log, "b");
  Switch<int> c(&log, "c");
  {
    FuturesUnordered<Leaf> set;
    set.Push(a.future());
    set.Push(b.future());
    EXPECT_EQ(PollNextOnce(set), -1);
    set.Clear();
    EXPECT_THAT(log, ElementsAre("a", "b"));
    EXPECT_EQ(PollNextOnce(set), 0);
    set.Push(c.future());
  }
  EXPECT_THAT(log, ElementsAre("a", "b", "c"));
}

// A future that is ready with 1, and calls a function when it is destroyed.
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

  PollResult<int> Poll(Context&) { return 1; }

 private:
  std::function<void()> call_;
};

TEST(FuturesUnordered, AFutureCanAddOthersWhenItIsDestroyed) {
  int destroyed = 0;
  {
    FuturesUnordered<CallsWhenDestroyed> set;
    const auto push = [&] {
      set.Push(CallsWhenDestroyed([&] {
        ++destroyed;
        set.Push(CallsWhenDestroyed([&destroyed] { ++destroyed; }));
      }));
    };
    push();
    EXPECT_EQ(PollNextOnce(set), 1);
    EXPECT_EQ(set.size(), 1);
    EXPECT_EQ(PollNextOnce(set), 1);
    EXPECT_EQ(destroyed, 2);

    push();
    set.Clear();
    EXPECT_TRUE(set.empty());
    EXPECT_EQ(destroyed, 4);
    EXPECT_EQ(PollNextOnce(set), 0);
    push();
    EXPECT_EQ(PollNextOnce(set), 1);
    EXPECT_EQ(PollNextOnce(set), 1);
    EXPECT_EQ(PollNextOnce(set), 0);

    push();
    set = FuturesUnordered<CallsWhenDestroyed>();
    EXPECT_TRUE(set.empty());
    EXPECT_EQ(destroyed, 8);
    EXPECT_EQ(PollNextOnce(set), 0);

    push();
  }
  EXPECT_EQ(destroyed, 10);
}

TEST(FuturesUnordered, ClearWakesTheTask) {
  CountingWaker waker;
  Switch<int> a;
  FuturesUnordered<Leaf> set;
  set.Push(a.future());
  EXPECT_TRUE(waker.PollNext(set).IsPending());
  set.Clear();
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(waker.live(), 0);
  // A future that is added now must be polled, too.
  set.Push(a.future());
  EXPECT_TRUE(waker.PollNext(set).IsPending());
  a.Set(1);
  EXPECT_EQ(waker.wakes(), 2);
}

TEST(FuturesUnordered, DestructionWakesNothing) {
  CountingWaker waker;
  Switch<int> a;
  {
    FuturesUnordered<Leaf> set;
    set.Push(a.future());
    EXPECT_TRUE(waker.PollNext(set).IsPending());
  }
  EXPECT_EQ(waker.wakes(), 0);
  EXPECT_EQ(waker.live(), 0);
}

TEST(FuturesUnordered, AWakerMayOutliveTheSet) {
  Waker kept;
  class Keeps {
   public:
    explicit Keeps(Waker& waker) : waker_(waker) {}
    PollResult<int> Poll(Context& cx) {
      waker_ = cx.waker().Clone();
      return kPending;
    }

   private:
    Waker& waker_;
  };
  CountingWaker task;
  {
    Context cx(task.waker());
    FuturesUnordered<Keeps> set;
    set.Push(Keeps(kept));
    EXPECT_TRUE(set.PollNext(cx).IsPending());
  }
  kept.WakeByRef();
  EXPECT_EQ(task.wakes(), 0);
}

TEST(FuturesUnordered, MovesWithItsFutures) {
  Switch<int> a;
  Switch<int> b;
  FuturesUnordered<Leaf> set;
  set.Push(a.future());
  EXPECT_EQ(PollNextOnce(set), -1);
  FuturesUnordered<Leaf> moved(std::move(set));
  EXPECT_EQ(moved.size(), 1);
  FuturesUnordered<Leaf> assigned;
  assigned.Push(b.future());
  assigned = std::move(moved);
  EXPECT_FALSE(b.alive());
  a.Set(5);
  EXPECT_EQ(PollNextOnce(assigned), 5);
}

TEST(FuturesUnordered, SaysWhetherAFutureUsesAClosure) {
  FuturesUnordered<Co<int>> set;
  const int x = 1;
  auto captures = [&x]() -> Co<int> { co_return x; };
  EXPECT_FALSE(set.BorrowsClosure());
  set.Push(captures());
  EXPECT_TRUE(set.BorrowsClosure());
  EXPECT_EQ(PollNextOnce(set), 1);
}

TEST(FuturesUnordered, TracesItsFutures) {
  Switch<int> s;
  FuturesUnordered<Leaf> set;
  set.Push(s.future());
  AwaitTrace trace;
  trace.Add(set);
  ASSERT_EQ(trace.steps().size(), 2);
  EXPECT_EQ(trace.steps()[0].name, "FuturesUnordered");
  EXPECT_EQ(trace.steps()[1].depth, 1);
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(FuturesUnordered, AnExceptionLeavesTheOtherFuturesInTheSet) {
  auto body = [](int i) -> Co<int> {
    if (i == 1) throw std::runtime_error("child");
    co_return i;
  };
  FuturesUnordered<Co<int>> set;
  set.Push(body(1));
  set.Push(body(2));
  EXPECT_THROW((void)PollNextOnce(set), std::runtime_error);
  EXPECT_EQ(set.size(), 1);
  EXPECT_EQ(PollNextOnce(set), 2);
  EXPECT_EQ(PollNextOnce(set), 0);
}

TEST(FuturesUnordered, ClearIgnoresAThrowingWaker) {
  CountingWaker waker;
  waker.OnWake([] { throw std::runtime_error("no"); });
  Switch<int> a;
  FuturesUnordered<Leaf> set;
  set.Push(a.future());
  EXPECT_TRUE(waker.PollNext(set).IsPending());
  EXPECT_NO_THROW(set.Clear());
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_TRUE(set.empty());
  EXPECT_FALSE(a.alive());
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse

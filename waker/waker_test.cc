// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/waker/waker.h"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>

#include "absl/base/config.h"
#include "gtest/gtest.h"
#include "rouse/testing/counting_waker.h"

namespace rouse {
namespace {

TEST(Waker, IsTwoWordsAndOnlyMoves) {
  static_assert(sizeof(Waker) == 2 * sizeof(void*));
  static_assert(std::is_nothrow_move_constructible_v<Waker>);
  static_assert(std::is_nothrow_move_assignable_v<Waker>);
  static_assert(!std::is_copy_constructible_v<Waker>);
  static_assert(!std::is_copy_assignable_v<Waker>);
}

TEST(Waker, CloneCountsAReference) {
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    const Waker clone = waker.Clone();
    EXPECT_EQ(task.clones(), 1);
    EXPECT_EQ(task.live(), 2);
  }
  EXPECT_EQ(task.drops(), 2);
  EXPECT_EQ(task.wakes(), 0);
}

TEST(Waker, WakeReleasesTheReference) {
  CountingWaker task;
  Waker waker = task.NewWaker();
  std::move(waker).Wake();
  EXPECT_EQ(task.wakes_by_value(), 1);
  EXPECT_EQ(task.live(), 0);
  EXPECT_TRUE(waker.IsNoop());  // NOLINT(bugprone-use-after-move)
}

TEST(Waker, AWakerWakesOnce) {
  CountingWaker task;
  Waker waker = task.NewWaker();
  std::move(waker).Wake();
  std::move(waker).Wake();  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(task.wakes(), 1);
}

TEST(Waker, WakeByRefKeepsTheReference) {
  CountingWaker task;
  const Waker waker = task.NewWaker();
  waker.WakeByRef();
  waker.WakeByRef();
  EXPECT_EQ(task.wakes_by_ref(), 2);
  EXPECT_EQ(task.wakes_by_value(), 0);
  EXPECT_EQ(task.live(), 1);
}

TEST(Waker, MovingIsFreeAndLeavesTheNoopWaker) {
  CountingWaker task;
  Waker from = task.NewWaker();
  Waker to = std::move(from);
  EXPECT_TRUE(from.IsNoop());  // NOLINT(bugprone-use-after-move)
  EXPECT_FALSE(to.IsNoop());
  EXPECT_EQ(task.clones(), 0);
  EXPECT_EQ(task.drops(), 0);
}

TEST(Waker, AssignmentDropsTheOldWaker) {
  CountingWaker first, second;
  Waker to = first.NewWaker();
  Waker from = second.NewWaker();
  to = std::move(from);
  EXPECT_EQ(first.drops(), 1);
  EXPECT_EQ(second.drops(), 0);
  EXPECT_TRUE(from.IsNoop());  // NOLINT(bugprone-use-after-move)
}

TEST(Waker, AssignmentPrecedesTheDropOfTheOldWaker) {
  CountingWaker first, second;
  Waker to = first.NewWaker();
  Waker from = second.NewWaker();
  bool replaced = false;
  first.OnDrop([&] { replaced = to.raw().data == &second && from.IsNoop(); });
  to = std::move(from);
  EXPECT_TRUE(replaced);
}

TEST(Waker, SelfAssignmentKeepsTheWaker) {
  CountingWaker task;
  Waker waker = task.NewWaker();
  Waker& same = waker;
  waker = std::move(same);
  EXPECT_FALSE(waker.IsNoop());
  EXPECT_EQ(task.drops(), 0);
}

TEST(Waker, ResetDropsAndLeavesTheNoopWaker) {
  CountingWaker task;
  Waker waker = task.NewWaker();
  waker.Reset();
  EXPECT_EQ(task.drops(), 1);
  EXPECT_TRUE(waker.IsNoop());
  waker.Reset();
  EXPECT_EQ(task.drops(), 1);
}

TEST(Waker, WillWakeDistinguishesTasks) {
  CountingWaker a, b;
  const Waker waker_a = a.NewWaker();
  const Waker waker_b = b.NewWaker();
  EXPECT_TRUE(waker_a.WillWake(waker_a));
  EXPECT_TRUE(waker_a.WillWake(waker_a.Clone()));
  EXPECT_FALSE(waker_a.WillWake(waker_b));
  EXPECT_FALSE(waker_a.WillWake(Waker()));
  EXPECT_TRUE(Waker().WillWake(Waker::Noop()));
}

TEST(Waker, WillWakeComparesTheVtable) {
  static constexpr RawWakerVTable kOther = {
      [](void* data) { return RawWaker{data, &kOther}; }, [](void*) {},
      [](void*) {}, [](void*) {}};
  CountingWaker task;
  const Waker waker = task.NewWaker();
  EXPECT_FALSE(waker.WillWake(Waker(RawWaker{&task, &kOther})));
}

TEST(Waker, TheNoopWakerDoesNothing) {
  Waker noop = Waker::Noop();
  EXPECT_TRUE(noop.IsNoop());
  noop.WakeByRef();
  EXPECT_TRUE(noop.Clone().IsNoop());
  std::move(noop).Wake();
  EXPECT_TRUE(noop.IsNoop());  // NOLINT(bugprone-use-after-move)
}

TEST(Waker, FromCallableCallsForEveryWake) {
  int calls = 0;
  Waker waker = Waker::FromCallable([&] { ++calls; });
  waker.WakeByRef();
  waker.Clone().WakeByRef();
  waker.Clone().Wake();
  std::move(waker).Wake();
  EXPECT_EQ(calls, 4);
}

TEST(Waker, FromCallableClonesWakeTheSameTask) {
  const Waker waker = Waker::FromCallable([] {});
  const Waker other = Waker::FromCallable([] {});
  EXPECT_TRUE(waker.WillWake(waker.Clone()));
  EXPECT_FALSE(waker.WillWake(other));
}

TEST(Waker, FromCallableDestroysTheCallableWithTheLastClone) {
  auto owned = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = owned;
  Waker waker = Waker::FromCallable([owned = std::move(owned)] { ++*owned; });
  Waker clone = waker.Clone();
  waker.Reset();
  EXPECT_FALSE(watch.expired());
  std::move(clone).Wake();
  EXPECT_TRUE(watch.expired());
}

TEST(Waker, FromCallableTakesAMoveOnlyCallable) {
  int seen = 0;
  const Waker waker = Waker::FromCallable(
      [&seen, owned = std::make_unique<int>(5)] { seen = *owned; });
  waker.WakeByRef();
  EXPECT_EQ(seen, 5);
}

TEST(Waker, ABorrowedWakerHasNoReference) {
  CountingWaker task;
  {
    const BorrowedWaker borrowed(task.raw());
    borrowed.get().WakeByRef();
    EXPECT_EQ(task.live(), 0);
  }
  EXPECT_EQ(task.wakes_by_ref(), 1);
  EXPECT_EQ(task.clones(), 0);
  EXPECT_EQ(task.drops(), 0);
}

TEST(Waker, ACloneOfABorrowedWakerHasAReference) {
  CountingWaker task;
  Waker clone;
  {
    const BorrowedWaker borrowed(task.raw());
    clone = borrowed.get().Clone();
    EXPECT_TRUE(clone.WillWake(borrowed.get()));
  }
  EXPECT_EQ(task.live(), 1);
  std::move(clone).Wake();
  EXPECT_EQ(task.wakes_by_value(), 1);
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(Waker, AThrowingCloneTakesNoReference) {
  CountingWaker task;
  const Waker waker = task.NewWaker();
  task.OnClone([] { throw std::runtime_error("clone"); });
  EXPECT_THROW((void)waker.Clone(), std::runtime_error);
  EXPECT_EQ(task.live(), 1);
}

TEST(Waker, AThrowingWakeLeavesTheNoopWaker) {
  CountingWaker task;
  Waker waker = task.NewWaker();
  task.OnWake([] { throw std::runtime_error("wake"); });
  EXPECT_THROW(std::move(waker).Wake(), std::runtime_error);
  EXPECT_TRUE(waker.IsNoop());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(task.live(), 0);
}

TEST(Waker, ResetPropagatesAnExceptionOfDrop) {
  CountingWaker task;
  Waker waker = task.NewWaker();
  task.OnDrop([] { throw std::runtime_error("drop"); });
  EXPECT_THROW(waker.Reset(), std::runtime_error);
  EXPECT_TRUE(waker.IsNoop());
  EXPECT_EQ(task.live(), 0);
}

TEST(Waker, AThrowingCallableIsDestroyed) {
  auto owned = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = owned;
  Waker waker = Waker::FromCallable(
      [owned = std::move(owned)] { throw std::runtime_error("wake"); });
  EXPECT_THROW(std::move(waker).Wake(), std::runtime_error);
  EXPECT_TRUE(watch.expired());
}

#endif  // ABSL_HAVE_EXCEPTIONS

// For the thread sanitizer: clones go back and forth, and the last clone, on
// whichever thread, destroys the state that all threads have used.
TEST(Waker, FromCallableIsSharedBetweenThreads) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  Waker waker = Waker::FromCallable([calls] { ++*calls; });
  std::thread other([clone = waker.Clone()]() mutable {
    for (int i = 0; i < 1000; ++i) clone.Clone().Wake();
    std::move(clone).Wake();
  });
  for (int i = 0; i < 1000; ++i) waker.Clone().Wake();
  std::move(waker).Wake();
  other.join();
  EXPECT_EQ(*calls, 2002);
  EXPECT_EQ(calls.use_count(), 1);
}

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/waker/atomic_waker.h"

#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

// Registers a waker that counts no reference of its own, so that only the
// cell's references are counted.
void Register(AtomicWaker& cell, CountingWaker& task) {
  const BorrowedWaker waker(task.raw());
  cell.Register(waker.get());
}

TEST(AtomicWaker, WakesTheRegisteredWakerOnce) {
  CountingWaker task;
  AtomicWaker cell;
  Register(cell, task);
  EXPECT_EQ(task.clones(), 1);
  EXPECT_EQ(task.wakes(), 0);
  cell.Wake();
  EXPECT_EQ(task.wakes_by_value(), 1);
  cell.Wake();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.live(), 0);
}

TEST(AtomicWaker, AWakeBeforeRegisterIsANoOp) {
  CountingWaker task;
  AtomicWaker cell;
  cell.Wake();
  Register(cell, task);
  EXPECT_EQ(task.wakes(), 0);
  cell.Wake();
  EXPECT_EQ(task.wakes(), 1);
}

TEST(AtomicWaker, IsUsedAnyNumberOfTimes) {
  CountingWaker task;
  AtomicWaker cell;
  for (int i = 1; i <= 100; ++i) {
    Register(cell, task);
    cell.Wake();
    ASSERT_EQ(task.wakes(), i);
  }
  EXPECT_EQ(task.live(), 0);
}

TEST(AtomicWaker, RegisterReplacesAWakerOfAnotherTask) {
  CountingWaker first, second;
  AtomicWaker cell;
  Register(cell, first);
  Register(cell, second);
  EXPECT_EQ(first.live(), 0);
  EXPECT_EQ(first.wakes(), 0);
  cell.Wake();
  EXPECT_EQ(first.wakes(), 0);
  EXPECT_EQ(second.wakes(), 1);
}

TEST(AtomicWaker, RegisterKeepsAWakerOfTheSameTask) {
  CountingWaker task;
  AtomicWaker cell;
  Register(cell, task);
  Register(cell, task);
  Register(cell, task);
  EXPECT_EQ(task.clones(), 1);
  EXPECT_EQ(task.drops(), 0);
  cell.Wake();
  EXPECT_EQ(task.wakes(), 1);
}

TEST(AtomicWaker, RegisterAfterAWakeClonesAgain) {
  CountingWaker task;
  AtomicWaker cell;
  Register(cell, task);
  cell.Wake();
  Register(cell, task);
  EXPECT_EQ(task.clones(), 2);
  cell.Wake();
  EXPECT_EQ(task.wakes(), 2);
}

TEST(AtomicWaker, TheNoopWakerIsRegistered) {
  CountingWaker task;
  AtomicWaker cell;
  Register(cell, task);
  cell.Register(Waker());
  EXPECT_EQ(task.drops(), 1);
  cell.Wake();
  EXPECT_EQ(task.wakes(), 0);
}

TEST(AtomicWaker, TakeReturnsTheWaker) {
  CountingWaker task;
  AtomicWaker cell;
  Register(cell, task);
  Waker taken = cell.Take();
  EXPECT_EQ(task.wakes(), 0);
  EXPECT_EQ(task.live(), 1);
  cell.Wake();
  EXPECT_EQ(task.wakes(), 0);
  std::move(taken).Wake();
  EXPECT_EQ(task.wakes(), 1);
}

TEST(AtomicWaker, TakeOfAnEmptyCellIsTheNoopWaker) {
  AtomicWaker cell;
  EXPECT_TRUE(cell.Take().IsNoop());
  EXPECT_TRUE(cell.Take().IsNoop());
}

TEST(AtomicWaker, DestructionDropsTheWaker) {
  CountingWaker task;
  {
    AtomicWaker cell;
    Register(cell, task);
    EXPECT_EQ(task.live(), 1);
  }
  EXPECT_EQ(task.live(), 0);
  EXPECT_EQ(task.wakes(), 0);
}

TEST(AtomicWaker, CannotBeMovedOrCopied) {
  static_assert(!std::is_copy_constructible_v<AtomicWaker>);
  static_assert(!std::is_move_constructible_v<AtomicWaker>);
}

// A clone runs inside Register(), while Register() holds the cell. Calls from
// the clone therefore act like another thread at that moment.

TEST(AtomicWaker, AWakeDuringRegisterWakesTheNewWaker) {
  CountingWaker task;
  AtomicWaker cell;
  task.OnClone([&] {
    cell.Wake();
    EXPECT_EQ(task.wakes(), 0);  // the cell is held: left to Register()
  });
  Register(cell, task);
  EXPECT_EQ(task.wakes_by_value(), 1);
  EXPECT_EQ(task.live(), 0);
}

TEST(AtomicWaker, AWakeDuringRegisterLeavesTheOldWakerAsleep) {
  CountingWaker first, second;
  AtomicWaker cell;
  Register(cell, first);
  second.OnClone([&] { cell.Wake(); });
  Register(cell, second);
  EXPECT_EQ(first.wakes(), 0);
  EXPECT_EQ(first.drops(), 1);
  EXPECT_EQ(second.wakes(), 1);
}

TEST(AtomicWaker, ManyWakesDuringRegisterAreOne) {
  CountingWaker task;
  AtomicWaker cell;
  task.OnClone([&] {
    for (int i = 0; i < 3; ++i) cell.Wake();
  });
  Register(cell, task);
  EXPECT_EQ(task.wakes(), 1);
}

TEST(AtomicWaker, TheCellIsFreeAfterAWakeDuringRegister) {
  CountingWaker task;
  AtomicWaker cell;
  task.OnClone([&] { cell.Wake(); });
  Register(cell, task);
  task.OnClone(nullptr);
  Register(cell, task);
  EXPECT_EQ(task.wakes(), 1);
  cell.Wake();
  EXPECT_EQ(task.wakes(), 2);
}

TEST(AtomicWaker, ATakeDuringRegisterIsAWake) {
  CountingWaker task;
  AtomicWaker cell;
  task.OnClone([&] { EXPECT_TRUE(cell.Take().IsNoop()); });
  Register(cell, task);
  EXPECT_EQ(task.wakes(), 1);
}

TEST(AtomicWaker, ARegisterDuringRegisterLoses) {
  CountingWaker winner, loser;
  AtomicWaker cell;
  winner.OnClone([&] { Register(cell, loser); });
  Register(cell, winner);
  EXPECT_EQ(loser.clones(), 0);
  cell.Wake();
  EXPECT_EQ(winner.wakes(), 1);
  EXPECT_EQ(loser.wakes(), 0);
}

// Wakes and drops run when the cell is free, and may use it.

TEST(AtomicWaker, AWokenTaskCanRegisterAgainInsideTheWake) {
  CountingWaker task;
  AtomicWaker cell;
  Register(cell, task);
  task.OnWake([&] { Register(cell, task); });
  cell.Wake();
  task.OnWake(nullptr);
  EXPECT_EQ(task.wakes(), 1);
  cell.Wake();
  EXPECT_EQ(task.wakes(), 2);
}

TEST(AtomicWaker, ADroppedWakerCanWakeTheCell) {
  CountingWaker first, second;
  AtomicWaker cell;
  Register(cell, first);
  first.OnDrop([&] { cell.Wake(); });
  Register(cell, second);
  EXPECT_EQ(second.wakes_by_value(), 1);
}

TEST(AtomicWaker, AWokenTaskCanDestroyTheCell) {
  CountingWaker task;
  auto cell = std::make_unique<AtomicWaker>();
  Register(*cell, task);
  task.OnWake([&] { cell.reset(); });
  cell->Wake();
  EXPECT_EQ(cell, nullptr);
}

TEST(AtomicWaker, ATaskWokenByRegisterCanDestroyTheCell) {
  CountingWaker first, second;
  auto cell = std::make_unique<AtomicWaker>();
  Register(*cell, first);
  second.OnClone([&] { cell->Wake(); });
  second.OnWake([&] { cell.reset(); });
  Register(*cell, second);
  EXPECT_EQ(cell, nullptr);
}

#ifdef ABSL_HAVE_EXCEPTIONS

void Throw() { throw std::runtime_error("thrown"); }

// Returns whether a waker can be registered and woken.
bool IsUsable(AtomicWaker& cell) {
  CountingWaker task;
  Register(cell, task);
  cell.Wake();
  return task.wakes() == 1;
}

TEST(AtomicWaker, AThrowingCloneLeavesTheOldWaker) {
  CountingWaker old, bad;
  AtomicWaker cell;
  Register(cell, old);
  bad.OnClone(&Throw);
  EXPECT_THROW(Register(cell, bad), std::runtime_error);
  EXPECT_EQ(old.drops(), 0);
  cell.Wake();
  EXPECT_EQ(old.wakes(), 1);
  EXPECT_EQ(bad.wakes(), 0);
  EXPECT_TRUE(IsUsable(cell));
}

TEST(AtomicWaker, AThrowingCloneLeavesAnEmptyCellEmpty) {
  CountingWaker bad;
  AtomicWaker cell;
  bad.OnClone(&Throw);
  EXPECT_THROW(Register(cell, bad), std::runtime_error);
  EXPECT_TRUE(cell.Take().IsNoop());
  EXPECT_TRUE(IsUsable(cell));
}

TEST(AtomicWaker, AWakeDuringAThrowingCloneWakesTheOldWaker) {
  CountingWaker old, bad;
  AtomicWaker cell;
  Register(cell, old);
  bad.OnClone([&] {
    cell.Wake();
    Throw();
  });
  EXPECT_THROW(Register(cell, bad), std::runtime_error);
  EXPECT_EQ(old.wakes(), 1);
  EXPECT_EQ(bad.wakes(), 0);
  EXPECT_TRUE(IsUsable(cell));
}

TEST(AtomicWaker, TheCallersExceptionIsThrownInsteadOfTheOldWakers) {
  CountingWaker old, bad;
  AtomicWaker cell;
  Register(cell, old);
  old.OnWake([] { throw std::logic_error("not the caller's"); });
  bad.OnClone([&] {
    cell.Wake();
    throw std::runtime_error("the caller's");
  });
  EXPECT_THAT([&] { Register(cell, bad); },
              ::testing::ThrowsMessage<std::runtime_error>("the caller's"));
  EXPECT_EQ(old.wakes(), 1);
  EXPECT_TRUE(IsUsable(cell));
}

TEST(AtomicWaker, AThrowingDropHasBeenReplaced) {
  CountingWaker bad, next;
  AtomicWaker cell;
  Register(cell, bad);
  bad.OnDrop(&Throw);
  EXPECT_THROW(Register(cell, next), std::runtime_error);
  EXPECT_EQ(bad.drops(), 1);
  cell.Wake();
  EXPECT_EQ(next.wakes(), 1);
  EXPECT_TRUE(IsUsable(cell));
}

TEST(AtomicWaker, AThrowingWakeLeavesTheCellUsable) {
  CountingWaker bad;
  AtomicWaker cell;
  Register(cell, bad);
  bad.OnWake(&Throw);
  EXPECT_THROW(cell.Wake(), std::runtime_error);
  EXPECT_EQ(bad.live(), 0);
  EXPECT_TRUE(IsUsable(cell));
}

TEST(AtomicWaker, AThrowingWakeInsideRegisterLeavesTheCellUsable) {
  CountingWaker old, bad;
  AtomicWaker cell;
  Register(cell, old);
  bad.OnClone([&] { cell.Wake(); });
  bad.OnWake(&Throw);
  EXPECT_THROW(Register(cell, bad), std::runtime_error);
  EXPECT_EQ(old.drops(), 1);
  EXPECT_EQ(bad.live(), 0);
  EXPECT_TRUE(IsUsable(cell));
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse

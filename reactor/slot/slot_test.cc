// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/slot/slot.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <optional>
#include <stdexcept>
#include <utility>

#include "absl/base/config.h"
#include "gtest/gtest.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/slot/readiness_word.h"
#include "rouse/reactor/slot/waiter.h"
#include "rouse/reactor/slot/wake_batch.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/waker/wake_list.h"
#include "rouse/waker/waker.h"

namespace rouse::reactor::internal {
namespace {

class SlotTest : public ::testing::Test {
 protected:
  // Begins a wait. Returns whether the task now waits.
  bool Wait(Direction direction, const CountingWaker& task,
            Waiter* waiter = nullptr) {
    word_ = slot_.Wait(direction, task.waker(), waiter);
    return word_ == 0;
  }

  void Post(Ready ready) { Post(ready, slot_.generation()); }
  void Post(Ready ready, uint32_t generation) {
    WakeBatch woken;
    slot_.Post(generation, ready, woken);
    woken.Finish();
  }

  bool Release() {
    WakeBatch woken;
    const bool reusable = slot_.Release(woken);
    woken.Finish();
    return reusable;
  }

  void Shutdown() {
    WakeBatch woken;
    slot_.Shutdown(woken);
    woken.Finish();
  }

  void Lower(Direction direction) { slot_.Lower(direction, slot_.Load(), {}); }

  bool IsRaised(Direction direction) const {
    return (slot_.Load() & ReadinessWord::EdgeOf(direction)) != 0;
  }

  CountingWaker task_, other_;
  Slot slot_;
  uint64_t word_ = 0;
};

TEST_F(SlotTest, AnEventWakesAWaiter) {
  ASSERT_TRUE(Wait(Direction::kRead, task_));
  EXPECT_EQ(task_.wakes(), 0);
  Post(Ready::kReadable);
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(task_.live(), 0);
}

TEST_F(SlotTest, AWaitForAnEarlierEventIsReadyAtOnce) {
  Post(Ready::kReadable);
  EXPECT_FALSE(Wait(Direction::kRead, task_));
  EXPECT_NE(word_ & ReadinessWord::EdgeOf(Direction::kRead), 0u);
  EXPECT_EQ(task_.live(), 0);
}

TEST_F(SlotTest, AnEventWakesItsOwnDirection) {
  ASSERT_TRUE(Wait(Direction::kRead, task_));
  ASSERT_TRUE(Wait(Direction::kWrite, other_));
  Post(Ready::kWritable);
  EXPECT_EQ(task_.wakes(), 0);
  EXPECT_EQ(other_.wakes(), 1);
}

// Covers trap R3 of reactor/traps_test.cc.
TEST_F(SlotTest, AnErrorWakesBothDirections) {
  Waiter waiter;
  ASSERT_TRUE(Wait(Direction::kRead, task_));
  ASSERT_TRUE(Wait(Direction::kWrite, other_, &waiter));
  Post(Ready::kError);
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(other_.wakes(), 1);
}

TEST_F(SlotTest, EachEventWakesOnce) {
  ASSERT_TRUE(Wait(Direction::kRead, task_));
  Post(Ready::kReadable);
  Post(Ready::kReadable);
  EXPECT_EQ(task_.wakes(), 1);
}

TEST_F(SlotTest, WithoutAWaiterTheLatestTaskIsWoken) {
  ASSERT_TRUE(Wait(Direction::kRead, task_));
  ASSERT_TRUE(Wait(Direction::kRead, other_));
  EXPECT_EQ(task_.live(), 0);
  Post(Ready::kReadable);
  EXPECT_EQ(task_.wakes(), 0);
  EXPECT_EQ(other_.wakes(), 1);
}

TEST_F(SlotTest, AnyNumberOfWaitersCanWaitForOneDirection) {
  Waiter first, second;
  ASSERT_TRUE(Wait(Direction::kRead, task_, &first));
  ASSERT_TRUE(Wait(Direction::kRead, other_, &second));
  Post(Ready::kReadable);
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(other_.wakes(), 1);
}

TEST_F(SlotTest, WakesMoreThanOneBatchOfWaiters) {
  constexpr int kWaiters = 3 * WakeList::kCapacity + 5;
  std::list<Waiter> waiters;
  for (int i = 0; i < kWaiters; ++i) {
    ASSERT_TRUE(Wait(Direction::kRead, task_, &waiters.emplace_back()));
  }
  ASSERT_TRUE(Wait(Direction::kRead, other_));
  Post(Ready::kReadable);
  EXPECT_EQ(task_.wakes(), kWaiters);
  EXPECT_EQ(other_.wakes(), 1);
  EXPECT_EQ(task_.live(), 0);
}

// Waiters that are woken and wait again at once do not prolong the event.
TEST_F(SlotTest, WaitersThatWaitAgainAreNotWokenTwice) {
  constexpr int kWaiters = 2 * WakeList::kCapacity;
  std::list<Waiter> waiters;
  int wakes = 0;
  Waker again;  // makes a woken waiter wait again
  auto wait_again = [&] {
    ++wakes;
    ASSERT_LE(wakes, kWaiters);
    Lower(Direction::kRead);
    slot_.Wait(Direction::kRead, again, &waiters.emplace_back());
  };
  again = Waker::FromCallable(wait_again);
  for (int i = 0; i < kWaiters; ++i) {
    slot_.Wait(Direction::kRead, again, &waiters.emplace_back());
  }
  Post(Ready::kReadable);
  EXPECT_EQ(wakes, kWaiters);
  // The returned waiters are not forgotten either.
  again = Waker();
  EXPECT_EQ(waiters.size(), size_t{2} * kWaiters);
}

TEST_F(SlotTest, DestroyedWaiterIsNotWoken) {
  std::optional<Waiter> waiter(std::in_place);
  ASSERT_TRUE(Wait(Direction::kRead, task_, &*waiter));
  waiter.reset();
  EXPECT_EQ(task_.live(), 0);
  Post(Ready::kReadable);
  EXPECT_EQ(task_.wakes(), 0);
}

TEST_F(SlotTest, DestroyedWaiterLeavesTheOthers) {
  Waiter first, third;
  std::optional<Waiter> second(std::in_place);
  ASSERT_TRUE(Wait(Direction::kRead, task_, &first));
  ASSERT_TRUE(Wait(Direction::kRead, other_, &*second));
  ASSERT_TRUE(Wait(Direction::kRead, task_, &third));
  second.reset();
  Post(Ready::kReadable);
  EXPECT_EQ(task_.wakes(), 2);
  EXPECT_EQ(other_.wakes(), 0);
}

TEST_F(SlotTest, WaitersCanBeDestroyedInAnyOrder) {
  for (int survivor = 0; survivor < 3; ++survivor) {
    SCOPED_TRACE(survivor);
    std::list<Waiter> waiters(3);
    std::list<Waiter>::iterator staying;
    int index = 0;
    for (auto waiter = waiters.begin(); waiter != waiters.end(); ++waiter) {
      const bool stays = index++ == survivor;
      if (stays) staying = waiter;
      ASSERT_TRUE(Wait(Direction::kWrite, stays ? task_ : other_, &*waiter));
    }
    waiters.erase(waiters.begin(), staying);
    waiters.erase(std::next(staying), waiters.end());
    EXPECT_EQ(other_.live(), 0);
    Post(Ready::kWritable);
    EXPECT_EQ(task_.wakes(), survivor + 1);
    EXPECT_EQ(other_.wakes(), 0);
    Lower(Direction::kWrite);
  }
}

TEST_F(SlotTest, AWaiterCanChangeItsDirection) {
  Waiter waiter, reader;
  ASSERT_TRUE(Wait(Direction::kRead, task_, &waiter));
  ASSERT_TRUE(Wait(Direction::kRead, other_, &reader));
  ASSERT_TRUE(Wait(Direction::kWrite, task_, &waiter));
  EXPECT_EQ(task_.live(), 1);
  Post(Ready::kReadable);
  EXPECT_EQ(task_.wakes(), 0);
  EXPECT_EQ(other_.wakes(), 1);
  Post(Ready::kWritable);
  EXPECT_EQ(task_.wakes(), 1);
}

// A waker is called without the lock, even if it is the only one.
TEST_F(SlotTest, AWakerCanUseTheSlot) {
  std::optional<Waiter> waiter(std::in_place);
  bool waits = false;
  const Waker again = Waker::FromCallable([&] {
    waiter.emplace();
    Lower(Direction::kRead);
    waits = Wait(Direction::kRead, task_, &*waiter);
  });
  slot_.Wait(Direction::kRead, again, &*waiter);
  Post(Ready::kReadable);
  EXPECT_TRUE(waits);
  Post(Ready::kReadable);
  EXPECT_EQ(task_.wakes(), 1);
}

TEST_F(SlotTest, AWaiterThatWaitsAgainWakesItsLatestTask) {
  Waiter waiter;
  ASSERT_TRUE(Wait(Direction::kRead, task_, &waiter));
  ASSERT_TRUE(Wait(Direction::kRead, other_, &waiter));
  EXPECT_EQ(task_.live(), 0);
  Post(Ready::kReadable);
  EXPECT_EQ(task_.wakes(), 0);
  EXPECT_EQ(other_.wakes(), 1);
}

TEST_F(SlotTest, AWaiterCanBeUsedForAnotherSlot) {
  Slot elsewhere;
  Waiter waiter;
  ASSERT_TRUE(Wait(Direction::kRead, task_, &waiter));
  ASSERT_EQ(elsewhere.Wait(Direction::kRead, other_.waker(), &waiter), 0u);
  Post(Ready::kReadable);
  EXPECT_EQ(task_.wakes(), 0);
  WakeBatch woken;
  elsewhere.Post(elsewhere.generation(), Ready::kReadable, woken);
  woken.Finish();
  EXPECT_EQ(other_.wakes(), 1);
}

TEST_F(SlotTest, AWaiterCanBeMovedBeforeItWaits) {
  Waiter waiter;
  Waiter moved(std::move(waiter));
  EXPECT_TRUE(Wait(Direction::kRead, task_, &moved));
}

TEST_F(SlotTest, MovingAWaiterThatHasWaitedPanics) {
  Waiter waiter;
  ASSERT_TRUE(Wait(Direction::kRead, task_, &waiter));
  EXPECT_PANIC(Waiter moved(std::move(waiter)), "moved after");
}

// R2, D30: an event of the previous generation reaches nobody.
TEST_F(SlotTest, AStaleEventReachesNoTask) {
  const uint32_t stale = slot_.generation();
  ASSERT_TRUE(Release());
  ASSERT_TRUE(Wait(Direction::kRead, task_));
  Post(Ready::kReadable, stale);
  EXPECT_EQ(task_.wakes(), 0);
  EXPECT_FALSE(IsRaised(Direction::kRead));
}

TEST_F(SlotTest, TheNextSourceStartsWithoutReadiness) {
  Post(Ready::kReadable | Ready::kReadClosed | Ready::kError);
  ASSERT_TRUE(Release());
  EXPECT_FALSE(IsRaised(Direction::kRead));
  EXPECT_TRUE(ReadinessWord::ReadyOf(slot_.Load()).IsEmpty());
}

TEST_F(SlotTest, AReadOfTheOldSourceDoesNotClearTheNextOne) {
  Post(Ready::kReadable);
  const uint64_t seen = slot_.Load();
  ASSERT_TRUE(Release());
  // The number of events is the same as before.
  Post(Ready::kReadable);
  slot_.Lower(Direction::kRead, seen, {});
  EXPECT_TRUE(IsRaised(Direction::kRead));
}

TEST_F(SlotTest, ReleaseWakesWaiters) {
  Waiter waiter;
  ASSERT_TRUE(Wait(Direction::kRead, task_));
  ASSERT_TRUE(Wait(Direction::kWrite, other_, &waiter));
  EXPECT_TRUE(Release());
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(other_.wakes(), 1);
}

// Covers trap R5 of reactor/traps_test.cc.
TEST_F(SlotTest, ShutdownWakesAllWaitersAndIsPermanent) {
  constexpr int kWaiters = 2 * WakeList::kCapacity;
  std::list<Waiter> waiters;
  for (int i = 0; i < kWaiters; ++i) {
    const Direction direction =
        i % 2 == 0 ? Direction::kRead : Direction::kWrite;
    ASSERT_TRUE(Wait(direction, task_, &waiters.emplace_back()));
  }
  Shutdown();
  EXPECT_EQ(task_.wakes(), kWaiters);
  EXPECT_FALSE(Wait(Direction::kRead, task_));
  EXPECT_NE(word_ & ReadinessWord::kShutdown, 0u);
  EXPECT_EQ(task_.live(), 0);
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST_F(SlotTest, AThrowingWakerDoesNotStopTheOthers) {
  std::list<Waiter> waiters;
  const Waker throwing =
      Waker::FromCallable([] { throw std::runtime_error("from a waker"); });
  slot_.Wait(Direction::kRead, throwing, &waiters.emplace_back());
  for (int i = 0; i < 2 * static_cast<int>(WakeList::kCapacity); ++i) {
    ASSERT_TRUE(Wait(Direction::kRead, task_, &waiters.emplace_back()));
  }
  WakeBatch woken;
  slot_.Post(slot_.generation(), Ready::kReadable, woken);
  EXPECT_THROW(woken.Finish(), std::runtime_error);
  EXPECT_EQ(task_.wakes(), 2 * static_cast<int>(WakeList::kCapacity));
}

TEST_F(SlotTest, AThrowingCloneLeavesTheSlotUsable) {
  static const RawWakerVTable kThrows = {
      [](void*) -> RawWaker { throw std::runtime_error("from a clone"); },
      [](void*) {},
      [](void*) {},
      [](void*) {},
  };
  const Waker waker(RawWaker{nullptr, &kThrows});
  Waiter waiter;
  EXPECT_THROW(slot_.Wait(Direction::kRead, waker, &waiter),
               std::runtime_error);
  ASSERT_TRUE(Wait(Direction::kRead, task_, &waiter));
  Post(Ready::kReadable);
  EXPECT_EQ(task_.wakes(), 1);
}

#endif

}  // namespace
}  // namespace rouse::reactor::internal

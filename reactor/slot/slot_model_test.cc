// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Models a slot under concurrent events, waits and abandoned waits, and the end
// of the source or of the reactor.

#include <atomic>
#include <cstdint>
#include <memory>

#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/slot/readiness_word.h"
#include "rouse/reactor/slot/slot.h"
#include "rouse/reactor/slot/slot_table.h"
#include "rouse/reactor/slot/waiter.h"
#include "rouse/reactor/slot/wake_batch.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::reactor::internal {
namespace {

using model::OrderingTask;
using model::Require;
using model::Thread;

void Post(Slot& slot, uint32_t generation, Ready ready) {
  WakeBatch woken;
  slot.Post(generation, ready, woken);
  woken.Finish();
}

void Shutdown(Slot& slot) {
  WakeBatch woken;
  slot.Shutdown(woken);
  woken.Finish();
}

void Release(Slot& slot) {
  WakeBatch woken;
  slot.Release(woken);
  woken.Finish();
}

bool Wait(Slot& slot, Direction direction, OrderingTask& task, Waiter* waiter) {
  return slot.Wait(direction, task.waker(), waiter) == 0;
}

MODEL_TEST(Slot, AnEventIsSeenOrWakes) {
  OrderingTask task;
  Slot slot;
  Cell<int> data(0);
  Thread reporting([&] {
    data.Write() = 1;
    Post(slot, 0, Ready::kReadable);
  });
  Waiter waiter;
  if (!Wait(slot, Direction::kRead, task, &waiter) || task.woken()) {
    Require(data.Read() == 1);
    return reporting.Join();
  }
  reporting.Join();
  Require(task.woken());
}

MODEL_TEST(Slot, AnEventIsSeenOrWakesATaskWithoutAWaiter) {
  OrderingTask task;
  Slot slot;
  Thread reporting([&] { Post(slot, 0, Ready::kWritable); });
  const bool waits = Wait(slot, Direction::kWrite, task, nullptr);
  reporting.Join();
  Require(waits == task.woken());
}

MODEL_TEST(Slot, AWokenWaiterWaitsAgain) {
  OrderingTask first, second;
  Slot slot;
  Waiter waiter;
  Require(Wait(slot, Direction::kRead, first, &waiter));
  Post(slot, 0, Ready::kReadable);
  Require(first.woken());
  slot.Lower(Direction::kRead, slot.Load(), Ready());
  Require(Wait(slot, Direction::kRead, second, &waiter));
  Post(slot, 0, Ready::kReadable);
  Require(second.woken());
}

MODEL_TEST(Slot, AnEventWakesAllItsWaiters, .spurious_failures = 0) {
  OrderingTask first, second;
  Slot slot;
  Waiter waiter;
  Require(Wait(slot, Direction::kRead, first, &waiter));
  bool seen = false;
  Thread waiting([&] {
    Waiter other;
    seen = !Wait(slot, Direction::kRead, second, &other);
    while (!seen && !second.woken()) model::SpinHint();
  });
  Post(slot, 0, Ready::kReadable);
  Require(first.woken());
  waiting.Join();
  Require(seen || second.woken());
}

MODEL_TEST(Slot, TwoEventsWakeTheirDirections, .spurious_failures = 0) {
  OrderingTask reader, writer;
  Slot slot;
  Waiter to_read, to_write;
  Require(Wait(slot, Direction::kRead, reader, &to_read));
  Require(Wait(slot, Direction::kWrite, writer, &to_write));
  Thread reporting([&] { Post(slot, 0, Ready::kReadable); });
  Post(slot, 0, Ready::kWritable);
  reporting.Join();
  Require(reader.woken());
  Require(writer.woken());
}

// Afterwards the slot must not access the waiter.
MODEL_TEST(Slot, ACancelledWaiterIsNotWoken) {
  OrderingTask task;
  Slot slot;
  auto waiter = std::make_unique<Waiter>();
  Require(Wait(slot, Direction::kRead, task, waiter.get()));
  Thread reporting([&] { Post(slot, 0, Ready::kReadable); });
  waiter.reset();
  reporting.Join();
}

// Like the test above, with two adjacent waiters.
MODEL_TEST(Slot, ACancelledWaiterLeavesTheOthers, .spurious_failures = 0) {
  OrderingTask first, second;
  Slot slot;
  auto going = std::make_unique<Waiter>();
  Waiter staying;
  Require(Wait(slot, Direction::kRead, first, going.get()));
  Require(Wait(slot, Direction::kRead, second, &staying));
  Thread reporting([&] { Post(slot, 0, Ready::kReadable); });
  going.reset();
  reporting.Join();
  Require(second.woken());
}

// The waiter's owner sees that the slot has released the waiter before the
// owner uses it again.
MODEL_TEST(Slot, AReleasedWaiterBelongsToItsOwner) {
  OrderingTask task, next;
  Slot slot;
  Slot other;
  Waiter waiter;
  Require(Wait(slot, Direction::kRead, task, &waiter));
  Thread reporting([&] { Post(slot, 0, Ready::kReadable); });
  Require(Wait(other, Direction::kRead, next, &waiter));
  Post(other, 0, Ready::kReadable);
  Require(next.woken());
  reporting.Join();
}

MODEL_TEST(Slot, AFailedAttemptWaitsForTheNextEvent, .spurious_failures = 0) {
  OrderingTask task;
  Slot slot;
  Post(slot, 0, Ready::kReadable);
  const uint64_t seen = slot.Load();
  Atomic<bool> has_data(false);
  Thread reporting([&] {
    has_data.store(true, std::memory_order_relaxed);
    Post(slot, 0, Ready::kReadable);
  });
  Waiter waiter;
  // The attempt, which succeeds or would block.
  bool found = has_data.load(std::memory_order_relaxed);
  if (!found) {
    slot.Lower(Direction::kRead, seen, Ready());
    if (!Wait(slot, Direction::kRead, task, &waiter)) {
      found = has_data.load(std::memory_order_relaxed);
    }
  }
  reporting.Join();
  Require(found || task.woken());
}

// Acts like a `Signal`: data is counted before its event, and checked after the
// clear. Unlike an attempt, the check does not show that it was too early.
void TestCheckAfterTheClear(int events) {
  Slot slot;
  Post(slot, 0, Ready::kReadable);
  Atomic<int> count(0);
  Thread reporting([&] {
    for (int i = 1; i <= events; ++i) {
      count.store(i, std::memory_order_relaxed);
      Post(slot, 0, Ready::kReadable);
    }
  });
  OrderingTask task;
  Waiter waiter;
  int found;
  uint64_t word = slot.Load();
  do {
    slot.Lower(Direction::kRead, word, Ready());
    found = count.load(std::memory_order_relaxed);
  } while (found < events &&
           (word = slot.Wait(Direction::kRead, task.waker(), &waiter)) != 0);
  reporting.Join();
  Require(found == events || task.woken());
}

MODEL_TEST(Slot, ACheckAfterTheClearMissesNoEvent, .spurious_failures = 0) {
  TestCheckAfterTheClear(/*events=*/1);
}

MODEL_TEST(Slot, ACheckAfterTheClearMissesNeitherOfTwoEvents,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  TestCheckAfterTheClear(/*events=*/2);
}

MODEL_TEST(Slot, AShutdownIsSeenOrWakes, .spurious_failures = 0) {
  OrderingTask task;
  Slot slot;
  Thread ending([&] { Shutdown(slot); });
  Waiter waiter;
  const bool waits = Wait(slot, Direction::kWrite, task, &waiter);
  ending.Join();
  Require(waits == task.woken());
  Require((slot.Load() & ReadinessWord::kShutdown) != 0);
}

MODEL_TEST(Slot, AShutdownAndAnEventAreBothSeen, .spurious_failures = 0) {
  OrderingTask task;
  Slot slot;
  Waiter waiter;
  Require(Wait(slot, Direction::kRead, task, &waiter));
  Thread ending([&] { Shutdown(slot); });
  Post(slot, 0, Ready::kReadable);
  ending.Join();
  Require(task.woken());
  const uint64_t both =
      ReadinessWord::kShutdown | ReadinessWord::EdgeOf(Direction::kRead);
  Require((slot.Load() & both) == both);
}

MODEL_TEST(Slot, ReleasingTheSourceWakesItsWaiter, .spurious_failures = 0) {
  OrderingTask task;
  Slot slot;
  Waiter waiter;
  Require(Wait(slot, Direction::kRead, task, &waiter));
  Thread reporting([&] { Post(slot, 0, Ready::kReadable); });
  Release(slot);
  reporting.Join();
  Require(task.woken());
}

// An event that was found before the source ended, and delivered afterwards.
MODEL_TEST(Slot, AStaleEventReachesNoTask, .spurious_failures = 0) {
  OrderingTask next;
  Slot slot;
  Thread reporting([&] { Post(slot, 0, Ready::kReadable); });
  Release(slot);
  {
    Waiter waiter;
    Require(Wait(slot, Direction::kRead, next, &waiter));
    reporting.Join();
  }
  Require(!next.woken());
}

// An attempt that began before the source ended does not undo an event of the
// next source either.
MODEL_TEST(Slot, AnAttemptAtTheOldSourceClearsNothing, .spurious_failures = 0) {
  Slot slot;
  Post(slot, 0, Ready::kReadable);
  const uint64_t seen = slot.Load();
  Thread attempting([&] { slot.Lower(Direction::kRead, seen, Ready()); });
  Release(slot);
  Post(slot, 1, Ready::kReadable);
  attempting.Join();
  Require((slot.Load() & ReadinessWord::EdgeOf(Direction::kRead)) != 0);
}

// More waiters than one batch holds: the lock is free while the first batch is
// woken, so waiters that are not woken yet can be destroyed, and new waiters
// can come.
class ThreeWaiters {
 public:
  ThreeWaiters() {
    Require(Wait(slot_, Direction::kRead, first_, &one_));
    Require(Wait(slot_, Direction::kRead, second_, &two_));
    Require(Wait(slot_, Direction::kRead, third_, three_.get()));
  }

  Slot& slot() { return slot_; }

  void DestroyThird() { three_.reset(); }

  bool AllAreWoken() const {
    return first_.woken() && second_.woken() &&
           (three_ == nullptr || third_.woken());
  }

 private:
  Slot slot_;
  OrderingTask first_, second_, third_;
  Waiter one_, two_;
  std::unique_ptr<Waiter> three_ = std::make_unique<Waiter>();
};

MODEL_TEST(Slot, AWaiterOfALaterBatchCanBeDestroyed, .spurious_failures = 0) {
  ThreeWaiters waiting;
  Thread reporting([&] { Post(waiting.slot(), 0, Ready::kReadable); });
  waiting.DestroyThird();
  reporting.Join();
  Require(waiting.AllAreWoken());
}

MODEL_TEST(Slot, AWaiterCanArriveBetweenTwoBatches, .spurious_failures = 0) {
  OrderingTask task;
  ThreeWaiters waiting;
  Thread reporting([&] { Post(waiting.slot(), 0, Ready::kReadable); });
  Waiter waiter;
  const bool waits = Wait(waiting.slot(), Direction::kWrite, task, &waiter);
  reporting.Join();
  Require(waiting.AllAreWoken());
  Require(waits && !task.woken());
  Post(waiting.slot(), 0, Ready::kWritable);
  Require(task.woken());
}

// A waiter that comes in between waits for the next event of the same kind. It
// does not belong to this event, and stays.
MODEL_TEST(Slot, AWaiterForTheNextEventCanArriveBetweenTwoBatches,
           .spurious_failures = 0) {
  OrderingTask task;
  ThreeWaiters waiting;
  Slot& slot = waiting.slot();
  Thread reporting([&] { Post(slot, 0, Ready::kReadable); });
  slot.Lower(Direction::kRead, slot.Load(), Ready());
  Waiter waiter;
  const bool waits = Wait(slot, Direction::kRead, task, &waiter);
  reporting.Join();
  Require(waiting.AllAreWoken());
  if (!waits || task.woken()) return;
  Post(slot, 0, Ready::kReadable);
  Require(task.woken());
}

MODEL_TEST(Slot, NoWaiterStaysAfterTheBatchesOfAShutdown,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  OrderingTask task;
  ThreeWaiters waiting;
  Thread ending([&] { Shutdown(waiting.slot()); });
  Waiter waiter;
  const bool waits = Wait(waiting.slot(), Direction::kWrite, task, &waiter);
  ending.Join();
  Require(waiting.AllAreWoken());
  Require(waits == task.woken());
}

MODEL_TEST(Slot, AReleaseAndAShutdownWakeAllWaiters,
           .mode = model::Mode::kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  ThreeWaiters waiting;
  Thread ending([&] { Shutdown(waiting.slot()); });
  Release(waiting.slot());
  ending.Join();
  Require(waiting.AllAreWoken());
}

MODEL_MUTANTS(
    Slot, "reactor/slot/slot.",
    "Slot::WakeSeveral at slot.cc:137: condition always true: the next event "
    "looks for somebody who waits, in vain");

// The dispatch looks slots up while others are added.
MODEL_TEST(SlotTable, AFoundSlotIsInitialized) {
  SlotTable table;
  Atomic<bool> allocated(false);
  Thread allocating([&] {
    uint32_t index;
    Slot* slot = table.Allocate(index);
    Require(slot != nullptr && index == 0);
    allocated.store(true, std::memory_order_relaxed);
  });
  if (Slot* slot = table.Get(0)) {
    Post(*slot, 0, Ready::kReadable);
    Require((slot->Load() & ReadinessWord::EdgeOf(Direction::kRead)) != 0);
  }
  allocating.Join();
  Require(table.Get(0) != nullptr);
  Require(table.Get(1) == nullptr);
}

MODEL_MUTANTS(SlotTable, "reactor/slot/slot_table.");

}  // namespace
}  // namespace rouse::reactor::internal

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstdint>

#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/scheduler/queue/stealable_queue.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::scheduler {
namespace {

using model::Require;
using model::Thread;

// Written before the push and at the removal. A second removal, or one not
// ordered after the push, is a race or a failure.
struct Task {
  Cell<int> taken{0};
};

// Positions wrap within every model.
constexpr uint32_t kFirst = ~uint32_t{0} - 1;

void Take(Task* task) { ++task->taken.Write(); }

// A queue, its tasks, and the actions of the threads that use it.
template <uint32_t kCapacity>
struct World {
  using Queue = StealableQueue<Task, kCapacity>;

  // Pushes the next `count` tasks, as the owner.
  void Push(int count) {
    for (; count > 0; --count) queue.Push(NextTask(), &Take);
  }
  void PushBatch(uint32_t count) {
    if (count == 0) return;
    queue.PushBatch(count, [this] { return NextTask(); });
  }
  Task* NextTask() {
    Task* const task = &tasks[pushed++];
    task->taken.Write() = 0;
    return task;
  }
  // Takes the remaining tasks, at most `count`, as the owner.
  void Pop(int count = 8) {
    for (; count > 0; --count) {
      Task* task = queue.Pop();
      if (task == nullptr) return;
      Take(task);
    }
  }
  // Takes the tasks available to a thief.
  void Steal() {
    Queue own;
    Task* task = own.StealFrom(queue);
    if (task == nullptr) return;
    Take(task);
    while (Task* next = own.Pop()) Take(next);
  }
  // Checks at the end: all pushed tasks were taken once.
  void RequireTaken() {
    Pop();
    for (int i = 0; i < pushed; ++i) Require(tasks[i].taken.Read() == 1);
  }

  Task tasks[8];
  int pushed = 0;
  Queue queue{kFirst};
};

MODEL_TEST(StealableQueue, EachElementGoesOnceToTheOwnerOrAThief) {
  World<4> world;
  world.Push(3);
  Thread thief([&] { world.Steal(); });
  world.Pop(2);
  thief.Join();
  world.RequireTaken();
}

MODEL_TEST(StealableQueue, PushesDuringATheft) {
  World<4> world;
  world.Push(1);
  Thread thief([&] { world.Steal(); });
  world.Push(2);
  world.Pop(1);
  thief.Join();
  world.RequireTaken();
}

MODEL_TEST(StealableQueue, HasOneThiefAtATime) {
  World<2> world;
  world.Push(2);
  Thread one([&] { world.Steal(); });
  Thread two([&] { world.Steal(); });
  one.Join();
  two.Join();
  world.RequireTaken();
}

// A completed theft leaves room, and the remaining tasks can be stolen.
MODEL_TEST(StealableQueue, CanBeStolenFromAgain) {
  World<4> world;
  world.Push(4);
  world.Steal();
  Require(world.queue.Size() == 2 && world.queue.Room() == 2);
  world.Steal();
  Require(world.queue.Size() == 1 && world.queue.Room() == 3);
  world.RequireTaken();
}

// Elements claimed by a thief are not overwritten before they have been copied,
// and elements put back by an overflow can be stolen like any others.
MODEL_TEST(StealableQueue, OverflowsDuringATheft) {
  World<2> world;
  Thread thief([&] { world.Steal(); });
  world.Push(4);
  thief.Join();
  world.RequireTaken();
}

// A pop during a theft does not free elements that the thief has claimed and
// not copied yet.
MODEL_TEST(StealableQueue, IsPoppedAndRefilledDuringATheft) {
  World<2> world;
  world.Push(2);
  Thread thief([&] { world.Steal(); });
  world.Pop(1);
  world.Push(2);
  thief.Join();
  world.RequireTaken();
}

// While it steals, a thief is stolen from: it does not overwrite elements that
// the other thief has claimed, either.
MODEL_TEST(StealableQueue, IsStolenFromWhileItSteals,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  World<4> world;
  World<4> victim;
  victim.Push(3);
  world.Push(4);
  Thread thief([&] { world.Steal(); });
  world.Pop(2);
  if (Task* task = world.queue.StealFrom(victim.queue)) Take(task);
  thief.Join();
  world.Pop();
  victim.Pop();
  for (int i = 0; i < 3; ++i) Require(victim.tasks[i].taken.Read() == 1);
}

// One thread calls `act()`, which puts something into `queue`, and then checks
// for sleepers. Another falls asleep and then checks for work. At least one
// sees the other (tokio #1768).
template <class Queue, class Act>
void RequireNothingHidden(Queue& queue, Act act) {
  Atomic<bool> asleep{false};
  bool found = false;
  Thread sleeper([&] {
    asleep.store(true, std::memory_order_seq_cst);
    found = !queue.IsEmpty();
  });
  act();
  const bool woken = asleep.load(std::memory_order_seq_cst);
  sleeper.Join();
  Require(found || woken);
}

MODEL_TEST(StealableQueue, HidesNoPushedElement) {
  World<2> world;
  RequireNothingHidden(world.queue, [&] { world.Push(1); });
  world.RequireTaken();
}

MODEL_TEST(StealableQueue, HidesNoElementOfABatch) {
  World<2> world;
  RequireNothingHidden(world.queue, [&] { world.PushBatch(2); });
  world.RequireTaken();
}

// A place is written again after the thief has read it.
MODEL_TEST(StealableQueue, TakesABatchDuringATheft) {
  World<2> world;
  world.Push(2);
  Thread thief([&] { world.Steal(); });
  world.PushBatch(world.queue.Room());
  thief.Join();
  world.RequireTaken();
}

// The head seen by the sleeper may be long out of date.
MODEL_TEST(StealableQueue, HidesNoLaterElement) {
  World<2> world;
  RequireNothingHidden(world.queue, [&] {
    world.Push(2);
    world.Pop(2);
    world.Push(1);
  });
  world.RequireTaken();
}

MODEL_TEST(StealableQueue, HidesNoElementPutBackByAnOverflow) {
  World<2> world;
  world.Push(2);
  RequireNothingHidden(world.queue, [&] { world.Push(1); });
  world.RequireTaken();
}

MODEL_TEST(StealableQueue, HidesNoStolenElement) {
  World<4> world;
  World<4> thief;
  world.Push(3);
  RequireNothingHidden(thief.queue,
                       [&] { Take(thief.queue.StealFrom(world.queue)); });
  Take(thief.queue.Pop());
  world.RequireTaken();
}

MODEL_TEST(StealableQueue, IsNeverLongerThanItsCapacity) {
  World<2> world;
  Thread reader([&] { Require(world.queue.Size() <= 2); });
  world.Push(1);
  world.Pop(1);
  reader.Join();
}

// Pushes and pops one more during the thefts of two thieves.
template <class World>
void PushAndPopBesideTwoThieves(World& world) {
  Thread one([&] { world.Steal(); });
  Thread two([&] { world.Steal(); });
  world.Push(1);
  world.Pop(1);
  one.Join();
  two.Join();
  world.RequireTaken();
}

// Both thieves take half of the elements, the second of those that the first,
// or an overflow, has left.
MODEL_TEST(StealableQueue, TwoThievesStealDuringAnOverflow,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  World<4> world;
  world.Push(4);
  PushAndPopBesideTwoThieves(world);
}

MODEL_MUTANTS(StealableQueue, "scheduler/queue/stealable_queue",
              "torn: the owner alone moves the tail");

// ---- Two thieves, and an owner whose every operation is concurrent with them.
// While one thief copies its claimed elements, the other comes in vain; or it
// finds elements that the owner has pushed, or put back, since.

MODEL_TEST(TwoThieves, StealWhileTheOwnerPushesAndPops,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  World<2> world;
  world.Push(1);
  PushAndPopBesideTwoThieves(world);
}

MODEL_TEST(TwoThieves, StealWhileTheOwnerOverflowsAndPops,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  World<2> world;
  world.Push(2);
  PushAndPopBesideTwoThieves(world);
}

MODEL_MUTANTS(TwoThieves, "scheduler/queue/stealable_queue",
              "modify seq_cst -> acq_rel: nobody falls asleep here",
              "torn: the owner alone moves the tail",
              "condition: killed by StealableQueue",
              "modify skipped: killed by StealableQueue");

}  // namespace
}  // namespace rouse::scheduler

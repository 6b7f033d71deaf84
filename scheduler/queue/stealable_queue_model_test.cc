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

// Written before it is pushed and when it is taken: a second take, or one that
// is not ordered behind the push, is a race or a failure.
struct Task {
  Cell<int> taken{0};
};

// Positions wrap within every model.
constexpr uint32_t kFirst = ~uint32_t{0} - 1;

void Take(Task* task) { ++task->taken.Write(); }

// A queue, its tasks, and who has to do with them.
template <uint32_t kCapacity>
struct World {
  using Queue = StealableQueue<Task, kCapacity>;

  // The owner pushes the next `count` tasks.
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
  // The owner takes what is left, or up to `count`.
  void Pop(int count = 8) {
    for (; count > 0; --count) {
      Task* task = queue.Pop();
      if (task == nullptr) return;
      Take(task);
    }
  }
  // A thief takes what it can.
  void Steal() {
    Queue own;
    Task* task = own.StealFrom(queue);
    if (task == nullptr) return;
    Take(task);
    while (Task* next = own.Pop()) Take(next);
  }
  // At the end: all that was pushed was taken once.
  void RequireTaken() {
    Pop();
    for (int i = 0; i < pushed; ++i) Require(tasks[i].taken.Read() == 1);
  }

  Task tasks[8];
  int pushed = 0;
  Queue queue{kFirst};
};

MODEL_TEST(StealableQueue, GivesEachOnceToTheOwnerOrAThief) {
  World<4> world;
  world.Push(3);
  Thread thief([&] { world.Steal(); });
  world.Pop(2);
  thief.Join();
  world.RequireTaken();
}

MODEL_TEST(StealableQueue, IsPushedToBesideAThief) {
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

// A theft that has ended leaves room, and what is left can be stolen.
MODEL_TEST(StealableQueue, IsStolenFromAgain) {
  World<4> world;
  world.Push(4);
  world.Steal();
  Require(world.queue.Size() == 2 && world.queue.Room() == 2);
  world.Steal();
  Require(world.queue.Size() == 1 && world.queue.Room() == 3);
  world.RequireTaken();
}

// What a thief has claimed is not written over before it has been copied, and
// what an overflow brings back can be stolen like anything else.
MODEL_TEST(StealableQueue, OverflowsBesideAThief) {
  World<2> world;
  Thread thief([&] { world.Steal(); });
  world.Push(4);
  thief.Join();
  world.RequireTaken();
}

// A pop beside a thief does not free what that has claimed and not copied yet.
MODEL_TEST(StealableQueue, IsPoppedAndRefilledBesideAThief) {
  World<2> world;
  world.Push(2);
  Thread thief([&] { world.Steal(); });
  world.Pop(1);
  world.Push(2);
  thief.Join();
  world.RequireTaken();
}

// A thief that is stolen from: it does not write over what the other has
// claimed, either.
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

// Of one who does `act()`, which puts something into `queue`, and then looks
// for sleepers, and one who falls asleep and then looks for work, at least one
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

MODEL_TEST(StealableQueue, HidesNothingThatIsPushed) {
  World<2> world;
  RequireNothingHidden(world.queue, [&] { world.Push(1); });
  world.RequireTaken();
}

MODEL_TEST(StealableQueue, HidesNothingOfABatch) {
  World<2> world;
  RequireNothingHidden(world.queue, [&] { world.PushBatch(2); });
  world.RequireTaken();
}

// A place is written again when the thief has read it.
MODEL_TEST(StealableQueue, TakesABatchBesideAThief) {
  World<2> world;
  world.Push(2);
  Thread thief([&] { world.Steal(); });
  world.PushBatch(world.queue.Room());
  thief.Join();
  world.RequireTaken();
}

// What the sleeper sees of the head may be long out of date.
MODEL_TEST(StealableQueue, HidesNothingThatComesLater) {
  World<2> world;
  RequireNothingHidden(world.queue, [&] {
    world.Push(2);
    world.Pop(2);
    world.Push(1);
  });
  world.RequireTaken();
}

MODEL_TEST(StealableQueue, HidesNothingThatAnOverflowBringsBack) {
  World<2> world;
  world.Push(2);
  RequireNothingHidden(world.queue, [&] { world.Push(1); });
  world.RequireTaken();
}

MODEL_TEST(StealableQueue, HidesNothingThatWasStolen) {
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

// Pushes and pops one more beside two thieves.
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

// Both take a half at a time, the second one of what the first, or an overflow,
// has left.
MODEL_TEST(StealableQueue, IsStolenFromByTwoWhileItOverflows,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  World<4> world;
  world.Push(4);
  PushAndPopBesideTwoThieves(world);
}

MODEL_MUTANTS(StealableQueue, "scheduler/queue/stealable_queue",
              "torn: the owner alone moves the tail");

// ---- Two thieves, and an owner that does all it does beside them. While one
// of them copies what it has claimed, the other comes in vain; or it finds what
// the owner has pushed, or brought back, since.

MODEL_TEST(TwoThieves, BesideAnOwnerThatPushesAndPops,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  World<2> world;
  world.Push(1);
  PushAndPopBesideTwoThieves(world);
}

MODEL_TEST(TwoThieves, BesideAnOwnerThatOverflowsAndPops,
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

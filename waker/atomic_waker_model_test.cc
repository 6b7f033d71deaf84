// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <memory>

#include "absl/base/config.h"
#include "rouse/base/atomic.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using model::Cell;
using model::OrderingTask;
using model::Require;
using model::Thread;

// Registers and then checks, as the waiting task does.
bool RegisterAndLook(AtomicWaker& cell, const Atomic<bool>& signal,
                     const Waker& waker) {
  cell.Register(waker);
  return signal.load(std::memory_order_relaxed);
}

void Signal(AtomicWaker& cell, Atomic<bool>& signal) {
  signal.store(true, std::memory_order_relaxed);
  cell.Wake();
}

MODEL_TEST(AtomicWaker, AWakeIsSeenOrCalled) {
  OrderingTask task;
  AtomicWaker cell;
  Atomic<bool> signal(false);
  Thread waking([&] { Signal(cell, signal); });
  const bool seen = RegisterAndLook(cell, signal, task.waker());
  waking.Join();
  Require(seen || task.woken());
}

MODEL_TEST(AtomicWaker, TwoWakesAreSeenOrCalled) {
  OrderingTask task;
  AtomicWaker cell;
  Atomic<bool> first(false);
  Atomic<bool> second(false);
  Thread one([&] { Signal(cell, first); });
  Thread two([&] { Signal(cell, second); });
  const Waker waker = task.waker();
  cell.Register(waker);
  const bool seen_first = first.load(std::memory_order_relaxed);
  const bool seen_second = second.load(std::memory_order_relaxed);
  one.Join();
  two.Join();
  Require((seen_first && seen_second) || task.woken());
}

// tokio #7450: a Wake that finds the cell locked by another Wake goes away. Its
// caller's earlier writes must nevertheless be visible to the next Register.
MODEL_TEST(AtomicWaker,
           ARegisterSeesTheWritesBeforeAWakeThatFoundTheCellLocked) {
  OrderingTask before, after;
  AtomicWaker cell;
  Atomic<bool> first(false);
  Atomic<bool> second(false);
  cell.Register(before.waker());
  Thread one([&] { Signal(cell, first); });
  Thread two([&] { Signal(cell, second); });
  cell.Register(after.waker());
  const bool seen = first.load(std::memory_order_relaxed) &&
                    second.load(std::memory_order_relaxed);
  one.Join();
  two.Join();
  Require(seen || after.woken());
}

MODEL_TEST(AtomicWaker, AWokenTaskSeesTheWritesBeforeTheWake) {
  OrderingTask task;
  AtomicWaker cell;
  Cell<int> data(0);
  Thread waking([&] {
    data.Write() = 1;
    cell.Wake();
  });
  cell.Register(task.waker());
  if (task.woken()) Require(data.Read() == 1);
}

// A Wake that finds a Register in progress leaves the wake to the Register.
MODEL_TEST(AtomicWaker, ARegisterThatWakesSeesTheWritesBeforeTheWake) {
  AtomicWaker cell;
  Cell<int> data(0);
  bool woken = false;  // from within Register
  Thread waking([&] {
    data.Write() = 1;
    cell.Wake();
  });
  cell.Register(Waker::FromCallable([&] {
    if (model::ThreadNumber() == 0) woken = true;
  }));
  if (woken) Require(data.Read() == 1);
}

// A task polls until it has seen both signals. If a wake is lost, the task
// spins forever.
MODEL_TEST(AtomicWaker, ATaskThatWaitsForTwoEnds) {
  AtomicWaker cell;
  Atomic<bool> first(false);
  Atomic<bool> second(false);
  Atomic<bool> woken(false);
  Thread one([&] { Signal(cell, first); });
  Thread two([&] { Signal(cell, second); });
  const Waker waker = Waker::FromCallable(
      [&] { woken.store(true, std::memory_order_release); });
  for (;;) {
    cell.Register(waker);
    if (first.load(std::memory_order_relaxed) &&
        second.load(std::memory_order_relaxed)) {
      break;
    }
    // A task woken by its own Register checks again, and sees news in time.
    do {
      model::SpinHint();
    } while (!woken.load(std::memory_order_relaxed));
    woken.exchange(false, std::memory_order_acquire);
  }
}

MODEL_TEST(AtomicWaker, OneOfTwoTakesGetsTheWaker) {
  OrderingTask task;
  AtomicWaker cell;
  cell.Register(task.waker());
  int taken = 0;
  Thread other([&] {
    if (!cell.Take().IsNoop()) ++taken;
  });
  const bool here = !cell.Take().IsNoop();
  other.Join();
  Require(taken + (here ? 1 : 0) == 1);
}

MODEL_TEST(AtomicWaker, ATakenWakerIsTheNewestOrTheSecondNewest) {
  OrderingTask before, after;
  AtomicWaker cell;
  cell.Register(before.waker());
  Thread taking([&] { cell.Take().Wake(); });
  cell.Register(after.waker());
  taking.Join();
  const bool is_empty = cell.Take().IsNoop();
  // A Register that was passed over has been woken. Otherwise its waker is in
  // the cell.
  Require(after.woken() || !is_empty);
}

MODEL_TEST(AtomicWaker, ARegisterOfTheSameTaskKeepsItsWaker) {
  OrderingTask task;
  AtomicWaker cell;
  Atomic<bool> signal(false);
  const Waker waker = task.waker();
  cell.Register(waker);
  Thread waking([&] { Signal(cell, signal); });
  const bool seen = RegisterAndLook(cell, signal, waker);
  waking.Join();
  Require(seen || task.woken());
}

MODEL_TEST(AtomicWaker, TwoRegistersNeitherLoseNorLeakAWaker) {
  OrderingTask one_task, two_task;
  AtomicWaker cell;
  Thread other([&] { cell.Register(two_task.waker()); });
  cell.Register(one_task.waker());
  other.Join();
  cell.Wake();
  Require(one_task.woken() != two_task.woken());
}

// The task that is woken destroys the cell.
MODEL_TEST(AtomicWaker, IsNotAccessedAfterAWakeBegins) {
  auto cell = std::make_unique<AtomicWaker>();
  Atomic<bool> woken(false);
  cell->Register(Waker::FromCallable(
      [&] { woken.store(true, std::memory_order_release); }));
  AtomicWaker* raw = cell.get();
  Thread waking([raw] { raw->Wake(); });
  while (!woken.load(std::memory_order_acquire)) model::SpinHint();
  cell.reset();
}

MODEL_TEST(AtomicWaker, DropsItsWakerOnce) {
  OrderingTask task;
  auto cell = std::make_unique<AtomicWaker>();
  Thread registering([&] { cell->Register(task.waker()); });
  Thread taking([&] { cell->Take().Reset(); });
  registering.Join();
  taking.Join();
  cell.reset();
}

#ifdef ABSL_HAVE_EXCEPTIONS

// A clone throws. All other operations are those of the vtable below.
class Unclonable {
 public:
  explicit Unclonable(Atomic<int>& wakes) : wakes_(wakes) {}
  Waker waker() { return Waker(RawWaker{this, &kVTable}); }

 private:
  static RawWaker Clone(void*) { throw 1; }
  static void Wake(void* data) {
    static_cast<Unclonable*>(data)->wakes_.fetch_add(1,
                                                     std::memory_order_relaxed);
  }
  static void Drop(void*) {}

  static constexpr RawWakerVTable kVTable = {&Clone, &Wake, &Wake, &Drop};

  Atomic<int>& wakes_;
};

MODEL_TEST(AtomicWaker, ACloneThatThrowsLeavesTheCellUsable) {
  OrderingTask before, after;
  AtomicWaker cell;
  cell.Register(before.waker());
  Atomic<bool> signal(false);
  Atomic<int> wakes(0);
  Unclonable unclonable(wakes);
  Thread waking([&] { Signal(cell, signal); });
  try {
    cell.Register(unclonable.waker());
  } catch (int) {
  }
  waking.Join();
  // The wake was for the previous waker, or for the waker that was being
  // cloned.
  Require(before.woken() || wakes.load(std::memory_order_relaxed) == 1);
  cell.Register(after.waker());
  cell.Wake();
  Require(after.woken());
}

#endif  // ABSL_HAVE_EXCEPTIONS

// A task whose waker is called at each registration would spin.
MODEL_TEST(AtomicWaker, AWakerIsStoredAndNotCalledAfterAWake) {
  OrderingTask first, second;
  AtomicWaker cell;
  cell.Register(first.waker());
  cell.Wake();
  Require(first.woken());
  cell.Register(second.waker());
  Require(!second.woken());
  cell.Wake();
  Require(second.woken());
}

MODEL_MUTANTS(AtomicWaker, "waker/atomic_waker.");

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The steps of idle.h in concurrent threads, and their guarantees to a thread
// that pushes a task. (run_queues_model_test has the consequences.)

#include <atomic>
#include <cstddef>

#include "rouse/base/atomic.h"
#include "rouse/scheduler/event_count.h"
#include "rouse/scheduler/queue/idle.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::scheduler {
namespace {

using model::Require;
using model::Thread;

// A queue as required by idle.h, which holds a task or not.
class Queue {
 public:
  void Push() { full_.exchange(true, std::memory_order_seq_cst); }
  bool IsEmpty() const { return !full_.load(std::memory_order_seq_cst); }

 private:
  Atomic<bool> full_{false};
};

// ---- No change is lost of a word that several threads change.

MODEL_TEST(Idle, OneSearchesWhileAnotherGoesToSleep) {
  Idle idle(2);
  Thread other([&] { Require(idle.BeginSearching(0)); });
  idle.Sleep(1, /*was_searching=*/false);
  other.Join();
  Require(idle.IsAsleep(1));
  Require(idle.EndSearching(0));
}

MODEL_TEST(Idle, OneFindsATaskWhileAnotherGoesToSleep) {
  Idle idle(2);
  Require(idle.BeginSearching(0));
  Thread other([&] { Require(idle.EndSearching(0)); });
  idle.Sleep(1, /*was_searching=*/false);
  other.Join();
  Require(idle.Wake() == 1);
}

MODEL_TEST(Idle, OneWakesByItselfWhileAnotherGoesToSleep) {
  Idle idle(2);
  idle.Sleep(0, /*was_searching=*/false);
  Thread other([&] { Require(!idle.Awake(0)); });
  idle.Sleep(1, /*was_searching=*/false);
  other.Join();
  Require(idle.asleep() == 1 && idle.IsAsleep(1));
}

MODEL_TEST(Idle, TwoWakeOneSleeper) {
  Idle idle(2);
  idle.Sleep(0, /*was_searching=*/false);
  bool other_wakes = false;
  Thread other([&] { other_wakes = idle.WakeAny().has_value(); });
  const bool wakes = idle.WakeAny().has_value();
  other.Join();
  Require(wakes != other_wakes);
  Require(idle.asleep() == 0);
  Require(idle.Awake(0));
  Require(idle.EndSearching(0));
}

// One worker then searches, and finds both tasks.
MODEL_TEST(Idle, TwoTasksWakeOneOfTwoSleepers) {
  Idle idle(2);
  idle.Sleep(0, /*was_searching=*/false);
  idle.Sleep(1, /*was_searching=*/false);
  Thread other([&] { static_cast<void>(idle.Wake()); });
  static_cast<void>(idle.Wake());
  other.Join();
  Require(idle.asleep() == 1);
}

// Only the last searching worker checks for tasks that came in the meantime.
MODEL_TEST(Idle, OnlyOneOfTwoSearchingWorkersIsTheLast) {
  Idle idle(4);
  Require(idle.BeginSearching(0));
  Require(idle.BeginSearching(1));
  Require(!idle.EndSearching(0));
  Require(idle.BeginSearching(0));
  Require(!idle.Sleep(1, /*was_searching=*/true));
  Require(idle.Sleep(0, /*was_searching=*/true));
}

// Either the worker was woken, and what came before the wake is visible, or the
// worker was not woken.
MODEL_TEST(Idle, AWorkerWakesByItselfDuringAWake) {
  Idle idle(2);
  model::Cell<int> data(0);
  idle.Sleep(0, /*was_searching=*/false);
  bool wakes = false;
  Thread other([&] {
    data.Write() = 1;
    wakes = idle.Wake().has_value();
  });
  const bool woken = idle.Awake(0);
  if (woken) Require(data.Read() == 1);
  other.Join();
  Require(woken == wakes);
  Require(!idle.IsAsleep(0));
}

// ---- No task is left in a queue.

MODEL_TEST(Idle, ATaskArrivesWhileTheWorkerGoesToSleep) {
  Idle idle(1);
  Queue queue;
  bool woken = false;
  Thread pusher([&] {
    queue.Push();
    woken = idle.Wake().has_value();
  });
  Require(idle.Sleep(0, /*was_searching=*/false));
  const bool found = !queue.IsEmpty();
  pusher.Join();
  Require(woken || found);
}

// No worker is woken, because worker `last` searches. But `last` has found
// another task, and is busy for long. Worker `sleeper` sleeps.
void TestTaskDuringTheLastSearch(size_t last, size_t sleeper) {
  Idle idle(Idle::kGroup + 2);
  Queue queue;
  idle.Sleep(sleeper, /*was_searching=*/false);
  Require(idle.BeginSearching(last));
  bool woken = false;
  Thread pusher([&] {
    queue.Push();
    woken = idle.Wake().has_value();
  });
  bool found = false;
  if (idle.EndSearching(last) && !queue.IsEmpty()) {
    found = true;
    static_cast<void>(idle.Wake());
  }
  pusher.Join();
  Require(woken || found);
  Require(!idle.IsAsleep(sleeper));
}

MODEL_TEST(Idle, ATaskArrivesWhileTheLastSearchEnds) {
  TestTaskDuringTheLastSearch(/*last=*/0, /*sleeper=*/1);
}

// Two searching workers go to sleep one after the other. The last one checks
// the queues: the last one of each word, if they do not share a word.
void TestTaskDuringSleep(size_t one, size_t another) {
  Idle idle(Idle::kGroup + 2);
  Queue queue;
  Require(idle.BeginSearching(one));
  Require(idle.BeginSearching(another));
  bool woken = false;
  Thread pusher([&] {
    queue.Push();
    woken = idle.Wake().has_value();
  });
  bool other_found = false;
  Thread other([&] {
    other_found =
        idle.Sleep(another, /*was_searching=*/true) && !queue.IsEmpty();
  });
  const bool found =
      idle.Sleep(one, /*was_searching=*/true) && !queue.IsEmpty();
  pusher.Join();
  other.Join();
  Require(woken || found || other_found);
}

MODEL_TEST(Idle, ATaskArrivesWhileTwoGoToSleep, .mode = model::Mode::kBounded) {
  TestTaskDuringSleep(0, 1);
}

// ---- The same for workers that do not share a word. Worker 0 belongs to the
// first word.

constexpr size_t kOfTheSecondWord = Idle::kGroup;

MODEL_TEST(Idle, ATaskArrivesWhileTheLastSearchInAnotherWordEnds) {
  TestTaskDuringTheLastSearch(/*last=*/kOfTheSecondWord, /*sleeper=*/0);
}

MODEL_TEST(Idle, ATaskArrivesWhileTwoInTwoWordsGoToSleep,
           .mode = model::Mode::kBounded) {
  TestTaskDuringSleep(0, kOfTheSecondWord);
}

// A worker sleeps in each word, and each of two waking threads takes one.
MODEL_TEST(Idle, TwoWakeTheSleepersInTwoWords) {
  Idle idle(Idle::kGroup + 1);
  idle.Sleep(0, /*was_searching=*/false);
  idle.Sleep(kOfTheSecondWord, /*was_searching=*/false);
  bool other_wakes = false;
  Thread other([&] { other_wakes = idle.WakeAny().has_value(); });
  const bool wakes = idle.WakeAny().has_value();
  other.Join();
  Require(wakes && other_wakes);
  Require(idle.asleep() == 0);
}

// ---- The watchdog does not sleep while a worker is awake.

MODEL_TEST(Idle, AWorkerWakesByItselfBesideTheWatchdog) {
  Idle idle(1);
  ThreadParker watchdog;
  EventCount event;
  event.SetWaiter(watchdog.unparker());
  idle.Sleep(0, /*was_searching=*/false);
  Thread worker([&] {
    idle.Awake(0);
    event.Notify();
  });
  event.PrepareWait();
  if (idle.asleep() == 1) watchdog.Park();
  worker.Join();
}

MODEL_TEST(Idle, AWorkerIsWokenBesideTheWatchdog) {
  Idle idle(1);
  ThreadParker watchdog;
  ThreadParker parker;
  EventCount event;
  event.SetWaiter(watchdog.unparker());
  idle.Sleep(0, /*was_searching=*/false);
  Thread worker([&] {
    parker.Park();
    idle.Awake(0);
    event.Notify();
  });
  Thread waker([&] {
    if (idle.Wake().has_value()) parker.unparker().Unpark();
  });
  event.PrepareWait();
  if (idle.asleep() == 1) watchdog.Park();
  worker.Join();
  waker.Join();
}

// The worker is in the driver, and does not come back.
MODEL_TEST(Idle, AWorkerIsWokenInALongDispatchBesideTheWatchdog) {
  Idle idle(1);
  ThreadParker watchdog;
  EventCount event;
  event.SetWaiter(watchdog.unparker());
  idle.Sleep(0, /*was_searching=*/false);
  Thread waker([&] {
    if (idle.Wake().has_value()) event.Notify();
  });
  event.PrepareWait();
  if (idle.asleep() == 1) watchdog.Park();
  waker.Join();
}

MODEL_MUTANTS(
    Idle, "scheduler/queue/idle.h",
    "Idle::Awake at idle.h:230: load seq_cst -> acquire: the standard "
    "allows an order of the sequentially consistent operations that "
    "is not the order of execution, which the checker does not have "
    "(testing/model/memory.h)");

}  // namespace
}  // namespace rouse::scheduler

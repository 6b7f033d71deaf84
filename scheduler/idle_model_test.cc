// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The steps of idle.h beside one another, and what they promise to who pushes a
// task. (What comes of it is in run_queues_model_test.)

#include <atomic>

#include "rouse/base/atomic.h"
#include "rouse/scheduler/awake_bell.h"
#include "rouse/scheduler/idle.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::scheduler {
namespace {

using model::Require;
using model::Thread;

// A queue as idle.h wants it: with a task in it or not.
class Queue {
 public:
  void Push() { full_.exchange(true, std::memory_order_seq_cst); }
  bool IsEmpty() const { return !full_.load(std::memory_order_seq_cst); }

 private:
  Atomic<bool> full_{false};
};

// ---- Nothing gets lost of a word that several change.

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

MODEL_TEST(Idle, OneAwakesWhileAnotherGoesToSleep) {
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

// Either it was woken, and what came before that is visible, or it was not.
MODEL_TEST(Idle, OneAwakesWhileItIsWoken) {
  Idle idle(2);
  model::Cell<int> told(0);
  idle.Sleep(0, /*was_searching=*/false);
  bool wakes = false;
  Thread other([&] {
    told.Write() = 1;
    wakes = idle.Wake().has_value();
  });
  const bool woken = idle.Awake(0);
  if (woken) Require(told.Read() == 1);
  other.Join();
  Require(woken == wakes);
  Require(!idle.IsAsleep(0));
}

// ---- No task is left lying.

MODEL_TEST(Idle, ATaskComesWhileTheWorkerGoesToSleep) {
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

// Nobody is woken because one searches; but that one has found another task,
// and is busy with it for long.
MODEL_TEST(Idle, ATaskComesWhileTheLastOneEndsItsSearch) {
  Idle idle(2);
  Queue queue;
  idle.Sleep(1, /*was_searching=*/false);
  Require(idle.BeginSearching(0));
  bool woken = false;
  Thread pusher([&] {
    queue.Push();
    woken = idle.Wake().has_value();
  });
  bool found = false;
  if (idle.EndSearching(0) && !queue.IsEmpty()) {
    found = true;
    static_cast<void>(idle.Wake());
  }
  pusher.Join();
  Require(woken || found);
  Require(!idle.IsAsleep(1));
}

// Of two that go to sleep one after the other, having searched, the last looks.
MODEL_TEST(Idle, ATaskComesWhileTwoGoToSleep, .mode = model::Mode::kBounded) {
  Idle idle(4);
  Queue queue;
  Require(idle.BeginSearching(0));
  Require(idle.BeginSearching(1));
  bool woken = false;
  Thread pusher([&] {
    queue.Push();
    woken = idle.Wake().has_value();
  });
  bool other_found = false;
  Thread other([&] {
    other_found = idle.Sleep(1, /*was_searching=*/true) && !queue.IsEmpty();
  });
  const bool found = idle.Sleep(0, /*was_searching=*/true) && !queue.IsEmpty();
  pusher.Join();
  other.Join();
  Require(woken || found || other_found);
}

// ---- The watchdog does not sleep beside a worker that is awake.

MODEL_TEST(Idle, AWorkerAwakesByItselfBesideTheWatchdog) {
  Idle idle(1);
  ThreadParker watchdog;
  AwakeBell bell;
  bell.SetWatcher(watchdog.unparker());
  idle.Sleep(0, /*was_searching=*/false);
  Thread worker([&] {
    idle.Awake(0);
    bell.Ring();
  });
  bell.Await();
  if (idle.asleep() == 1) watchdog.Park();
  worker.Join();
}

MODEL_TEST(Idle, AWorkerIsWokenBesideTheWatchdog) {
  Idle idle(1);
  ThreadParker watchdog;
  ThreadParker parker;
  AwakeBell bell;
  bell.SetWatcher(watchdog.unparker());
  idle.Sleep(0, /*was_searching=*/false);
  Thread worker([&] {
    parker.Park();
    idle.Awake(0);
    bell.Ring();
  });
  Thread waker([&] {
    if (idle.Wake().has_value()) parker.unparker().Unpark();
  });
  bell.Await();
  if (idle.asleep() == 1) watchdog.Park();
  worker.Join();
  waker.Join();
}

MODEL_MUTANTS(Idle, "scheduler/idle.h");

}  // namespace
}  // namespace rouse::scheduler

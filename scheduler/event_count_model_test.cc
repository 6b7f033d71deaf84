// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A watchdog goes to sleep while workers awake. If it slept while a worker is
// awake, the model would deadlock.

#include <cstddef>

#include "rouse/scheduler/event_count.h"
#include "rouse/scheduler/queue/idle.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::scheduler {
namespace {

using model::Require;
using model::Thread;

struct World {
  explicit World(size_t workers) : idle(workers) {
    event.SetWaiter(watcher.unparker());
    for (size_t i = 0; i < workers; ++i) {
      idle.Sleep(i, /*was_searching=*/false);
    }
  }

  // Acts as the watchdog until a worker is awake.
  void Watch(size_t workers) {
    event.PrepareWait();
    if (idle.asleep() == workers) watcher.Park();
    Require(idle.asleep() < workers);
  }

  ThreadParker watcher;
  Idle idle;
  EventCount event;
};

MODEL_TEST(EventCount, AWorkerWakesByItself) {
  World world(1);
  Thread worker([&] {
    world.idle.Awake(0);
    world.event.Notify();
  });
  world.Watch(1);
  worker.Join();
}

// The worker has returned from the driver when another thread wakes it. The
// worker notices this only by its cleared bit.
MODEL_TEST(EventCount, AWorkerWakesByItselfDuringAWake) {
  World world(1);
  Thread other([&] { static_cast<void>(world.idle.Wake()); });
  Thread worker([&] {
    world.idle.Awake(0);
    world.event.Notify();
  });
  world.Watch(1);
  other.Join();
  worker.Join();
}

// The woken worker is in the driver, and does not come back.
MODEL_TEST(EventCount, AWorkerIsWokenDuringADispatch) {
  World world(1);
  Thread other([&] {
    if (world.idle.Wake().has_value()) world.event.Notify();
  });
  world.Watch(1);
  other.Join();
}

MODEL_TEST(EventCount, TwoWorkersWakeByThemselves) {
  World world(2);
  Thread one([&] {
    world.idle.Awake(0);
    world.event.Notify();
  });
  Thread two([&] {
    world.idle.Awake(1);
    world.event.Notify();
  });
  world.Watch(2);
  one.Join();
  two.Join();
}

// The watchdog calls PrepareWait() again while the first `Notify()` is in
// progress.
MODEL_TEST(EventCount, AWorkerSleepsAgainAndWakes) {
  World world(1);
  Thread worker([&] {
    world.idle.Awake(0);
    world.event.Notify();
    world.idle.Sleep(0, /*was_searching=*/false);
    world.idle.Awake(0);
    world.event.Notify();
  });
  for (int i = 0; i < 2; ++i) {
    world.event.PrepareWait();
    if (world.idle.asleep() == 1) world.watcher.Park();
  }
  worker.Join();
}

MODEL_MUTANTS(
    EventCount, "scheduler/event_count.h",
    "EventCount::Notify at event_count.h:72: store skipped: the watchdog "
    "is unparked for nothing each time");

}  // namespace
}  // namespace rouse::scheduler

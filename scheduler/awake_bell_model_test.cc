// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A watchdog goes to sleep while workers awake. If it slept while a worker is
// awake, the model would deadlock.

#include <cstddef>

#include "rouse/scheduler/awake_bell.h"
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
    bell.SetWatcher(watcher.unparker());
    for (size_t i = 0; i < workers; ++i) {
      idle.Sleep(i, /*was_searching=*/false);
    }
  }

  // Acts as the watchdog until a worker is awake.
  void Watch(size_t workers) {
    bell.Await();
    if (idle.asleep() == workers) watcher.Park();
    Require(idle.asleep() < workers);
  }

  ThreadParker watcher;
  Idle idle;
  AwakeBell bell;
};

MODEL_TEST(AwakeBell, AWorkerAwakesByItself) {
  World world(1);
  Thread worker([&] {
    world.idle.Awake(0);
    world.bell.Ring();
  });
  world.Watch(1);
  worker.Join();
}

// The worker has returned from the driver when another thread wakes it. The
// worker notices this only by its cleared bit.
MODEL_TEST(AwakeBell, AWorkerAwakesWhileItIsWoken) {
  World world(1);
  Thread other([&] { static_cast<void>(world.idle.Wake()); });
  Thread worker([&] {
    world.idle.Awake(0);
    world.bell.Ring();
  });
  world.Watch(1);
  other.Join();
  worker.Join();
}

MODEL_TEST(AwakeBell, TwoWorkersAwake) {
  World world(2);
  Thread one([&] {
    world.idle.Awake(0);
    world.bell.Ring();
  });
  Thread two([&] {
    world.idle.Awake(1);
    world.bell.Ring();
  });
  world.Watch(2);
  one.Join();
  two.Join();
}

// The watchdog calls Await() again while the first ring is in progress.
MODEL_TEST(AwakeBell, AWorkerSleepsAgainAndAwakes) {
  World world(1);
  Thread worker([&] {
    world.idle.Awake(0);
    world.bell.Ring();
    world.idle.Sleep(0, /*was_searching=*/false);
    world.idle.Awake(0);
    world.bell.Ring();
  });
  for (int i = 0; i < 2; ++i) {
    world.bell.Await();
    if (world.idle.asleep() == 1) world.watcher.Park();
  }
  worker.Join();
}

MODEL_MUTANTS(AwakeBell, "scheduler/awake_bell.h",
              "AwakeBell::Ring at awake_bell.h:59: store skipped: the watchdog "
              "is unparked for nothing each time");

}  // namespace
}  // namespace rouse::scheduler

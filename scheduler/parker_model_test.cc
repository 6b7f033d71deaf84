// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two workers share one driver (trap S27). If an unpark were lost, the model
// would deadlock.

#include <atomic>
#include <memory>

#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/parker.h"
#include "rouse/scheduler/queue/idle.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::scheduler {
namespace {

using model::Cell;
using model::Require;
using model::Thread;

// If two threads are in the driver at once, there is a race.
class PlainDriver {
 public:
  using Unparker = ThreadParker::Unparker;

  Unparker unparker() { return parker_.unparker(); }
  void Park() {
    ++uses_.Write();
    parker_.Park();
  }
  void ParkFor(absl::Duration) { ++uses_.Write(); }
  void Shutdown() {}
  absl::Duration PrepareToWait() {
    ++uses_.Write();
    return absl::InfiniteDuration();
  }
  // What another event loop does after `PrepareToWait()`.
  void WaitElsewhere() { parker_.Park(); }

 private:
  ThreadParker parker_;
  Cell<int> uses_{0};
};

struct World {
  PlainDriver bottom;
  SharedDriver driver{std::make_unique<DriverRef<PlainDriver>>(bottom)};
  Parker first{driver};
  Parker second{driver};
};

// Something that a worker is notified of; the worker parks until then.
class Notified {
 public:
  void Notify(Parker& parker) {
    notified_.store(true, std::memory_order_relaxed);
    parker.Unpark();
  }
  void Await(Parker& parker) {
    while (!notified_.load(std::memory_order_relaxed)) parker.Park();
  }

 private:
  Atomic<bool> notified_{false};
};

MODEL_TEST(Parker, AParkInTheDriverSeesWhatCameBeforeTheUnpark,
           .spurious_failures = 0) {
  World world;
  Cell<int> data(0);
  Thread other([&] {
    data.Write() = 1;
    world.first.Unpark();
  });
  world.first.Park();
  Require(data.Read() == 1);
  Require(!world.driver.IsHeld());
  other.Join();
}

MODEL_TEST(Parker, AParkBesideTheDriverSeesWhatCameBeforeTheUnpark,
           .spurious_failures = 0) {
  World world;
  Require(world.driver.TryHold());
  Cell<int> data(0);
  Thread other([&] {
    data.Write() = 1;
    world.first.Unpark();
  });
  world.first.Park();
  Require(data.Read() == 1);
  other.Join();
  world.driver.Release();
}

// The driver's descriptor ends the wait of another event loop.
MODEL_TEST(Parker, AWaitElsewhereSeesWhatCameBeforeTheUnpark,
           .spurious_failures = 0) {
  World world;
  Cell<int> data(0);
  Thread other([&] {
    data.Write() = 1;
    world.first.Unpark();
  });
  if (world.first.BeginWait() > absl::ZeroDuration()) {
    world.bottom.WaitElsewhere();
  }
  Require(world.driver.IsHeld());
  world.first.EndWait();
  Require(data.Read() == 1);
  Require(!world.driver.IsHeld());
  other.Join();
}

// The second unpark finds the state left by the first.
MODEL_TEST(Parker, AParkSeesWhatCameBeforeEachConsumedUnpark,
           .mode = model::Mode::kBounded, .spurious_failures = 0) {
  World world;
  Atomic<int> done(0);
  const auto unpark = [&](int bit) {
    return [&world, &done, bit] {
      done.fetch_or(bit, std::memory_order_relaxed);
      world.first.Unpark();
    };
  };
  Thread one(unpark(1));
  Thread two(unpark(2));
  while (done.load(std::memory_order_relaxed) != 3) world.first.Park();
  one.Join();
  two.Join();
}

MODEL_TEST(Parker, AWaitElsewhereSeesWhatCameBeforeEachConsumedUnpark,
           .mode = model::Mode::kBounded, .spurious_failures = 0) {
  World world;
  Atomic<int> done(0);
  const auto unpark = [&](int bit) {
    return [&world, &done, bit] {
      done.fetch_or(bit, std::memory_order_relaxed);
      world.first.Unpark();
    };
  };
  Thread one(unpark(1));
  Thread two(unpark(2));
  while (done.load(std::memory_order_relaxed) != 3) {
    if (world.first.BeginWait() > absl::ZeroDuration()) {
      world.bottom.WaitElsewhere();
    }
    world.first.EndWait();
  }
  one.Join();
  two.Join();
}

// Whichever of the two workers is in the driver.
MODEL_TEST(Parker, AnUnparkReachesEitherWorkerInEitherPark,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  World world;
  Notified first;
  Notified second;
  Thread one([&] { first.Await(world.first); });
  Thread two([&] { second.Await(world.second); });
  first.Notify(world.first);
  second.Notify(world.second);
  one.Join();
  two.Join();
}

// The worker that leaves the driver wakes the other.
MODEL_TEST(Parker, TheDriverIsPassedOn, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  World world;
  Notified first;
  Notified second;
  Thread one([&] {
    first.Await(world.first);
    second.Notify(world.second);
  });
  Thread two([&] { second.Await(world.second); });
  first.Notify(world.first);
  one.Join();
  two.Join();
}

MODEL_TEST(Parker, AWorkerPollsWhileAnotherParks, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  World world;
  Notified first;
  Thread one([&] { first.Await(world.first); });
  Thread two([&] { world.second.PollDriver(); });
  first.Notify(world.first);
  one.Join();
  two.Join();
}

// The watchdog holds the driver while a worker goes to sleep.
MODEL_TEST(Parker, ASleeperBesideAHolderGetsTheDriverOrIsFound) {
  World world;
  Idle idle(1);
  Require(world.driver.TryHold());
  bool held = false;
  Thread worker([&] {
    (void)idle.Sleep(0, /*was_searching=*/false);
    held = world.driver.TryHold();
  });
  world.driver.Release();
  const bool found = idle.IsAsleep(0);
  worker.Join();
  Require(held || found);
}

// Idle has models of its own.
MODEL_MUTANTS(Parker, "scheduler/", "Idle::: killed by idle_model_test",
              "SharedDriver::Release at driver.h:108: store skipped: it counts "
              "turns for the watchdog");

}  // namespace
}  // namespace rouse::scheduler

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Models a thread in `BlockOn()`, and threads that wake its future. A lost wake
// is a deadlock here.

#include <atomic>

#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/runtime/main_wake.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::internal {
namespace {

using model::Require;
using model::Thread;

// `BlockOn()` for a future that is ready after a number of events. Each event
// wakes the future.
class World {
 public:
  void Happen() {
    happened_.fetch_add(1, std::memory_order_relaxed);
    Wake();
  }
  void Wake() {
    wake_.Wake([this] { parker_.unparker().Unpark(); });
  }

  void BlockOn(int things) {
    for (;;) {
      if (!wake_.Take()) {
        parker_.Park();
      } else if (Poll() == things) {
        return;
      }
    }
  }

  MainWake& wake() { return wake_; }

 private:
  // Relaxed: `MainWake` must make the events before a wake visible to the poll.
  int Poll() { return happened_.load(std::memory_order_relaxed); }

  MainWake wake_;
  ThreadParker parker_;
  Atomic<int> happened_{0};
};

MODEL_TEST(MainWake, AWakeIsFollowedByAPoll, .spurious_failures = 0) {
  World world;
  Thread other([&] { world.Happen(); });
  world.BlockOn(1);
  other.Join();
}

// A single thread wakes twice: the first wake's poll may be in progress at the
// second wake.
MODEL_TEST(MainWake, EachWakeOfOneThreadIsFollowedByAPoll,
           .spurious_failures = 0) {
  World world;
  Thread other([&] {
    world.Happen();
    world.Happen();
  });
  world.BlockOn(2);
  other.Join();
}

// The second wake leaves the unpark to the first.
MODEL_TEST(MainWake, APollSeesBothOfTwoConcurrentWakes,
           .spurious_failures = 0) {
  World world;
  Thread one([&] { world.Happen(); });
  Thread two([&] { world.Happen(); });
  world.BlockOn(2);
  one.Join();
  two.Join();
}

// Actions before a wake are visible to the poll, whichever thread unparks, even
// if no unpark is needed.
MODEL_TEST(MainWake, APollSeesWhatCameBeforeTheWake) {
  MainWake wake;
  Require(wake.Take());
  Cell<int> data(0);
  Thread other([&] {
    data.Write() = 1;
    wake.Wake([] {});
  });
  if (wake.Take()) Require(data.Read() == 1);
  other.Join();
}

MODEL_TEST(MainWake, APollSeesWhatCameBeforeEitherOfTwoWakes) {
  MainWake wake;
  Require(wake.Take());
  Cell<int> first(0);
  Cell<int> second(0);
  Atomic<int> wakes(0);
  Thread one([&] {
    first.Write() = 1;
    wake.Wake([] {});
    wakes.fetch_add(1, std::memory_order_relaxed);
  });
  Thread two([&] {
    second.Write() = 1;
    wake.Wake([] {});
    wakes.fetch_add(1, std::memory_order_relaxed);
  });
  // Both wakes have been called, so the exchange takes both.
  if (wakes.load(std::memory_order_relaxed) == 2 && wake.Take()) {
    Require(first.Read() == 1);
    Require(second.Read() == 1);
  }
  one.Join();
  two.Join();
}

// A second unpark might find that the waiting thread has exited.
MODEL_TEST(MainWake, OneOfTwoWakesUnparks) {
  MainWake wake;
  Require(wake.Take());
  Cell<int> unparks(0);
  const auto unpark = [&unparks] { ++unparks.Write(); };
  Thread other([&] { wake.Wake(unpark); });
  wake.Wake(unpark);
  other.Join();
  Require(unparks.Read() == 1);
}

MODEL_MUTANTS(MainWake, "runtime/main_wake.h");

}  // namespace
}  // namespace rouse::internal

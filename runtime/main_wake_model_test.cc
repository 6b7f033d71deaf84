// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread in `BlockOn()`, and those that wake its future. A wake that is lost
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

// `BlockOn()`, of a future that is ready when a number of things have happened.
// Each of them wakes it.
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
  // Orders nothing: that a poll sees what it was woken for is not its doing.
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

// Two of one thread: the first one's poll may be under way when the second
// comes.
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

// The second leaves the unpark to the first.
MODEL_TEST(MainWake, TwoWakesAtOnceAreFollowedByAPollThatSeesBoth,
           .spurious_failures = 0) {
  World world;
  Thread one([&] { world.Happen(); });
  Thread two([&] { world.Happen(); });
  world.BlockOn(2);
  one.Join();
  two.Join();
}

// What came before a wake is visible to the poll, whoever unparks the thread,
// and if nobody need.
MODEL_TEST(MainWake, WhatCameBeforeAWakeIsVisible) {
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

MODEL_TEST(MainWake, WhatCameBeforeEitherOfTwoWakesIsVisible) {
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
  // Both have been called, so that the exchange takes both.
  if (wakes.load(std::memory_order_relaxed) == 2 && wake.Take()) {
    Require(first.Read() == 1);
    Require(second.Read() == 1);
  }
  one.Join();
  two.Join();
}

// As if it were two, it would unpark a thread that is gone, and not one that
// parks.
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

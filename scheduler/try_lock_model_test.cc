// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// `BlockInPlace()` gives a worker up, makes another thread take it over, and
// takes it back if no thread has done so.

#include "rouse/scheduler/try_lock.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::scheduler {
namespace {

using model::Require;
using model::Thread;

// A worker. If two threads run it at once, there is a race.
struct World {
  bool RunIfFree() {
    if (!run_lock.TryAcquire()) return false;
    ++runs.Write();
    return true;
  }

  TryLock run_lock;
  model::Cell<int> runs{0};
};

MODEL_TEST(TryLock, OneOfTwoThreadsAcquiresTheLock) {
  World world;
  bool other_has_it = false;
  Thread other([&] { other_has_it = world.RunIfFree(); });
  const bool has_it = world.RunIfFree();
  other.Join();
  Require(has_it != other_has_it);
  Require(world.runs.Read() == 1);
}

// The actions of the blocking thread are visible to the replacement thread, and
// vice versa if the worker comes back.
MODEL_TEST(TryLock, IsReleasedAndPerhapsReacquired) {
  World world;
  Require(world.RunIfFree());
  world.run_lock.Release();
  bool stood_in = false;
  Thread replacement([&] { stood_in = world.RunIfFree(); });
  const bool taken_back = world.RunIfFree();
  replacement.Join();
  Require(stood_in != taken_back);
  Require(world.runs.Read() == 2);
}

// The replacement thread blocks, too: the worker goes back to the first thread
// or on to the next replacement thread.
MODEL_TEST(TryLock, PassesFromThreadToThread) {
  World world;
  Require(world.RunIfFree());
  world.run_lock.Release();
  bool ran[3] = {};
  Thread replacement([&] {
    ran[0] = world.RunIfFree();
    if (ran[0]) world.run_lock.Release();
  });
  Thread next([&] { ran[1] = world.RunIfFree(); });
  ran[2] = world.RunIfFree();
  replacement.Join();
  next.Join();
  Require(!(ran[1] && ran[2]));
  // At most one of the two kept the lock, which is free if neither did.
  Require(world.run_lock.TryAcquire() == !(ran[1] || ran[2]));
}

MODEL_MUTANTS(TryLock, "scheduler/try_lock.h");

}  // namespace
}  // namespace rouse::scheduler

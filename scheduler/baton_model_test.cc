// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// `BlockInPlace()` puts a worker down, has another thread take it up, and takes
// it back if it still lies there.

#include "rouse/scheduler/baton.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::scheduler {
namespace {

using model::Require;
using model::Thread;

// A worker: two threads that run it at one time are a race.
struct World {
  bool RunIfFree() {
    if (!baton.TryTake()) return false;
    ++runs.Write();
    return true;
  }

  Baton baton;
  model::Cell<int> runs{0};
};

MODEL_TEST(Baton, OneOfTwoTakesIt) {
  World world;
  bool other_has_it = false;
  Thread other([&] { other_has_it = world.RunIfFree(); });
  const bool has_it = world.RunIfFree();
  other.Join();
  Require(has_it != other_has_it);
  Require(world.runs.Read() == 1);
}

// What the thread that blocks did is visible to who stands in, and the other
// way round if it comes back.
MODEL_TEST(Baton, IsPutDownAndTakenBackOrNot) {
  World world;
  Require(world.RunIfFree());
  world.baton.PutDown();
  bool stood_in = false;
  Thread replacement([&] { stood_in = world.RunIfFree(); });
  const bool taken_back = world.RunIfFree();
  replacement.Join();
  Require(stood_in != taken_back);
  Require(world.runs.Read() == 2);
}

// Who stands in blocks, too: the first may have the worker back, or the next
// who stands in.
MODEL_TEST(Baton, GoesFromOneToTheNext) {
  World world;
  Require(world.RunIfFree());
  world.baton.PutDown();
  bool ran[3] = {};
  Thread replacement([&] {
    ran[0] = world.RunIfFree();
    if (ran[0]) world.baton.PutDown();
  });
  Thread next([&] { ran[1] = world.RunIfFree(); });
  ran[2] = world.RunIfFree();
  replacement.Join();
  next.Join();
  Require(!(ran[1] && ran[2]));
  // At most one of the two kept it; it lies there if neither did.
  Require(world.baton.TryTake() == !(ran[1] || ran[2]));
}

MODEL_MUTANTS(Baton, "scheduler/baton.h");

}  // namespace
}  // namespace rouse::scheduler

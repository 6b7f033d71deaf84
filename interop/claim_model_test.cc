// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The copies of a callback, which several threads call; and a coroutine, which
// one thread resumes while another destroys it.

#include "rouse/interop/claim.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::interop::internal {
namespace {

using model::Require;
using model::Thread;

// If two calls are first, there is a race.
struct World {
  bool Call() {
    if (!claim.Take()) return false;
    ++calls.Write();
    return true;
  }

  Claim claim;
  model::Cell<int> calls{0};
};

MODEL_TEST(Claim, OneOfTheCallsIsTheFirst) {
  World world;
  bool first[3] = {};
  Thread a([&] { first[0] = world.Call(); });
  Thread b([&] { first[1] = world.Call(); });
  first[2] = world.Call();
  a.Join();
  b.Join();
  Require(first[0] + first[1] + first[2] == 1);
  Require(world.calls.Read() == 1);
}

MODEL_TEST(Claim, IsTakenFromTheFirstCallOn) {
  World world;
  Require(!world.claim.IsTaken());
  Thread other([&] { world.Call(); });
  if (!world.claim.IsTaken()) world.Call();
  Require(world.claim.IsTaken());
  Require(!world.Call());
  other.Join();
  Require(world.calls.Read() == 1);
}

MODEL_MUTANTS(Claim, "interop/claim.h");

}  // namespace
}  // namespace rouse::interop::internal

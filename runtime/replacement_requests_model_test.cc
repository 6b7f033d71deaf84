// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread blocks, comes back and blocks again, while a thread is on its way to
// stand in for it. A worker that is offered, and nobody runs, is a failure
// here, as are two threads that run one.

#include <optional>

#include "rouse/base/cell.h"
#include "rouse/runtime/replacement_requests.h"
#include "rouse/scheduler/baton.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::internal {
namespace {

using model::Require;
using model::Thread;
using scheduler::Baton;

// A worker that a thread runs, and the threads that were sent for it.
class World {
 public:
  World() {
    requests_.SetWorkers(1);
    Require(TakeOver());
  }

  // Offers the worker, and has a thread run it, as `BlockInPlace()` does.
  void Block() {
    baton_.PutDown();
    if (!requests_.Add(0)) return;
    Require(sent_ < kThreads);
    threads_[sent_++].emplace([this] {
      requests_.Arrive(0, [this] { static_cast<void>(TakeOver()); });
    });
  }

  // Whether the worker was offered. Runs it.
  bool TakeOver() {
    if (!baton_.TryTake()) return false;
    ++runs_.Write();
    return true;
  }

  void JoinAll() {
    for (std::optional<Thread>& thread : threads_) thread.reset();
  }

  ReplacementRequests& requests() { return requests_; }
  int sent() const { return sent_; }

 private:
  static constexpr int kThreads = 3;

  Baton baton_;
  ReplacementRequests requests_;
  Cell<int> runs_{0};
  int sent_ = 0;
  std::optional<Thread> threads_[kThreads];
};

MODEL_TEST(ReplacementRequests, AThreadComesForAWorkerThatIsOffered) {
  World world;
  world.Block();
  world.JoinAll();
  Require(!world.TakeOver());
}

// The thread that was sent for the first offer looks after the second, or one
// is sent for that.
MODEL_TEST(ReplacementRequests, AThreadComesForAWorkerThatIsOfferedAgain) {
  World world;
  world.Block();
  if (world.TakeOver()) world.Block();
  world.JoinAll();
  Require(!world.TakeOver());
}

MODEL_TEST(ReplacementRequests, AThreadComesForTheLastOfThreeOffers) {
  World world;
  world.Block();
  if (world.TakeOver()) world.Block();
  if (world.TakeOver()) world.Block();
  world.JoinAll();
  Require(!world.TakeOver());
}

// They do not pile up: while none can come there is one.
MODEL_TEST(ReplacementRequests, OneIsOnItsWay) {
  ReplacementRequests requests;
  requests.SetWorkers(2);
  bool other_sends = false;
  Thread other([&] { other_sends = requests.Add(0); });
  const bool sends = requests.Add(0);
  other.Join();
  Require(sends != other_sends);
  // To each worker.
  Require(requests.Add(1));
}

// The next offer sends another.
MODEL_TEST(ReplacementRequests, AThreadThatCannotComeIsForgotten) {
  World world;
  Require(world.requests().Add(0));
  world.requests().Drop(0);
  world.Block();
  world.JoinAll();
  Require(world.sent() == 1);
  Require(!world.TakeOver());
}

// The memory orders are `Baton`'s, which the lock of the requests completes.
MODEL_MUTANTS(ReplacementRequests, "scheduler/baton.h",
              "Baton::PutDown at baton.h:32: store skipped: killed by "
              "baton_model_test");

}  // namespace
}  // namespace rouse::internal

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Models a thread that blocks, returns and blocks again, while a replacement
// thread is on its way. An offered worker that no thread runs is a failure
// here, and so are two threads that run the same worker.

#include <optional>

#include "rouse/base/cell.h"
#include "rouse/runtime/replacement_requests.h"
#include "rouse/scheduler/try_lock.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::internal {
namespace {

using model::Require;
using model::Thread;
using scheduler::TryLock;

// A worker that a thread runs, and the threads that were sent for the worker.
class World {
 public:
  World() {
    requests_.SetWorkers(1);
    Require(TakeOver());
  }

  // Offers the worker, and has a thread run it, as `BlockInPlace()` does.
  void Block() {
    run_lock_.Release();
    if (!requests_.Add(0)) return;
    Require(sent_ < kThreads);
    threads_[sent_++].emplace([this] {
      requests_.Arrive(0, [this] { static_cast<void>(TakeOver()); });
    });
  }

  // Runs the worker if it was offered. Returns whether it was.
  bool TakeOver() {
    if (!run_lock_.TryAcquire()) return false;
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

  TryLock run_lock_;
  ReplacementRequests requests_;
  Cell<int> runs_{0};
  int sent_ = 0;
  std::optional<Thread> threads_[kThreads];
};

MODEL_TEST(ReplacementRequests, AThreadArrivesForAnOfferedWorker) {
  World world;
  world.Block();
  world.JoinAll();
  Require(!world.TakeOver());
}

// Either the thread that was sent for the first offer checks the second, or
// another thread is sent for the second.
MODEL_TEST(ReplacementRequests, AThreadArrivesForAWorkerOfferedAgain) {
  World world;
  world.Block();
  if (world.TakeOver()) world.Block();
  world.JoinAll();
  Require(!world.TakeOver());
}

MODEL_TEST(ReplacementRequests, AThreadArrivesForTheLastOfThreeOffers) {
  World world;
  world.Block();
  if (world.TakeOver()) world.Block();
  if (world.TakeOver()) world.Block();
  world.JoinAll();
  Require(!world.TakeOver());
}

// Requests do not pile up: while no thread can arrive, a single request exists.
MODEL_TEST(ReplacementRequests, OnlyOneThreadIsRequestedPerWorker) {
  ReplacementRequests requests;
  requests.SetWorkers(2);
  bool other_sends = false;
  Thread other([&] { other_sends = requests.Add(0); });
  const bool sends = requests.Add(0);
  other.Join();
  Require(sends != other_sends);
  // Each worker has a request of its own.
  Require(requests.Add(1));
}

// The next offer sends another thread.
MODEL_TEST(ReplacementRequests, AThreadThatCannotStartIsForgotten) {
  World world;
  Require(world.requests().Add(0));
  world.requests().Drop(0);
  world.Block();
  world.JoinAll();
  Require(world.sent() == 1);
  Require(!world.TakeOver());
}

// The memory orders are those of `TryLock`; the lock of the requests completes
// them.
MODEL_MUTANTS(ReplacementRequests, "scheduler/try_lock.h",
              "TryLock::Release at try_lock.h:38: store skipped: killed by "
              "try_lock_model_test");

}  // namespace
}  // namespace rouse::internal

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the thread of a `Background` concurrently with the owner, who gives
// orders and waits for the end of the thread. A missed order or a missed end is
// a deadlock here. All accesses are relaxed, so there are no mutants.

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/base/cell.h"
#include "rouse/reactor/background.h"
#include "rouse/reactor/core.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/token.h"
#include "rouse/reactor/reactor.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/slot/slot.h"
#include "rouse/reactor/slot/waiter.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/context.h"
#include "rouse/waker/thread_parker.h"
#include "rouse/waker/waker.h"

namespace rouse::reactor {
namespace {

using model::Require;
using model::Thread;

Background Start() {
  return Background::Start(
             Reactor::Create({.max_sources = 2, .events_per_turn = 1}).value())
      .value();
}

// Waits like `BlockOn()`.
void Await(Background::ShutdownFuture future) {
  ThreadParker parker;
  const Waker waker = Waker::FromCallable(
      [unparker = parker.unparker()] { unparker.Unpark(); });
  Context cx(waker);
  while (future.Poll(cx).IsPending()) parker.Park();
}

// A source that never has an event.
class Source {
 public:
  explicit Source(Handle reactor)
      : reactor_(std::move(reactor)),
        core_(*reactor_.core()),
        slot_(core_
                  .Register(
                      [this](Token token) {
                        return core_.queue().Register(1, token,
                                                      Interest::kReadable);
                      },
                      index_)
                  .value()) {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() {
    core_
        .Deregister([this] { return core_.queue().Deregister(1); }, slot_,
                    index_)
        .IgnoreError();
  }

  internal::Slot& slot() { return *slot_; }

 private:
  const Handle reactor_;
  internal::Core& core_;
  uint32_t index_;
  internal::Slot* const slot_;
};

MODEL_TEST(Background, DestroyingItEndsTheThread, .spurious_failures = 0) {
  const Background background = Start();
}

MODEL_TEST(Background, AShutdownWakesItsWaiter, .spurious_failures = 0) {
  Await(Start().ShutdownNow());
}

// Either the first waker is not called any more, or no other waker is called.
MODEL_TEST(Background, AShutdownWakesTheWakerOfTheLatestPoll,
           .spurious_failures = 0) {
  Background::ShutdownFuture future = Start().ShutdownNow();
  {
    const Waker waker;
    Context cx(waker);
    if (future.Poll(cx).IsReady()) return;
  }
  Await(std::move(future));
}

MODEL_TEST(Background, ADroppedFutureEndsTheThread, .spurious_failures = 0) {
  static_cast<void>(Start().ShutdownNow());
}

MODEL_TEST(Background, EndsWhenIdleWithoutSources, .spurious_failures = 0) {
  Await(Start().ShutdownOnIdle());
}

// The shutdown comes after the last source is deregistered, and does not notify
// that source.
MODEL_TEST(Background, WaitsForTheLastSource, .spurious_failures = 0) {
  Background background = Start();
  const Handle handle = background.handle();
  std::optional<Source> source(background.handle());
  Thread user([&] {
    Require(!handle.IsShutDown());
    source.reset();
  });
  Await(std::move(background).ShutdownOnIdle());
  Require(handle.IsShutDown());
  user.Join();
}

// The second order ends the wait that the first order has begun.
MODEL_TEST(Background, ADroppedFutureEndsTheWaitForIdleness,
           .spurious_failures = 0) {
  Background background = Start();
  const Handle handle = background.handle();
  const Source source(background.handle());
  static_cast<void>(std::move(background).ShutdownOnIdle());
  Require(handle.IsShutDown());
}

// Waiters of a source are notified. All effects of the thread, including the
// notification, are visible to the owner after the end.
MODEL_TEST(Background, TheThreadsWritesAreVisibleAtItsEnd,
           .spurious_failures = 0) {
  Background background = Start();
  Source source(background.handle());
  Cell<int> wakes(0);
  Waiter waiter;
  const Waker waker = Waker::FromCallable([&wakes] { ++wakes.Write(); });
  Require(source.slot().Wait(Direction::kRead, waker, &waiter) == 0);
  Await(std::move(background).ShutdownNow());
  Require(wakes.Read() == 1);
}

// The thread notifies the waiters of a source, rather than the code that polls
// or drops the future.
MODEL_TEST(Background, AShutdownContinuesWithoutPolls, .spurious_failures = 0) {
  Background background = Start();
  Source source(background.handle());
  ThreadParker parker;
  Waiter waiter;
  const Waker waker = Waker::FromCallable(
      [unparker = parker.unparker()] { unparker.Unpark(); });
  Require(source.slot().Wait(Direction::kRead, waker, &waiter) == 0);
  const Background::ShutdownFuture future = std::move(background).ShutdownNow();
  parker.Park();
}

}  // namespace
}  // namespace rouse::reactor

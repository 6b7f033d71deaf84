// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the thread that turns a reactor concurrently with threads that unpark
// the reactor, register with it, and shut it down. In all of these models a
// lost unpark is a deadlock.

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/base/config.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/panic.h"
#include "rouse/reactor/core.h"
#include "rouse/reactor/poll/events.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/token.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/slot/readiness_word.h"
#include "rouse/reactor/slot/slot.h"
#include "rouse/reactor/slot/waiter.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::reactor::internal {
namespace {

using model::Require;
using model::Thread;

struct Release {
  void operator()(Core* core) const { core->Unref(); }
};
// Owns one reference.
using CoreRef = std::unique_ptr<Core, Release>;

CoreRef NewCore() { return CoreRef(Core::New(/*max_sources=*/4).value()); }

CoreRef Share(const CoreRef& core) {
  core->Ref();
  return CoreRef(core.get());
}

// Turns `core`. Returns false after a shutdown.
bool Turn(Core& core, absl::Duration max_wait = absl::InfiniteDuration()) {
  Events events(1);
  return core.Turn(events, max_wait).ok();
}

// Waits like a loop that waits for the descriptor of the queue.
bool WaitInAnotherLoop(Core& core) {
  if (core.PrepareToWait()) core.queue().WaitUntilReadable();
  return Turn(core, absl::ZeroDuration());
}

// Runs like a thread with no other work.
void RunUntilIdle(Core& core) {
  while (!core.ShutdownIfIdle()) Require(Turn(core));
}

// A source, or the refusal of a source. No event ever occurs.
class Source {
 public:
  explicit Source(Core& core, int fd = 1)
      : core_(core),
        fd_(fd),
        slot_(core.Register(
            [&core, fd](Token token) {
              return core.queue().Register(fd, token, Interest::kReadable);
            },
            index_)) {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() {
    if (!slot_.ok()) return;
    core_
        .Deregister([this] { return core_.queue().Deregister(fd_); }, *slot_,
                    index_)
        .IgnoreError();
  }

  bool ok() const { return slot_.ok(); }
  Slot& slot() { return **slot_; }

 private:
  Core& core_;
  const int fd_;
  uint32_t index_;
  const absl::StatusOr<Slot*> slot_;
};

// A task that waits for a source. Must be destroyed before the source.
class SourceTask {
 public:
  // Returns false if the reactor has been shut down.
  bool Wait(Source& source) {
    const uint64_t word =
        source.slot().Wait(Direction::kRead, task_.waker(), &waiter_);
    if (word == 0) return true;
    Require((word & ReadinessWord::kShutdown) != 0);
    return false;
  }

  int wakes() const { return task_.wakes(); }
  bool woken() const { return task_.woken(); }

 private:
  model::Task task_;
  Waiter waiter_;
};

MODEL_TEST(ReactorCore, AnUnparkBeforeDuringOrAfterEndsThePark,
           .spurious_failures = 0) {
  const CoreRef core = NewCore();
  Cell<int> data(0);
  Thread other([&] {
    data.Write() = 1;
    core->Unpark();
  });
  Turn(*core);
  Require(data.Read() == 1);
  other.Join();
}

// The second unpark finds the state of the first: writes before the second are
// visible nevertheless.
MODEL_TEST(ReactorCore, ATurnSeesWhatCameBeforeEachConsumedUnpark,
           .spurious_failures = 0) {
  const CoreRef core = NewCore();
  Atomic<int> done(0);
  const auto unpark = [&](int bit) {
    return [&done, &core, bit] {
      done.fetch_or(bit, std::memory_order_relaxed);
      core->Unpark();
    };
  };
  Thread one(unpark(1));
  Thread two(unpark(2));
  while (done.load(std::memory_order_relaxed) != 3) Turn(*core);
  one.Join();
  two.Join();
}

MODEL_TEST(ReactorCore, AnUnparkEndsAPreparedWait, .spurious_failures = 0) {
  const CoreRef core = NewCore();
  Cell<int> data(0);
  Thread other([&] {
    data.Write() = 1;
    core->Unpark();
  });
  WaitInAnotherLoop(*core);
  Require(data.Read() == 1);
  other.Join();
}

MODEL_TEST(ReactorCore, ATurnWithoutAWaitEndsThePreparation) {
  const CoreRef core = NewCore();
  Atomic<bool> unparked(false);
  Thread other([&] {
    unparked.store(true, std::memory_order_relaxed);
    core->Unpark();
  });
  core->PrepareToWait();
  Turn(*core, absl::ZeroDuration());
  while (!unparked.load(std::memory_order_relaxed)) WaitInAnotherLoop(*core);
  other.Join();
}

MODEL_TEST(ReactorCore, AShutdownEndsAPreparedWait) {
  const CoreRef core = NewCore();
  Thread ending([&] { core->Shutdown(); });
  while (WaitInAnotherLoop(*core)) {
  }
  ending.Join();
}

MODEL_TEST(ReactorCore, EachUnparkEndsOnePark) {
  const CoreRef core = NewCore();
  Atomic<bool> parked(false);
  Thread other([&] {
    core->Unpark();
    while (!parked.load(std::memory_order_acquire)) model::SpinHint();
    core->Unpark();
  });
  Turn(*core);
  parked.store(true, std::memory_order_release);
  Turn(*core);
  other.Join();
}

void TestUnparkBesideTurn(absl::Duration max_wait) {
  const CoreRef core = NewCore();
  Atomic<bool> unparked(false);
  Thread other([&] {
    unparked.store(true, std::memory_order_relaxed);
    core->Unpark();
  });
  Turn(*core, max_wait);
  // A turn that has used up the unpark sees all earlier writes. Otherwise the
  // turn below would not end.
  while (!unparked.load(std::memory_order_relaxed)) Turn(*core);
  other.Join();
}

MODEL_TEST(ReactorCore, ATimedTurnConsumesAnUnparkOrLeavesIt) {
  TestUnparkBesideTurn(absl::Milliseconds(1));
}

MODEL_TEST(ReactorCore, ANonBlockingTurnConsumesAnUnparkOrLeavesIt) {
  TestUnparkBesideTurn(absl::ZeroDuration());
}

MODEL_TEST(ReactorCore, AShutdownEndsThePark) {
  const CoreRef core = NewCore();
  Thread ending([&] { core->Shutdown(); });
  while (Turn(*core)) {
  }
  ending.Join();
}

MODEL_TEST(ReactorCore, OneOfTwoShutdownsWakes) {
  const CoreRef core = NewCore();
  Source source(*core);
  SourceTask task;
  Require(task.Wait(source));
  Thread ending([&] { core->Shutdown(); });
  core->Shutdown();
  ending.Join();
  Require(task.wakes() == 1);
}

MODEL_TEST(ReactorCore, NoSourceIsShutDownWhenIdle) {
  const CoreRef core = NewCore();
  bool idle = false;
  Thread ending([&] { idle = core->ShutdownIfIdle(); });
  const Source source(*core);
  ending.Join();
  Require(source.ok() != idle);
  Require(core->IsShutDown() == idle);
}

MODEL_TEST(ReactorCore, TheLastDeregistrationEndsThePark,
           .spurious_failures = 0) {
  const CoreRef core = NewCore();
  auto source = std::make_unique<Source>(*core);
  Thread driving([&] { RunUntilIdle(*core); });
  source.reset();
  driving.Join();
  Require(core->IsShutDown());
}

// The refused source was registered for a moment.
MODEL_TEST(ReactorCore, ARefusedSourceEndsThePark, .spurious_failures = 0) {
  const CoreRef core = NewCore();
  Thread driving([&] { RunUntilIdle(*core); });
  {
    const Source refused(*core, /*fd=*/-1);
    Require(!refused.ok());
  }
  driving.Join();
}

MODEL_TEST(ReactorCore, AShutdownShowsWhatCameBefore) {
  const CoreRef core = NewCore();
  Cell<int> data(0);
  Thread ending([&] {
    data.Write() = 1;
    core->Shutdown();
  });
  if (core->IsShutDown()) Require(data.Read() == 1);
  ending.Join();
}

MODEL_TEST(ReactorCore, AnIdleShutdownShowsWhatCameBefore) {
  const CoreRef core = NewCore();
  Cell<int> data(0);
  Thread ending([&] {
    data.Write() = 1;
    Require(core->ShutdownIfIdle());
  });
  if (core->IsShutDown()) Require(data.Read() == 1);
  ending.Join();
}

MODEL_TEST(ReactorCore, TheLastReferenceFreesIt) {
  CoreRef core = NewCore();
  Thread other([mine = Share(core)]() mutable {
    Turn(*mine, absl::ZeroDuration());
    mine.reset();
  });
  core.reset();
}

MODEL_TEST(ReactorCore, NoReferenceIsLost) {
  CoreRef core = NewCore();
  Thread other([&core] { const CoreRef mine = Share(core); });
  {
    const CoreRef mine = Share(core);
  }
  other.Join();
}

#ifdef ABSL_HAVE_EXCEPTIONS

// Turns one after another are allowed, and each finds the state that the
// previous turn has left.
MODEL_TEST(ReactorCore, TwoThreadsDoNotTurnAtOnce) {
  const CoreRef core = NewCore();
  Atomic<int> turns(0);
  const auto turn = [&] {
    try {
      Turn(*core, absl::ZeroDuration());
      turns.fetch_add(1, std::memory_order_relaxed);
    } catch (const PanicError&) {
    }
  };
  Thread other(turn);
  turn();
  other.Join();
  Require(turns.load(std::memory_order_relaxed) >= 1);
}

#endif

// The largest models come last: most mutants are killed before.

MODEL_TEST(ReactorCore, AShutdownNotifiesAllWaiters, .spurious_failures = 0) {
  const CoreRef core = NewCore();
  Source first(*core);
  Source second(*core);
  SourceTask early;
  SourceTask late;
  Require(early.Wait(first));
  Thread ending([&] { core->Shutdown(); });
  const bool waits = late.Wait(second);
  ending.Join();
  Require(early.woken());
  Require(late.woken() == waits);
}

MODEL_TEST(ReactorCore, ARegistrationIsRefusedOrNotifiedOfTheShutdown,
           .spurious_failures = 0) {
  const CoreRef core = NewCore();
  Thread ending([&] { core->Shutdown(); });
  Source source(*core);
  if (!source.ok()) {
    Require(core->IsShutDown());
    return ending.Join();
  }
  SourceTask task;
  const bool waits = task.Wait(source);
  ending.Join();
  Require(task.woken() == waits);
}

// Like the test above, for a slot that has served another source.
MODEL_TEST(ReactorCore, ARegistrationInAFreedSlotIsRefusedOrNotified,
           .spurious_failures = 0) {
  const CoreRef core = NewCore();
  {
    const Source before(*core);
  }
  Thread ending([&] { core->Shutdown(); });
  Source source(*core);
  if (!source.ok()) return ending.Join();
  SourceTask task;
  const bool waits = task.Wait(source);
  ending.Join();
  Require(task.woken() == waits);
}

// Without exceptions a panic is a failure, and nothing tests `turning_`.
#ifdef ABSL_HAVE_EXCEPTIONS
MODEL_MUTANTS(
    ReactorCore, "reactor/core.",
    "Core::Turn at core.cc:211: modify skipped: the next turn does not "
    "wait, once");
#endif

}  // namespace
}  // namespace rouse::reactor::internal

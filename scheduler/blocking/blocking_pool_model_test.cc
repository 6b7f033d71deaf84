// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads fall asleep, are woken, run out of time and are shut down while work
// comes. A timed wait of a model may end at any moment. Work that no thread
// takes is a deadlock here.
//
// The pool has no atomics of its own, and therefore no mutants: its shared
// state is under one lock.
//
// Tokio's models of its pool (loom_blocking.rs), and the tests here that cover
// them:
//
//   blocking_shutdown
//       AllCallsAreDestroyedByTheShutdown
//   spawn_mandatory_blocking_should_always_run
//       MandatoryWorkBeforeTheShutdownIsDone, the first call
//   spawn_mandatory_blocking_should_run_even_when_shutting_down_from_other_thread
//       the same, the second call
//   spawn_blocking_when_paused
//       AClockIsHeldUntilTheCallHasEnded
//   spawn_blocking_then_shutdown, spawn_blocking_racing_shutdown_resolves
//       AShutdownRacesWithWorkAndAThreadThatTimesOut
//   spawn_blocking_at_thread_cap_runs
//       OneThreadRunsOneCallAtATime, AWakeIsNotLostToABusyThread

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/scheduler/blocking/blocking_pool.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::scheduler {
namespace {

using model::Mode;
using model::Require;
using model::Thread;

// Counts calls, and waits for a number of them.
class Count {
 public:
  void Add() {
    const ThreadMutexLock lock(&mu_);
    ++count_;
    changed_.SignalAll();
  }
  void WaitFor(int count) {
    const ThreadMutexLock lock(&mu_);
    while (count_ < count) changed_.Wait(&mu_);
  }
  // Waits until `count` threads are here or have been here.
  void Meet(int count) {
    Add();
    WaitFor(count);
  }
  int now() {
    const ThreadMutexLock lock(&mu_);
    return count_;
  }

 private:
  ThreadMutex mu_;
  ThreadCondVar changed_;
  int count_ ABSL_GUARDED_BY(mu_) = 0;
};

BlockingPool::Owner Pool(size_t max_threads,
                         absl::Duration keep_alive = absl::Seconds(1)) {
  BlockingOptions options;
  options.max_threads = max_threads;
  options.keep_alive = keep_alive;
  return BlockingPool::Create(std::move(options));
}

void RequireEmpty(const BlockingPool& pool) {
  const BlockingPool::Metrics metrics = pool.metrics();
  Require(metrics.threads == 0 && metrics.idle_threads == 0 &&
          metrics.queue_depth == 0);
}

absl::Status ResultOf(JoinHandle<void>& handle) {
  const Waker waker;
  Context cx(waker);
  return handle.Poll(cx).value();
}

enum class Kind { kUsual, kShort };

// Spawns a call that nobody joins.
template <class F>
void SpawnDetached(BlockingPool& pool, Kind kind, F call) {
  (kind == Kind::kShort ? pool.SpawnShort(call) : pool.Spawn(call)).Detach();
}

// Spawns a call, and another after the first has run. Meanwhile, the time of
// the first call's thread may run out.
void CallAfterCall(size_t max_threads, Kind kind) {
  const BlockingPool::Owner pool = Pool(max_threads);
  Count count;
  for (int i = 1; i <= 2; ++i) {
    SpawnDetached(*pool, kind, [&count] { count.Add(); });
    count.WaitFor(i);
  }
  pool->Shutdown();
  RequireEmpty(*pool);
}

// Two threads spawn a call each. The calls end if both run at once.
void CallsOfTwoThreadsMeet(Kind here, Kind there) {
  const BlockingPool::Owner pool = Pool(2, absl::InfiniteDuration());
  Count count;
  auto meet = [&count] { count.Meet(2); };
  Thread other([&] { SpawnDetached(*pool, there, meet); });
  SpawnDetached(*pool, here, meet);
  count.WaitFor(2);
  other.Join();
  pool->Shutdown();
  RequireEmpty(*pool);
}

// P3. Tokio's first pool lost work that was spawned while its thread's time ran
// out (#1560).
MODEL_TEST(BlockingPool, WorkIsDoneIfAThreadTimesOutMeanwhile,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  CallAfterCall(/*max_threads=*/1, Kind::kUsual);
}

MODEL_TEST(BlockingPool, ShortCallsAreDoneIfAThreadTimesOutMeanwhile,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  CallAfterCall(/*max_threads=*/2, Kind::kShort);
}

// The second call is in the queue when a thread takes the first, or comes while
// the thread is on its way or runs the first call. In each case another thread
// takes the second call.
MODEL_TEST(BlockingPool, ShortCallsThatWaitForEachOtherEnd,
           .mode = Mode::kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  CallsOfTwoThreadsMeet(Kind::kShort, Kind::kShort);
}

// Both threads sleep, or one is about to sleep.
MODEL_TEST(BlockingPool, ShortCallsThatMeetWakeEnoughThreads,
           .mode = Mode::kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  const BlockingPool::Owner pool = Pool(2, absl::InfiniteDuration());
  Count count;
  for (int calls = 2; calls <= 4; calls += 2) {
    auto meet = [&count, calls] { count.Meet(calls); };
    for (int i = 0; i < 2; ++i) pool->SpawnShort(meet).Detach();
    count.WaitFor(calls);
  }
  pool->Shutdown();
  RequireEmpty(*pool);
}

// The short call, which is first in the queue, uses the thread that was called
// for the other call.
MODEL_TEST(BlockingPool, AShortCallAndAUsualCallThatMeetEnd,
           .mode = Mode::kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  CallsOfTwoThreadsMeet(Kind::kShort, Kind::kUsual);
}

MODEL_TEST(BlockingPool, CallsThatWaitForEachOtherEnd, .mode = Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  CallsOfTwoThreadsMeet(Kind::kUsual, Kind::kUsual);
}

// A busy thread that returns to the queue does not make the pool forget a woken
// thread, either.
MODEL_TEST(BlockingPool, AWakeIsNotLostToABusyThread, .mode = Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  const BlockingPool::Owner pool = Pool(2, absl::InfiniteDuration());
  Count count;
  for (int i = 0; i < 2; ++i) {
    pool->Spawn([&count] { count.Add(); }).Detach();
  }
  count.WaitFor(2);
  for (int i = 0; i < 2; ++i) {
    pool->Spawn([&count] { count.Add(); }).Detach();
  }
  count.WaitFor(4);
  pool->Shutdown();
  RequireEmpty(*pool);
}

MODEL_TEST(BlockingPool, OneThreadRunsOneCallAtATime, .mode = Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  const BlockingPool::Owner pool = Pool(1);
  Count count;
  model::Cell<int> calls(0);
  auto call = [&] {
    ++calls.Write();
    count.Add();
  };
  Thread other([&] { pool->Spawn(call).Detach(); });
  pool->Spawn(call).Detach();
  count.WaitFor(2);
  other.Join();
  pool->Shutdown();
  Require(calls.Read() == 2);
}

// The first call does not end before the second has begun.
MODEL_TEST(BlockingPool, WithoutALimitNoCallIsQueued, .mode = Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  const BlockingPool::Owner pool = Pool(1);
  Count count;
  auto meet = [&count] { count.Meet(2); };
  pool->Spawn(meet).Detach();
  Thread other([&] { pool->LiftLimit(); });
  pool->Spawn(meet).Detach();
  count.WaitFor(2);
  other.Join();
  pool->Shutdown();
  RequireEmpty(*pool);
}

// P1: no object that a call held is left, either. Its destruction comes before
// everything that follows the shutdown.
MODEL_TEST(BlockingPool, AllCallsAreDestroyedByTheShutdown,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  class Call {
   public:
    explicit Call(model::Cell<bool>* destroyed) : destroyed_(destroyed) {}
    Call(Call&& other) noexcept
        : destroyed_(std::exchange(other.destroyed_, nullptr)) {}
    ~Call() {
      if (destroyed_ != nullptr) destroyed_->Write() = true;
    }
    void operator()() const {}

   private:
    model::Cell<bool>* destroyed_;
  };
  // Each is destroyed on whichever thread takes the call.
  model::Cell<bool> first_gone(false), second_gone(false);
  {
    const BlockingPool::Owner pool = Pool(1);
    pool->Spawn(Call(&first_gone)).Detach();
    pool->Spawn(Call(&second_gone)).Detach();
  }
  Require(first_gone.Read() && second_gone.Read());
}

MODEL_TEST(BlockingPool, AClockIsHeldUntilTheCallHasEnded,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  const auto clock = std::make_shared<Clock>();
  clock->SetAutoAdvance(true);
  clock->Pause();
  const Instant start = clock->Now();
  BlockingOptions options;
  options.max_threads = 1;
  options.clock = clock;
  const BlockingPool::Owner pool = BlockingPool::Create(std::move(options));
  JoinHandle<void> handle =
      pool->Spawn([&] { Require(clock->Now() == start); });
  // Like a driver that has nothing else to do.
  clock->EndCheck(clock->BeginCheck());
  (void)clock->AutoAdvanceTo(start + absl::Hours(1));
  if (clock->Now() != start) Require(handle.IsFinished());
  pool->Shutdown();
  clock->EndCheck(clock->BeginCheck());
  (void)clock->AutoAdvanceTo(start + absl::Hours(1));
  Require(clock->Now() == start + absl::Hours(1));
}

// P3. Tokio #7922: a wake and a shutdown that coincided were counted twice.
MODEL_TEST(BlockingPool, AShutdownRacesWithWorkAndAThreadThatTimesOut,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  const BlockingPool::Owner pool = Pool(1);
  Count count;
  pool->Spawn([&count] { count.Add(); }).Detach();
  count.WaitFor(1);
  Thread closing([&] { Require(pool->Shutdown()); });
  JoinHandle<void> handle = pool->Spawn([&count] { count.Add(); });
  closing.Join();
  Require(handle.IsFinished());
  const absl::Status result = ResultOf(handle);
  Require(result.ok() ? count.now() == 2 : absl::IsCancelled(result));
  RequireEmpty(*pool);
}

MODEL_TEST(BlockingPool, AShutdownRacesWithShortCalls, .mode = Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  const BlockingPool::Owner pool = Pool(2);
  Count count;
  Thread closing([&] { Require(pool->Shutdown()); });
  JoinHandle<void> first = pool->SpawnShort([&count] { count.Add(); });
  JoinHandle<void> second = pool->SpawnShort([&count] { count.Add(); });
  closing.Join();
  Require(first.IsFinished() && second.IsFinished());
  int done = 0;
  for (JoinHandle<void>* handle : {&first, &second}) {
    const absl::Status result = ResultOf(*handle);
    Require(result.ok() || absl::IsCancelled(result));
    if (result.ok()) ++done;
  }
  Require(count.now() == done);
  RequireEmpty(*pool);
}

// Mandatory calls that wait for each other, behind short calls that wait for
// them. The shutdown calls the threads that the mandatory calls lack.
MODEL_TEST(BlockingPool, MandatoryCallsBehindShortCallsMeetInAShutdown,
           .mode = Mode::kBounded, .preemption_bound = 0,
           .spurious_failures = 0) {
  const BlockingPool::Owner pool = Pool(4);
  Count begun, count;
  auto hang = [&] {
    begun.Add();
    count.WaitFor(2);
  };
  auto meet = [&count] { count.Meet(2); };
  for (int i = 0; i < 2; ++i) pool->SpawnShort(hang).Detach();
  for (int i = 0; i < 2; ++i) pool->SpawnMandatory(meet).Detach();
  begun.WaitFor(1);
  pool->Shutdown();
  Require(count.now() == 2);
  RequireEmpty(*pool);
}

// In a model, two short calls share a thread. A third calls another, or the
// thread that takes the first call does.
MODEL_TEST(BlockingPool, MoreShortCallsThanOneThreadsShareMeet,
           .mode = Mode::kBounded, .preemption_bound = 0,
           .spurious_failures = 0) {
  const BlockingPool::Owner pool = Pool(3, absl::InfiniteDuration());
  Count count;
  auto meet = [&count] { count.Meet(3); };
  for (int i = 0; i < 3; ++i) pool->SpawnShort(meet).Detach();
  count.WaitFor(3);
  pool->Shutdown();
  RequireEmpty(*pool);
}

MODEL_TEST(BlockingPool, MandatoryWorkBeforeTheShutdownIsDone,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  const BlockingPool::Owner pool = Pool(1);
  Count count;
  JoinHandle<void> first = pool->SpawnMandatory([&count] { count.Add(); });
  std::optional<JoinHandle<void>> second;
  bool accepted = false;
  Thread other([&] {
    second = pool->SpawnMandatory([&count] { count.Add(); });
    // A call that comes too late is cancelled at once.
    accepted = !second->IsFinished();
  });
  Require(pool->Shutdown());
  Require(first.IsFinished() && ResultOf(first).ok());
  other.Join();
  Require(second->IsFinished());
  const absl::Status result = ResultOf(*second);
  Require(result.ok() ? count.now() == 2 : !accepted && count.now() == 1);
  RequireEmpty(*pool);
}

// The last of the threads frees the pool.
MODEL_TEST(BlockingPool, ContinuesInTheBackground, .mode = Mode::kBounded,
           .preemption_bound = 1) {
  BlockingPool::Owner pool = Pool(2);
  for (int i = 0; i < 2; ++i) pool->SpawnMandatory([] {}).Detach();
  pool->Shutdown(absl::ZeroDuration());
  pool.reset();
}

MODEL_TEST(BlockingPool, IsDestroyedByItsOwnCall, .mode = Mode::kBounded,
           .preemption_bound = 1) {
  BlockingPool::Owner pool = Pool(2);
  BlockingPool* const raw = pool.get();
  JoinHandle<void> other = raw->Spawn([] {});
  raw->Spawn([pool = std::move(pool)]() mutable { pool.reset(); }).Detach();
}

// Each thread that ends joins the thread that ended before it, in any order.
MODEL_TEST(BlockingPool, ThreadsThatExitTogetherAreAllJoined,
           .mode = Mode::kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  const BlockingPool::Owner pool = Pool(3);
  for (int i = 0; i < 3; ++i) pool->Spawn([] {}).Detach();
  Require(pool->Shutdown());
  RequireEmpty(*pool);
}

}  // namespace
}  // namespace rouse::scheduler

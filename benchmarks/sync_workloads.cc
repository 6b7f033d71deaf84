// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Workloads of Notify, Mutex and Semaphore.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "rouse/benchmarks/harness.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/mutex.h"
#include "rouse/sync/notify.h"
#include "rouse/sync/semaphore.h"

namespace rouse::bench {
namespace {

constexpr size_t kRepeats = 100'000;
constexpr size_t kContenders = 8;
constexpr size_t kContendedRepeats = 20'000;

Co<> Join(std::vector<JoinHandle<void>> handles) {
  for (JoinHandle<void>& handle : handles) (void)co_await handle;
}

// Runs eight tasks of one kind, and joins the tasks.
void JoinEight(Runtime& runtime, absl::FunctionRef<Co<>()> make_task) {
  std::vector<JoinHandle<void>> handles;
  for (size_t i = 0; i < kContenders; ++i) {
    handles.push_back(runtime.Spawn(make_task()));
  }
  runtime.BlockOn(Join(std::move(handles)));
}

Co<> NotifyOneself(Notify& notify) {
  for (size_t i = 0; i < kRepeats; ++i) {
    notify.NotifyOne();
    co_await notify.Notified();
  }
}

// Calls NotifyOne(), and then Notified(), which finds the permit.
void NotifyPermit(const Bench& bench) {
  Runtime runtime = bench.MakeCurrentThreadRuntime();
  Notify notify;
  bench.Measure(kRepeats, [&] { runtime.BlockOn(NotifyOneself(notify)); });
}

Co<> AnswerNotify(Notify& ping, Notify& pong, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    co_await ping.Notified();
    pong.NotifyOne();
  }
}

Co<> CallNotify(Notify& ping, Notify& pong, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    ping.NotifyOne();
    co_await pong.Notified();
  }
}

Co<> NotifyPair(size_t count) {
  Notify ping;
  Notify pong;
  JoinHandle<void> answerer = Spawn(AnswerNotify(ping, pong, count));
  JoinHandle<void> caller = Spawn(CallNotify(ping, pong, count));
  (void)co_await answerer;
  (void)co_await caller;
}

// Two tasks wake each other in turn. An operation is a round trip.
void NotifyPingPong(const Bench& bench) {
  constexpr size_t kRoundTrips = 20'000;
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kRoundTrips, [&] { runtime.BlockOn(NotifyPair(kRoundTrips)); });
}

Co<> LockAndCount(Mutex<uint64_t>& counter, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto guard = co_await counter.Lock();
    ++*guard;
  }
}

void MutexUncontended(const Bench& bench) {
  Runtime runtime = bench.MakeCurrentThreadRuntime();
  Mutex<uint64_t> counter(0);
  bench.Measure(kRepeats,
                [&] { runtime.BlockOn(LockAndCount(counter, kRepeats)); });
}

// Eight tasks lock the mutex, without an await in the critical section.
void MutexContended(const Bench& bench) {
  Runtime runtime = bench.MakeRuntime();
  Mutex<uint64_t> counter(0);
  bench.Measure(kContenders * kContendedRepeats, [&] {
    JoinEight(runtime,
              [&] { return LockAndCount(counter, kContendedRepeats); });
  });
}

Co<> LockAndYield(Mutex<uint64_t>& counter, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto guard = co_await counter.Lock();
    ++*guard;
    co_await Yield();
  }
}

// Eight tasks hold the lock across a yield, so that every unlock passes the
// lock to a waiter.
void MutexHandOff(const Bench& bench) {
  constexpr size_t kHandOffs = 2'000;
  Runtime runtime = bench.MakeRuntime();
  Mutex<uint64_t> counter(0);
  bench.Measure(kContenders * kHandOffs, [&] {
    JoinEight(runtime, [&] { return LockAndYield(counter, kHandOffs); });
  });
}

Co<> AcquireAndRelease(Semaphore& semaphore, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    (void)co_await semaphore.Acquire();
  }
}

void SemaphoreUncontended(const Bench& bench) {
  Runtime runtime = bench.MakeCurrentThreadRuntime();
  Semaphore semaphore(10);
  bench.Measure(kRepeats, [&] {
    runtime.BlockOn(AcquireAndRelease(semaphore, kRepeats));
  });
}

// Eight tasks share two permits.
void SemaphoreContended(const Bench& bench) {
  Runtime runtime = bench.MakeRuntime();
  Semaphore semaphore(2);
  bench.Measure(kContenders * kContendedRepeats, [&] {
    JoinEight(runtime,
              [&] { return AcquireAndRelease(semaphore, kContendedRepeats); });
  });
}

}  // namespace

bool RunSyncWorkload(const Bench& bench) {
  if (bench.Is("notify_permit")) {
    NotifyPermit(bench);
  } else if (bench.Is("notify_ping_pong") || bench.Is("notify_ping_pong_ct")) {
    NotifyPingPong(bench);
  } else if (bench.Is("mutex_uncontended")) {
    MutexUncontended(bench);
  } else if (bench.Is("mutex_contended")) {
    MutexContended(bench);
  } else if (bench.Is("mutex_handoff") || bench.Is("mutex_handoff_ct")) {
    MutexHandOff(bench);
  } else if (bench.Is("semaphore_uncontended")) {
    SemaphoreUncontended(bench);
  } else if (bench.Is("semaphore_contended")) {
    SemaphoreContended(bench);
  } else {
    return false;
  }
  return true;
}

}  // namespace rouse::bench

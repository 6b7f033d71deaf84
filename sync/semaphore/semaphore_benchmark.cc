// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>

#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"
#include "rouse/future/co.h"
#include "rouse/sync/lock/mutex.h"
#include "rouse/sync/lock/rw_lock.h"
#include "rouse/sync/semaphore/semaphore.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

// Polls an endless coroutine, or one that runs until `state` ends, as a task
// that yields.
void Run(Co<> co) {
  const Waker waker;
  for (bool done = false; !done;) {
    Context cx(waker);
    done = co.Poll(cx).IsReady();
  }
}

Co<> AcquireAndRelease(benchmark::State& state, Semaphore& semaphore) {
  for (auto _ : state) {
    absl::StatusOr<Semaphore::Permit> permit = co_await semaphore.Acquire();
    benchmark::DoNotOptimize(permit);
  }
}

void BM_Semaphore(benchmark::State& state) {
  Semaphore semaphore(10);
  Run(AcquireAndRelease(state, semaphore));
}
BENCHMARK(BM_Semaphore);

void BM_SemaphoreTryAcquire(benchmark::State& state) {
  Semaphore semaphore(10);
  for (auto _ : state) {
    std::optional<Semaphore::Permit> permit = semaphore.TryAcquire();
    benchmark::DoNotOptimize(permit);
  }
}
BENCHMARK(BM_SemaphoreTryAcquire);

Co<> LockAndUnlock(benchmark::State& state, Mutex<int>& mutex) {
  for (auto _ : state) {
    MutexGuard<int> guard = co_await mutex.Lock();
    benchmark::DoNotOptimize(++*guard);
  }
}

void BM_Mutex(benchmark::State& state) {
  Mutex<int> mutex;
  Run(LockAndUnlock(state, mutex));
}
BENCHMARK(BM_Mutex);

Co<> ReadAndUnlock(benchmark::State& state, RwLock<int>& lock) {
  for (auto _ : state) {
    RwLockReadGuard<int> guard = co_await lock.Read();
    int value = *guard;
    benchmark::DoNotOptimize(value);
  }
}

void BM_RwLockRead(benchmark::State& state) {
  RwLock<int> lock;
  Run(ReadAndUnlock(state, lock));
}
BENCHMARK(BM_RwLockRead);

Co<> WriteAndUnlock(benchmark::State& state, RwLock<int>& lock) {
  for (auto _ : state) {
    RwLockWriteGuard<int> guard = co_await lock.Write();
    benchmark::DoNotOptimize(++*guard);
  }
}

void BM_RwLockWrite(benchmark::State& state) {
  RwLock<int> lock;
  Run(WriteAndUnlock(state, lock));
}
BENCHMARK(BM_RwLockWrite);

// One operation: a holder unlocks, and the waiter is polled and has the lock.
void BM_MutexHandOver(benchmark::State& state) {
  Mutex<int> mutex;
  const Waker waker = Waker::FromCallable([] {});
  std::optional<MutexGuard<int>> guard = mutex.TryLock();
  Context cx(waker);
  UnconstrainedScope unconstrained(cx);
  for (auto _ : state) {
    auto lock = mutex.Lock();
    benchmark::DoNotOptimize(lock.Poll(cx).IsReady());
    guard.reset();
    guard.emplace(*lock.Poll(cx));
  }
}
BENCHMARK(BM_MutexHandOver);

}  // namespace
}  // namespace rouse

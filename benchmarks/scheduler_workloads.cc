// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Workloads of spawning, joining and yielding, with the names of Tokio's
// benchmarks.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "rouse/benchmarks/harness.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/oneshot.h"

namespace rouse::bench {
namespace {

constexpr size_t kSpawns = 10'000;
constexpr size_t kYieldingTasks = 200;
constexpr size_t kYields = 1'000;

Co<> Nothing() { co_return; }

// Counts a task. The last of `remaining` tasks notifies `done`.
Co<> CountDown(std::atomic<size_t>& remaining, absl::Notification& done) {
  // Release: each task uses `remaining` for the last time before the thread
  // that waits for `done` destroys it. Acquire: the last task notifies for all
  // tasks.
  if (remaining.fetch_sub(1, std::memory_order_acq_rel) == 1) done.Notify();
  co_return;
}

Co<> SpawnCountDowns(std::atomic<size_t>& remaining, absl::Notification& done) {
  for (size_t i = 0; i < kSpawns; ++i) Spawn(CountDown(remaining, done));
  co_return;
}

Co<> JoinAll(std::vector<JoinHandle<void>>& handles) {
  for (JoinHandle<void>& handle : handles) (void)co_await handle;
  handles.clear();
}

Co<> SpawnAndJoin(size_t count) {
  std::vector<JoinHandle<void>> handles;
  handles.reserve(count);
  for (size_t i = 0; i < count; ++i) handles.push_back(Spawn(Nothing()));
  co_await JoinAll(handles);
}

// Counts a task of a current-thread runtime, without atomic operations.
Co<> CountDown(size_t& remaining, oneshot::Sender<void>& done) {
  if (--remaining == 0) done.Send();
  co_return;
}

Co<> SpawnDetached(size_t count) {
  size_t remaining = count;
  auto [done, all_done] = oneshot::Channel<void>();
  for (size_t i = 0; i < count; ++i) Spawn(CountDown(remaining, done));
  (void)co_await all_done;
}

Co<> YieldTimes(size_t count) {
  for (size_t i = 0; i < count; ++i) co_await Yield();
}

Co<> YieldAndCount(absl::BlockingCounter& running) {
  co_await YieldTimes(kYields);
  running.DecrementCount();
}

Co<> SpawnAndJoinYielding() {
  std::vector<JoinHandle<void>> handles;
  for (size_t i = 0; i < kYieldingTasks; ++i) {
    handles.push_back(Spawn(YieldTimes(kYields)));
  }
  co_await JoinAll(handles);
}

Co<> Chain(absl::Notification& done, size_t left) {
  if (left == 0) {
    done.Notify();
  } else {
    Spawn(Chain(done, left - 1));
  }
  co_return;
}

// Spawns 10,000 tasks from the thread that is in BlockOn.
void SpawnManyLocal(const Bench& bench) {
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kSpawns, [&runtime] {
    std::atomic<size_t> remaining{kSpawns};
    absl::Notification done;
    runtime.BlockOn(SpawnCountDowns(remaining, done));
    done.WaitForNotification();
  });
}

// Spawns 10,000 tasks from a task.
void SpawnManyWorker(const Bench& bench) {
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kSpawns, [&runtime] {
    std::atomic<size_t> remaining{kSpawns};
    absl::Notification done;
    (void)runtime.BlockOn(runtime.Spawn(SpawnCountDowns(remaining, done)));
    done.WaitForNotification();
  });
}

// A task spawns 10,000 empty tasks and joins them.
void SpawnJoinWorker(const Bench& bench) {
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kSpawns,
                [&] { bench.RunRoot(runtime, SpawnAndJoin(kSpawns)); });
}

// Spawns tasks from a thread outside the scheduler, and joins the tasks.
void SpawnRemote(const Bench& bench, Runtime& runtime, size_t count) {
  std::vector<JoinHandle<void>> handles;
  handles.reserve(count);
  bench.Measure(count, [&] {
    for (size_t i = 0; i < count; ++i) {
      handles.push_back(runtime.Spawn(Nothing()));
    }
    runtime.BlockOn(JoinAll(handles));
  });
}

void SpawnRemoteIdle(const Bench& bench, size_t count) {
  Runtime runtime = bench.MakeRuntime();
  SpawnRemote(bench, runtime, count);
}

void Stall() {
  const double start = NowSeconds();
  while (NowSeconds() - start < 10e-6) std::this_thread::yield();
}

Co<> StallAndYield(const std::atomic<bool>& busy) {
  // Relaxed: it only ends.
  while (busy.load(std::memory_order_relaxed)) {
    co_await Yield();
    Stall();
  }
}

// Like `SpawnRemoteIdle()`, while two tasks for each worker stall for 10 us and
// yield in turn.
void SpawnRemoteBusyYielding(const Bench& bench) {
  std::atomic<bool> busy{true};
  Runtime runtime = bench.MakeRuntime();
  for (size_t i = 0; i < 2 * bench.workers(); ++i) {
    runtime.Spawn(StallAndYield(busy));
  }
  SpawnRemote(bench, runtime, kSpawns);
  busy.store(false, std::memory_order_relaxed);
}

Co<> StallAndRespawn(const std::atomic<bool>& busy) {
  // Relaxed: it only ends.
  if (busy.load(std::memory_order_relaxed)) {
    Stall();
    Spawn(StallAndRespawn(busy));
  }
  co_return;
}

Co<> SpawnRespawning(const std::atomic<bool>& busy) {
  Spawn(StallAndRespawn(busy));
  co_return;
}

// Like `SpawnRemoteIdle()`, while one task for each worker stalls for 10 us and
// spawns its successor.
void SpawnRemoteBusyRespawning(const Bench& bench) {
  std::atomic<bool> busy{true};
  Runtime runtime = bench.MakeRuntime();
  for (size_t i = 0; i < bench.workers(); ++i) {
    runtime.Spawn(SpawnRespawning(busy));
  }
  SpawnRemote(bench, runtime, 1'000);
  busy.store(false, std::memory_order_relaxed);
}

// 200 tasks yield 1,000 times each. An operation is a yield.
void YieldMany(const Bench& bench) {
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kYieldingTasks * kYields, [&runtime] {
    absl::BlockingCounter running(kYieldingTasks);
    for (size_t i = 0; i < kYieldingTasks; ++i) {
      runtime.Spawn(YieldAndCount(running));
    }
    running.Wait();
  });
}

// Each of 1,000 tasks spawns its successor.
void ChainedSpawn(const Bench& bench) {
  constexpr size_t kDepth = 1'000;
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kDepth, [&runtime] {
    absl::Notification done;
    runtime.Spawn(Chain(done, kDepth));
    done.WaitForNotification();
  });
}

// A thread outside the scheduler spawns a task and waits for its end, 1,000
// times. An operation is such a round trip.
void RoundTripOutside(const Bench& bench) {
  constexpr size_t kTrips = 1'000;
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kTrips, [&runtime] {
    for (size_t i = 0; i < kTrips; ++i) {
      (void)runtime.BlockOn(runtime.Spawn(Nothing()));
    }
  });
}

// A round of `StuckSpawner()`. Times are in seconds of `NowSeconds()`.
struct StuckRound {
  void NoteBegin() {
    double none = 0;
    // Relaxed: the value is read after all tasks have been joined.
    first_began.compare_exchange_strong(none, NowSeconds(),
                                        std::memory_order_relaxed);
  }

  std::atomic<bool> other_is_busy{false};
  std::atomic<bool> has_spawned{false};
  double other_is_free = 0;
  std::atomic<double> first_began{0};
};

void ComputeFor(double seconds) {
  const double end = NowSeconds() + seconds;
  while (NowSeconds() < end) {
  }
}

void ComputeUntil(const std::atomic<bool>& flag) {
  while (!flag.load(std::memory_order_acquire)) {
  }
}

Co<> BusyForAMillisecond(StuckRound& round) {
  round.other_is_busy.store(true, std::memory_order_release);
  ComputeUntil(round.has_spawned);
  ComputeFor(1e-3);
  round.other_is_free = NowSeconds();
  co_return;
}

Co<> NoteBegin(StuckRound& round) {
  round.NoteBegin();
  co_return;
}

Co<> SpawnAndComputeOn(StuckRound& round) {
  ComputeUntil(round.other_is_busy);
  std::vector<JoinHandle<void>> handles;
  for (int i = 0; i < 3; ++i) handles.push_back(Spawn(NoteBegin(round)));
  round.has_spawned.store(true, std::memory_order_release);
  ComputeFor(9e-3);
  co_await JoinAll(handles);
}

// A task spawns three tasks, and computes for another 9 ms. The other worker
// has been busy, and becomes free after 1 ms. Measures the time from then until
// the first of the three tasks begins.
void StuckSpawner(const Bench& bench) {
  constexpr int kRounds = 200;
  Runtime runtime = bench.MakeRuntime();
  std::vector<double> delays;
  for (int i = 0; i < kRounds; ++i) {
    StuckRound round;
    std::vector<JoinHandle<void>> handles;
    handles.push_back(runtime.Spawn(BusyForAMillisecond(round)));
    handles.push_back(runtime.Spawn(SpawnAndComputeOn(round)));
    runtime.BlockOn(JoinAll(handles));
    delays.push_back(round.first_began.load() - round.other_is_free);
  }
  std::sort(delays.begin(), delays.end());
  bench.Report("p50", delays[kRounds / 2] * 1e6, "us");
  bench.Report("p99", delays[kRounds - kRounds / 100 - 1] * 1e6, "us");
}

void CurrentThreadSpawnLocal(const Bench& bench) {
  constexpr size_t kCount = 1'000;
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kCount, [&] { bench.RunRoot(runtime, SpawnAndJoin(kCount)); });
}

// Spawns 1,000 detached tasks. The last task ends the main future.
void CurrentThreadSpawnDetached(const Bench& bench) {
  constexpr size_t kCount = 1'000;
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kCount, [&runtime] { runtime.BlockOn(SpawnDetached(kCount)); });
}

void CurrentThreadYield(const Bench& bench) {
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kYieldingTasks * kYields,
                [&runtime] { runtime.BlockOn(SpawnAndJoinYielding()); });
}

// A single task yields.
void CurrentThreadYieldSingle(const Bench& bench) {
  constexpr size_t kCount = 10'000;
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kCount, [&runtime] {
    (void)runtime.BlockOn(runtime.Spawn(YieldTimes(kCount)));
  });
}

}  // namespace

bool RunSchedulerWorkload(const Bench& bench) {
  if (bench.Is("spawn_many_local")) {
    SpawnManyLocal(bench);
  } else if (bench.Is("spawn_many_worker")) {
    SpawnManyWorker(bench);
  } else if (bench.Is("spawn_join_worker")) {
    SpawnJoinWorker(bench);
  } else if (bench.Is("spawn_many_remote_idle")) {
    SpawnRemoteIdle(bench, kSpawns);
  } else if (bench.Is("spawn_many_remote_busy1")) {
    SpawnRemoteBusyYielding(bench);
  } else if (bench.Is("spawn_many_remote_busy2")) {
    SpawnRemoteBusyRespawning(bench);
  } else if (bench.Is("yield_many")) {
    YieldMany(bench);
  } else if (bench.Is("chained_spawn")) {
    ChainedSpawn(bench);
  } else if (bench.Is("round_trip_outside")) {
    RoundTripOutside(bench);
  } else if (bench.Is("stuck_spawner")) {
    StuckSpawner(bench);
  } else if (bench.Is("ct_spawn_local")) {
    CurrentThreadSpawnLocal(bench);
  } else if (bench.Is("ct_spawn_detached")) {
    CurrentThreadSpawnDetached(bench);
  } else if (bench.Is("ct_spawn_remote_idle")) {
    SpawnRemoteIdle(bench, 1'000);
  } else if (bench.Is("ct_yield")) {
    CurrentThreadYield(bench);
  } else if (bench.Is("ct_yield_single")) {
    CurrentThreadYieldSingle(bench);
  } else {
    return false;
  }
  return true;
}

}  // namespace rouse::bench

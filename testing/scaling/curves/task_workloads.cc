// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Workloads of spawning, joining and yielding.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/base/thread.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/scaling/curves/workers.h"
#include "rouse/testing/scaling/curves/workload.h"

namespace rouse::curves {
namespace {

Co<> Nothing() { co_return; }

Co<> Computing(absl::Duration duration) {
  Compute(duration);
  co_return;
}

// Spawns a batch of tasks from outside, and waits for them, again and again.
void SpawnBatches(scheduler::Scheduler& scheduler, Window& window) {
  constexpr size_t kBatch = 64;
  std::vector<JoinHandle<void>> handles;
  do {
    for (size_t i = 0; i < kBatch; ++i) {
      handles.push_back(scheduler.Spawn(Nothing()));
    }
    for (JoinHandle<void>& handle : handles) (void)BlockOn(handle);
    handles.clear();
  } while (window.Continues(kBatch));
}

void SpawnOutside(Workers& workers, Window& window) {
  SpawnBatches(workers.scheduler(), window);
}

void SpawnOutsideMany(Workers& workers, Window& window) {
  const size_t count = std::min<size_t>(workers.count(), 32);
  std::vector<Thread> threads;
  for (size_t i = 1; i < count; ++i) {
    threads.push_back(Thread::Start("outside", [&] {
                        SpawnBatches(workers.scheduler(), window);
                      }).value());
  }
  SpawnBatches(workers.scheduler(), window);
  for (Thread& thread : threads) thread.Join();
}

void RoundTrip(Workers& workers, Window& window) {
  do {
    (void)BlockOn(workers.scheduler().Spawn(Nothing()));
  } while (window.Continues(1));
}

Co<> SpawnAndJoin(Window& window) {
  constexpr size_t kBatch = 64;
  std::vector<JoinHandle<void>> handles;
  do {
    for (size_t i = 0; i < kBatch; ++i) handles.push_back(Spawn(Nothing()));
    for (JoinHandle<void>& handle : handles) (void)co_await handle;
    handles.clear();
  } while (window.Continues(kBatch));
}

Co<> YieldOften(Window& window) {
  constexpr int kBatch = 64;
  do {
    for (int i = 0; i < kBatch; ++i) co_await Yield();
  } while (window.Continues(kBatch));
}

Co<> RunFor(Window& window) {
  constexpr int kBatch = 16;
  do {
    for (int i = 0; i < kBatch; ++i) {
      co_await Yield();
      Compute(absl::Microseconds(1));
    }
  } while (window.Continues(kBatch));
}

// Runs `make_task()` `count` times, and waits for the tasks.
template <class F>
void RunTasks(Workers& workers, size_t count, F make_task) {
  std::vector<JoinHandle<void>> handles;
  for (size_t i = 0; i < count; ++i) {
    handles.push_back(workers.scheduler().Spawn(make_task()));
  }
  for (JoinHandle<void>& handle : handles) (void)BlockOn(handle);
}

void SpawnJoin(Workers& workers, Window& window) {
  RunTasks(workers, workers.count(), [&] { return SpawnAndJoin(window); });
}

void YieldMany(Workers& workers, Window& window) {
  RunTasks(workers, 4 * workers.count(), [&] { return YieldOften(window); });
}

void ShortPolls(Workers& workers, Window& window) {
  RunTasks(workers, 4 * workers.count(), [&] { return RunFor(window); });
}

Co<uint64_t> Fibonacci(uint64_t n) {
  if (n < 2) co_return n;
  JoinHandle<uint64_t> forked = Spawn(Fibonacci(n - 1));
  const uint64_t in_place = co_await Fibonacci(n - 2);
  absl::StatusOr<uint64_t> other = co_await forked;
  co_return *other + in_place;
}

// Computes a Fibonacci number again and again. An operation is a spawned task.
Co<> ForkJoin(Window& window, uint64_t n) {
  // The number of tasks is the following Fibonacci number, minus 1.
  const uint64_t tasks = co_await Fibonacci(n + 1) - 1;
  do {
    (void)co_await Fibonacci(n);
  } while (window.Continues(tasks));
}

void ForkJoinTree(Workers& workers, Window& window) {
  // About 1,000 tasks for each worker.
  const auto log2 = static_cast<uint64_t>(std::bit_width(workers.count()) - 1);
  RunTasks(workers, 1, [&] { return ForkJoin(window, 15 + 3 * log2 / 2); });
}

Co<> FanOut(Window& window, size_t count) {
  constexpr size_t kBatch = 16;
  std::vector<JoinHandle<void>> handles;
  for (bool continues = true; continues;) {
    for (size_t i = 0; i < count; ++i) {
      handles.push_back(Spawn(Computing(absl::Microseconds(10))));
    }
    for (size_t i = 0; i < count; ++i) {
      (void)co_await handles[i];
      if ((i + 1) % kBatch == 0) continues = window.Continues(kBatch);
    }
    handles.clear();
  }
}

// One task spawns 16 tasks of 10 us for each worker.
void ParallelFor(Workers& workers, Window& window) {
  RunTasks(workers, 1, [&] { return FanOut(window, 16 * workers.count()); });
}

constexpr Workload kWorkloads[] = {
    {"spawn_outside",
     "One thread that is not a worker spawns empty tasks and joins them.",
     SpawnOutside},
    {"spawn_outside_many", "As many such threads as workers, but at most 32.",
     SpawnOutsideMany},
    {"round_trip",
     "A thread that is not a worker spawns a task and waits for its end.",
     RoundTrip},
    {"spawn_join", "A task for each worker spawns empty tasks and joins them.",
     SpawnJoin},
    {"yield", "Four tasks for each worker yield.", YieldMany},
    {"short_polls", "Four tasks for each worker compute for 1 us and yield.",
     ShortPolls},
    {"fork_join", "One tree of about 1,000 spawned tasks for each worker.",
     ForkJoinTree},
    {"parallel_for",
     "One task spawns 16 tasks of 10 us for each worker and joins them.",
     ParallelFor},
};

}  // namespace

std::span<const Workload> TaskWorkloads() { return kWorkloads; }

}  // namespace rouse::curves

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of tasks, coroutines and channels.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rouse/benchmarks/harness.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/mpsc.h"
#include "rouse/sync/notify.h"
#include "rouse/sync/oneshot.h"

namespace rouse::bench {
namespace {

// A multiple of the number of tasks that are spawned at once.
constexpr size_t kObjects = 200'000;

// Makes many objects, and reports the resident memory of each. The elements of
// the vector do not count, because their pages are resident before the first
// object is made.
template <class Make>
void MeasureObjects(const Bench& bench, Make make) {
  std::vector<std::optional<decltype(make())>> objects(kObjects);
  const double before = StatusBytes("VmRSS");
  for (auto& object : objects) object.emplace(make());
  bench.Report("memory", (StatusBytes("VmRSS") - before) / kObjects, "bytes");
}

Co<> WaitFor(Notify& notify, size_t& waiting) {
  ++waiting;
  co_await notify.Notified();
}

// Makes many tasks, and reports the resident memory of each when all wait. Few
// tasks are in the run queue at once, because its memory does not count.
Co<> MeasureTasks(const Bench& bench, Notify& notify) {
  constexpr size_t kAtOnce = 1'000;
  std::vector<std::optional<JoinHandle<void>>> handles(kObjects);
  size_t spawned = 0;
  size_t waiting = 0;
  const auto all_wait = [&] { return waiting == spawned; };
  const double before = StatusBytes("VmRSS");
  while (spawned < kObjects) {
    handles[spawned++].emplace(Spawn(WaitFor(notify, waiting)));
    while (spawned % kAtOnce == 0 && !all_wait()) co_await Yield();
  }
  bench.Report("memory", (StatusBytes("VmRSS") - before) / kObjects, "bytes");
  notify.NotifyWaiters();
  for (auto& handle : handles) (void)co_await *handle;
}

Co<int> Copy(int number) { co_return number; }

}  // namespace

bool RunMemoryWorkload(const Bench& bench) {
  if (bench.Is("memory_task_ct")) {
    Runtime runtime = bench.MakeRuntime();
    Notify notify;
    runtime.BlockOn(MeasureTasks(bench, notify));
  } else if (bench.Is("memory_coroutine")) {
    MeasureObjects(bench, [] { return Copy(42); });
  } else if (bench.Is("memory_oneshot")) {
    MeasureObjects(bench, [] { return oneshot::Channel<uint64_t>(); });
  } else if (bench.Is("memory_bounded100")) {
    MeasureObjects(bench, [] { return mpsc::Channel<uint64_t>(100); });
  } else if (bench.Is("memory_unbounded")) {
    MeasureObjects(bench, [] { return mpsc::UnboundedChannel<uint64_t>(); });
  } else {
    return false;
  }
  return true;
}

}  // namespace rouse::bench

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Workloads of pairs of tasks that wait for each other, in both directions.

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "rouse/benchmarks/harness.h"
#include "rouse/future/co.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/oneshot.h"

namespace rouse::bench {
namespace {

constexpr size_t kPairs = 1'000;

Co<> Pong(oneshot::Receiver<void> ping, oneshot::Sender<void> pong) {
  (void)co_await ping;
  pong.Send();
}

// Spawns a partner task, and exchanges two signals with the partner.
Co<> Ping() {
  auto [ping, pinged] = oneshot::Channel<void>();
  auto [pong, ponged] = oneshot::Channel<void>();
  Spawn(Pong(std::move(pinged), std::move(pong)));
  ping.Send();
  (void)co_await ponged;
}

// Counts a task. The last of `remaining` tasks notifies `done`.
Co<> PingAndCount(std::atomic<size_t>& remaining, absl::Notification& done) {
  co_await Ping();
  // Release: each task uses `remaining` for the last time before the thread
  // that waits for `done` destroys it. Acquire: the last task notifies for all
  // tasks.
  if (remaining.fetch_sub(1, std::memory_order_acq_rel) == 1) done.Notify();
}

Co<> SpawnPairs(std::atomic<size_t>& remaining, absl::Notification& done) {
  for (size_t i = 0; i < kPairs; ++i) Spawn(PingAndCount(remaining, done));
  co_return;
}

Co<> SpawnAndJoinPairs() {
  std::vector<JoinHandle<void>> handles;
  handles.reserve(kPairs);
  for (size_t i = 0; i < kPairs; ++i) handles.push_back(Spawn(Ping()));
  for (JoinHandle<void>& handle : handles) (void)co_await handle;
}

// Spawns 1,000 pairs from a task. An operation is a pair.
void PingPong(const Bench& bench) {
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kPairs, [&runtime] {
    std::atomic<size_t> remaining{kPairs};
    absl::Notification done;
    runtime.Spawn(SpawnPairs(remaining, done));
    done.WaitForNotification();
  });
}

// Like `PingPong()`, but joins the pairs.
void CurrentThreadPingPong(const Bench& bench) {
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kPairs, [&runtime] { runtime.BlockOn(SpawnAndJoinPairs()); });
}

}  // namespace

bool RunPingPongWorkload(const Bench& bench) {
  if (bench.Is("ping_pong")) {
    PingPong(bench);
  } else if (bench.Is("ct_ping_pong")) {
    CurrentThreadPingPong(bench);
  } else {
    return false;
  }
  return true;
}

}  // namespace rouse::bench

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Pairs of tasks that wait for each other, in each direction.

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

// Spawns a partner and exchanges two signals with it.
Co<> Ping() {
  auto [ping, pinged] = oneshot::Channel<void>();
  auto [pong, ponged] = oneshot::Channel<void>();
  Spawn(Pong(std::move(pinged), std::move(pong)));
  ping.Send();
  (void)co_await ponged;
}

// The last of `remaining` tasks tells `done`.
Co<> PingAndCount(std::atomic<size_t>& remaining, absl::Notification& done) {
  co_await Ping();
  // Release: all have let go of it before whoever waits for `done` destroys it.
  // Acquire: the last one's notification speaks for the others.
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

// 1,000 pairs, spawned from a task; an operation is a pair.
void PingPong(const Bench& bench) {
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kPairs, [&runtime] {
    std::atomic<size_t> remaining{kPairs};
    absl::Notification done;
    runtime.Spawn(SpawnPairs(remaining, done));
    done.WaitForNotification();
  });
}

// The same pairs, joined.
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

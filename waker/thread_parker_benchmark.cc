// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <thread>

#include "absl/time/time.h"
#include "benchmark/benchmark.h"
#include "rouse/waker/thread_parker.h"

namespace rouse {
namespace {

void BM_UnparkAndParkWithoutBlocking(benchmark::State& state) {
  ThreadParker parker;
  const ThreadParker::Unparker unparker = parker.unparker();
  for (auto _ : state) {
    unparker.Unpark();
    parker.Park();
  }
}
BENCHMARK(BM_UnparkAndParkWithoutBlocking);

void BM_UnparkTheUnparked(benchmark::State& state) {
  ThreadParker parker;
  const ThreadParker::Unparker unparker = parker.unparker();
  for (auto _ : state) unparker.Unpark();
}
BENCHMARK(BM_UnparkTheUnparked);

void BM_ParkForNoTime(benchmark::State& state) {
  ThreadParker parker;
  for (auto _ : state) parker.ParkFor(absl::ZeroDuration());
}
BENCHMARK(BM_ParkForNoTime);

// Measures a round trip between two threads that both block.
void BM_PingPong(benchmark::State& state) {
  ThreadParker ping, pong;
  std::atomic<bool> stop = false;
  std::thread other([&, ping = ping.unparker()] {
    while (true) {
      pong.Park();
      if (stop.load(std::memory_order_relaxed)) return;
      ping.Unpark();
    }
  });
  const ThreadParker::Unparker unparker = pong.unparker();
  for (auto _ : state) {
    unparker.Unpark();
    ping.Park();
  }
  stop.store(true, std::memory_order_relaxed);
  unparker.Unpark();
  other.join();
}
BENCHMARK(BM_PingPong)->UseRealTime();

}  // namespace
}  // namespace rouse

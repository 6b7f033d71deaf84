// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "benchmark/benchmark.h"
#include "rouse/sync/oneshot/oneshot.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

// Makes a channel, sends, receives the value, and drops both ends.
void BM_OneshotReady(benchmark::State& state) {
  const Waker waker;
  for (auto _ : state) {
    auto [tx, rx] = oneshot::Channel<int>();
    tx.Send(1);
    Context cx(waker);
    benchmark::DoNotOptimize(rx.Poll(cx));
  }
}
BENCHMARK(BM_OneshotReady);

// Makes a channel, waits, sends, receives the value, and drops both ends.
void BM_OneshotWoken(benchmark::State& state) {
  const Waker waker = Waker::FromCallable([] {});
  for (auto _ : state) {
    auto [tx, rx] = oneshot::Channel<int>();
    Context cx(waker);
    benchmark::DoNotOptimize(rx.Poll(cx));
    tx.Send(1);
    benchmark::DoNotOptimize(rx.Poll(cx));
  }
}
BENCHMARK(BM_OneshotWoken);

void BM_OneshotUnused(benchmark::State& state) {
  for (auto _ : state) {
    auto [tx, rx] = oneshot::Channel<int>();
    benchmark::DoNotOptimize(tx);
    benchmark::DoNotOptimize(rx);
  }
}
BENCHMARK(BM_OneshotUnused);

}  // namespace
}  // namespace rouse

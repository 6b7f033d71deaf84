// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "rouse/sync/watch/watch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

// Each thread has its own receiver.
void BM_WatchBorrow(benchmark::State& state) {
  static const auto& channel =
      *new std::pair<watch::Sender<int>, watch::Receiver<int>>(
          watch::Channel<int>(1));
  const watch::Receiver<int> rx = channel.second;
  for (auto _ : state) {
    int value = *rx.Borrow();
    benchmark::DoNotOptimize(value);
  }
}
BENCHMARK(BM_WatchBorrow)->Threads(1)->Threads(2)->UseRealTime();

void BM_WatchSend(benchmark::State& state) {
  auto [tx, rx] = watch::Channel<int>(1);
  for (auto _ : state) tx.Send(2);
}
BENCHMARK(BM_WatchSend);

// A change that has already happened when `Changed()` is polled.
void BM_WatchChangedReady(benchmark::State& state) {
  auto [tx, rx] = watch::Channel<int>(1);
  const Waker waker;
  for (auto _ : state) {
    rx.MarkChanged();
    Context cx(waker);
    benchmark::DoNotOptimize(rx.Changed().Poll(cx));
  }
}
BENCHMARK(BM_WatchChangedReady);

// A send that wakes `range` receivers.
void BM_WatchWake(benchmark::State& state) {
  auto [tx, rx] = watch::Channel<int>(1);
  std::vector<watch::Receiver<int>> receivers(state.range(0), rx);
  const Waker waker = Waker::FromCallable([] {});
  for (auto _ : state) {
    std::vector<watch::Receiver<int>::ChangedFuture> futures;
    futures.reserve(receivers.size());
    for (auto& receiver : receivers) {
      futures.push_back(receiver.Changed());
      Context cx(waker);
      benchmark::DoNotOptimize(futures.back().Poll(cx));
    }
    tx.Send(2);
    for (auto& future : futures) {
      Context cx(waker);
      benchmark::DoNotOptimize(future.Poll(cx));
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_WatchWake)->Arg(1)->Arg(100);

}  // namespace
}  // namespace rouse

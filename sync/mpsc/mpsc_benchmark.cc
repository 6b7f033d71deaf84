// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <optional>
#include <utility>

#include "benchmark/benchmark.h"
#include "rouse/future/co.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/mpsc/mpsc.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::mpsc {
namespace {

constexpr size_t kMessages = 200'000;

// Sends and receives one message, without waiting.
void BM_BoundedReady(benchmark::State& state) {
  auto [tx, rx] = Channel<size_t>(16);
  const Waker waker;
  for (auto _ : state) {
    Context cx(waker);
    benchmark::DoNotOptimize(tx.Send(1).Poll(cx));
    benchmark::DoNotOptimize(rx.PollReceive(cx));
  }
}
BENCHMARK(BM_BoundedReady);

void BM_UnboundedReady(benchmark::State& state) {
  auto [tx, rx] = UnboundedChannel<size_t>();
  const Waker waker;
  for (auto _ : state) {
    Context cx(waker);
    benchmark::DoNotOptimize(tx.Send(1));
    benchmark::DoNotOptimize(rx.PollReceive(cx));
  }
}
BENCHMARK(BM_UnboundedReady);

Co<> SendTo(Sender<size_t> tx, size_t count) {
  for (size_t i = 0; i < count; ++i) (void)co_await tx.Send(i);
}
Co<> SendTo(UnboundedSender<size_t> tx, size_t count) {
  for (size_t i = 0; i < count; ++i) (void)tx.Send(size_t{i});
  co_return;
}

template <class Receiver>
Co<> Drain(Receiver rx) {
  size_t sum = 0;
  while (std::optional<size_t> value = co_await rx.Receive()) sum += *value;
  benchmark::DoNotOptimize(sum);
}

template <class Tx, class Rx>
Co<> Run(std::pair<Tx, Rx> channel, int senders) {
  JoinHandle<void> receiver = Spawn(Drain(std::move(channel.second)));
  for (int i = 0; i < senders; ++i) {
    Spawn(SendTo(channel.first, kMessages / senders)).Detach();
  }
  {
    const Tx last = std::move(channel.first);
  }
  (void)co_await receiver;
}

Runtime MakeRuntime(int workers) {
  if (workers == 0) return *Builder::CurrentThread().Build();
  return *Builder::MultiThread().WorkerThreads(workers).Build();
}

// Tasks of a runtime: number of workers (0: the current thread), senders,
// capacity.
void BM_Bounded(benchmark::State& state) {
  Runtime runtime = MakeRuntime(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    runtime.BlockOn(
        Run(Channel<size_t>(state.range(2)), static_cast<int>(state.range(1))));
  }
  state.SetItemsProcessed(state.iterations() * kMessages);
}
BENCHMARK(BM_Bounded)
    ->Args({0, 1, 1000})
    ->Args({1, 1, 1000})
    ->Args({2, 1, 1000})
    ->Args({0, 1, 100})
    ->Args({2, 1, 100})
    ->Args({2, 5, 1000})
    ->UseRealTime();

void BM_Unbounded(benchmark::State& state) {
  Runtime runtime = MakeRuntime(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    runtime.BlockOn(
        Run(UnboundedChannel<size_t>(), static_cast<int>(state.range(1))));
  }
  state.SetItemsProcessed(state.iterations() * kMessages);
}
BENCHMARK(BM_Unbounded)
    ->Args({0, 1})
    ->Args({2, 1})
    ->Args({2, 5})
    ->UseRealTime();

}  // namespace
}  // namespace rouse::mpsc

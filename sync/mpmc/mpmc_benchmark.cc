// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "rouse/future/co.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/mpmc/mpmc.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::mpmc {
namespace {

constexpr size_t kMessages = 200'000;

// Sends and receives one message, without waiting.
void BM_BoundedReady(benchmark::State& state) {
  auto [tx, rx] = Channel<size_t>(16);
  const Waker waker;
  for (auto _ : state) {
    Context cx(waker);
    benchmark::DoNotOptimize(tx.Send(1).Poll(cx));
    benchmark::DoNotOptimize(rx.Receive().Poll(cx));
  }
}
BENCHMARK(BM_BoundedReady);

void BM_UnboundedReady(benchmark::State& state) {
  auto [tx, rx] = UnboundedChannel<size_t>();
  const Waker waker;
  for (auto _ : state) {
    Context cx(waker);
    benchmark::DoNotOptimize(tx.Send(1));
    benchmark::DoNotOptimize(rx.Receive().Poll(cx));
  }
}
BENCHMARK(BM_UnboundedReady);

// Sends messages, and receives them at once. Times are for a message.
void BM_ReceiveMany(benchmark::State& state) {
  auto [tx, rx] = UnboundedChannel<size_t>();
  const auto count = static_cast<size_t>(state.range(0));
  const Waker waker;
  std::vector<size_t> out;
  for (auto _ : state) {
    Context cx(waker);
    for (size_t i = 0; i < count; ++i) (void)tx.Send(size_t{i});
    out.clear();
    benchmark::DoNotOptimize(rx.ReceiveMany(out, count).Poll(cx));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_ReceiveMany)->Arg(1)->Arg(100);

// Makes and destroys an empty channel.
void BM_Channel(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Channel<size_t>(16));
}
BENCHMARK(BM_Channel);

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
Co<> Run(std::pair<Tx, Rx> channel, int ends) {
  std::vector<JoinHandle<void>> receivers;
  for (int i = 0; i < ends; ++i) {
    receivers.push_back(Spawn(Drain(channel.second)));
    Spawn(SendTo(channel.first, kMessages / ends)).Detach();
  }
  {
    const auto last = std::move(channel);
  }
  for (JoinHandle<void>& receiver : receivers) (void)co_await receiver;
}

Runtime MakeRuntime(int workers) {
  if (workers == 0) return *Builder::CurrentThread().Build();
  return *Builder::MultiThread().WorkerThreads(workers).Build();
}

// Tasks of a runtime: number of workers (0: the current thread), number of
// senders and of receivers, capacity.
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
    ->Args({2, 1, 1000})
    ->Args({0, 4, 1000})
    ->Args({2, 4, 1000})
    ->Args({2, 4, 10})
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
    ->Args({0, 4})
    ->Args({2, 4})
    ->UseRealTime();

}  // namespace
}  // namespace rouse::mpmc

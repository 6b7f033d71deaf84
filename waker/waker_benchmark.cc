// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <utility>

#include "benchmark/benchmark.h"
#include "rouse/waker/context.h"
#include "rouse/waker/wake_list.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

void BM_CloneAndDrop(benchmark::State& state) {
  const Waker waker = Waker::FromCallable([] {});
  for (auto _ : state) {
    Waker clone = waker.Clone();
    benchmark::DoNotOptimize(clone);
  }
}
BENCHMARK(BM_CloneAndDrop);

void BM_CloneAndWake(benchmark::State& state) {
  const Waker waker = Waker::FromCallable([] {});
  for (auto _ : state) {
    Waker clone = waker.Clone();
    benchmark::DoNotOptimize(clone);
    std::move(clone).Wake();
  }
}
BENCHMARK(BM_CloneAndWake);

void BM_WakeByRef(benchmark::State& state) {
  Waker waker = Waker::FromCallable([] {});
  benchmark::DoNotOptimize(waker);
  for (auto _ : state) waker.WakeByRef();
}
BENCHMARK(BM_WakeByRef);

void BM_CloneAndDropNoop(benchmark::State& state) {
  Waker waker;
  benchmark::DoNotOptimize(waker);
  for (auto _ : state) {
    Waker clone = waker.Clone();
    benchmark::DoNotOptimize(clone);
  }
}
BENCHMARK(BM_CloneAndDropNoop);

// Measures the cost that every poll of a task pays.
void BM_Context(benchmark::State& state) {
  const Waker waker;
  for (auto _ : state) {
    Context cx(waker);
    benchmark::DoNotOptimize(cx);
  }
}
BENCHMARK(BM_Context);

// Measures the cost of a list for `range` wakers that do nothing.
void BM_WakeList(benchmark::State& state) {
  const int64_t count = state.range(0);
  for (auto _ : state) {
    WakeList list;
    for (int64_t i = 0; i < count; ++i) list.Push(Waker());
    list.WakeAll();
  }
}
BENCHMARK(BM_WakeList)->Arg(1)->Arg(32);

}  // namespace
}  // namespace rouse

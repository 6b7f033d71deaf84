// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures the wheel alone, without a lock, a clock or a waker.

#include <cstdint>
#include <vector>

#include "benchmark/benchmark.h"
#include "rouse/base/fast_rand.h"
#include "rouse/timer/wheel/entry.h"
#include "rouse/timer/wheel/wheel.h"

namespace rouse::wheel {
namespace {

void BM_InsertAndRemove(benchmark::State& state) {
  Wheel wheel;
  Entry entry;
  FastRand rand(1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(wheel.Insert(entry, 1 + rand.Below(1000)));
    wheel.Remove(entry);
  }
}
BENCHMARK(BM_InsertAndRemove);

void BM_NextExpiration(benchmark::State& state) {
  Wheel wheel;
  Entry entry;
  benchmark::DoNotOptimize(wheel.Insert(entry, uint64_t{1} << state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(wheel.NextExpiration());
  wheel.Remove(entry);
}
BENCHMARK(BM_NextExpiration)->Arg(1)->Arg(35);

// Inserts entries, moves them through the levels and takes them out. The time
// is for one entry.
void BM_InsertAndAdvance(benchmark::State& state) {
  std::vector<Entry> entries(state.range(0));
  Wheel wheel;
  FastRand rand(1);
  for (auto _ : state) {
    const uint64_t now = wheel.elapsed();
    for (Entry& entry : entries) {
      benchmark::DoNotOptimize(wheel.Insert(entry, now + 1 + rand.Below(1000)));
    }
    for (;;) {
      Wheel::Step step = wheel.Advance(now + 1000);
      benchmark::DoNotOptimize(step.due);
      if (!step.more) break;
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_InsertAndAdvance)->Arg(1'000)->Arg(1'000'000);

}  // namespace
}  // namespace rouse::wheel

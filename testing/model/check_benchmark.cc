// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstdint>

#include "benchmark/benchmark.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/thread.h"

namespace rouse::model {
namespace {

// Measures executions per second, with two threads and four operations. It does
// not use the reduction, so that there are enough executions to count.
void BM_StoreBuffering(benchmark::State& state) {
  const Options options{.mode = static_cast<Mode>(state.range(0))};
  uint64_t executions = 0;
  for (auto _ : state) {
    executions += Check(options, [] {
                    Atomic<int> x(0);
                    Atomic<int> y(0);
                    Thread other([&] {
                      y.store(1, std::memory_order_relaxed);
                      x.load(std::memory_order_relaxed);
                    });
                    x.store(1, std::memory_order_relaxed);
                    y.load(std::memory_order_relaxed);
                  }).executions;
  }
  state.SetItemsProcessed(static_cast<int64_t>(executions));
}
BENCHMARK(BM_StoreBuffering)
    ->ArgName("mode")
    ->Arg(static_cast<int>(Mode::kExhaustive))
    ->Arg(static_cast<int>(Mode::kNaive))
    ->Arg(static_cast<int>(Mode::kBounded));

}  // namespace
}  // namespace rouse::model

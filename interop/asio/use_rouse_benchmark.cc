// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// What `use_rouse` costs per operation of Asio, beside a callback.

#include "asio/io_context.hpp"
#include "asio/post.hpp"
#include "benchmark/benchmark.h"
#include "rouse/interop/asio/use_rouse.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::interop {
namespace {

void BM_AsioCallback(benchmark::State& state) {
  asio::io_context context(1);
  int calls = 0;
  for (auto _ : state) {
    asio::post(context, [&calls] { ++calls; });
    context.restart();
    context.run();
  }
  benchmark::DoNotOptimize(calls);
}
BENCHMARK(BM_AsioCallback);

void BM_UseRouse(benchmark::State& state) {
  asio::io_context context(1);
  const Waker waker = Waker::FromCallable([] {});
  for (auto _ : state) {
    Context cx(waker);
    auto post = asio::post(context, use_rouse);
    benchmark::DoNotOptimize(post.Poll(cx).IsPending());
    context.restart();
    context.run();
    benchmark::DoNotOptimize(post.Poll(cx).IsPending());
  }
}
BENCHMARK(BM_UseRouse);

}  // namespace
}  // namespace rouse::interop

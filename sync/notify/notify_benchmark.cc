// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmark/benchmark.h"
#include "rouse/sync/notify/notify.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

// A permit is left and taken. The figure includes a context for each, as if
// each were a poll of its own task.
void BM_Permit(benchmark::State& state) {
  Notify notify;
  const Waker waker;
  for (auto _ : state) {
    Context cx(waker);
    notify.NotifyOne();
    benchmark::DoNotOptimize(notify.Notified().Poll(cx).IsReady());
  }
}
BENCHMARK(BM_Permit);

// A future waits, is notified and is ready.
void BM_NotifyOne(benchmark::State& state) {
  Notify notify;
  const Waker waker;
  for (auto _ : state) {
    Context cx(waker);
    auto notified = notify.Notified();
    benchmark::DoNotOptimize(notified.Poll(cx).IsReady());
    notify.NotifyOne();
    benchmark::DoNotOptimize(notified.Poll(cx).IsReady());
  }
}
BENCHMARK(BM_NotifyOne);

// A future waits and gives up, as the losing arm of a `Select` does.
void BM_WaitAndLeave(benchmark::State& state) {
  Notify notify;
  const Waker waker;
  for (auto _ : state) {
    Context cx(waker);
    benchmark::DoNotOptimize(notify.Notified().Poll(cx).IsReady());
  }
}
BENCHMARK(BM_WaitAndLeave);

void BM_NotifyNobody(benchmark::State& state) {
  Notify notify;
  for (auto _ : state) notify.NotifyWaiters();
}
BENCHMARK(BM_NotifyNobody);

}  // namespace
}  // namespace rouse

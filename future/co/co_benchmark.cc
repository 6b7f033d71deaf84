// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmark/benchmark.h"
#include "rouse/future/co/co.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

Co<int> ReadyChild(int x) { co_return x; }

Co<> AwaitReadyChildren(benchmark::State& state) {
  int sum = 0;
  for (auto _ : state) {
    sum += co_await ReadyChild(1);
    benchmark::DoNotOptimize(sum);
  }
}

// One operation: a child is called, runs to completion and returns its value.
void BM_AwaitReadyChild(benchmark::State& state) {
  Co<> co = AwaitReadyChildren(state);
  const Waker waker;
  Context cx(waker);
  benchmark::DoNotOptimize(co.Poll(cx).IsReady());
}
BENCHMARK(BM_AwaitReadyChild);

// Becomes ready once after each call that sets it.
class Flag {
 public:
  void Set() { set_ = true; }
  PollResult<void> Poll(Context&) {
    if (!set_) return kPending;
    set_ = false;
    return {};
  }

 private:
  bool set_ = false;
};

Co<> AwaitForever(Flag& flag) {
  for (;;) co_await flag;
}

Co<> AwaitAtDepth(Flag& flag, int depth) {
  if (depth == 1) {
    co_await AwaitForever(flag);
  } else {
    co_await AwaitAtDepth(flag, depth - 1);
  }
}

// One operation: the leaf becomes ready and the root is polled. The frame that
// awaits the leaf is resumed, and awaits the leaf again, which is pending.
void BM_WakeAndSuspend(benchmark::State& state) {
  Flag flag;
  Co<> co = AwaitAtDepth(flag, static_cast<int>(state.range(0)) - 1);
  const Waker waker;
  Context cx(waker);
  for (auto _ : state) {
    flag.Set();
    benchmark::DoNotOptimize(co.Poll(cx).IsReady());
  }
}
BENCHMARK(BM_WakeAndSuspend)->Arg(2)->Arg(16)->Arg(64);

}  // namespace
}  // namespace rouse

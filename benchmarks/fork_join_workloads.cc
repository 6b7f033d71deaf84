// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Workloads of trees of spawned tasks, which measure the cost of a small task,
// and of the same trees with forks.

#include <cstdint>
#include <ranges>
#include <vector>

#include "absl/log/check.h"
#include "absl/status/statusor.h"
#include "rouse/benchmarks/harness.h"
#include "rouse/future/co.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/fork.h"
#include "rouse/scheduler/fork_all.h"
#include "rouse/scheduler/task/join_handle.h"

namespace rouse::bench {
namespace {

// Sums [first, first + leaves) over a tree of tasks with ten children each.
Co<uint64_t> Skynet(uint64_t first, uint64_t leaves) {
  if (leaves == 1) co_return first;
  const uint64_t share = leaves / 10;
  std::vector<JoinHandle<uint64_t>> children;
  children.reserve(10);
  for (uint64_t i = 0; i < 10; ++i) {
    children.push_back(Spawn(Skynet(first + share * i, share)));
  }
  uint64_t sum = 0;
  for (JoinHandle<uint64_t>& child : children) {
    absl::StatusOr<uint64_t> part = co_await child;
    sum += *part;
  }
  co_return sum;
}

// Computes naively: spawns one branch, and awaits the other branch in place.
Co<uint64_t> Fibonacci(uint64_t n) {
  if (n < 2) co_return n;
  JoinHandle<uint64_t> forked = Spawn(Fibonacci(n - 1));
  const uint64_t in_place = co_await Fibonacci(n - 2);
  absl::StatusOr<uint64_t> other = co_await forked;
  co_return *other + in_place;
}

Co<> CheckSkynet() {
  const uint64_t sum = co_await Skynet(0, 1'000'000);
  CHECK_EQ(sum, 499'999'500'000u);
}

// Computes like `Skynet()`, with the children of a fork in place of tasks.
Co<uint64_t> ForkedSkynet(uint64_t first, uint64_t leaves) {
  if (leaves == 1) co_return first;
  const uint64_t share = leaves / 10;
  auto child = [first, share](uint64_t i) {
    return ForkedSkynet(first + share * i, share);
  };
  auto children = std::views::iota(0u, 10u) | std::views::transform(child);
  const std::vector<uint64_t> parts = co_await ForkAll(children);
  uint64_t sum = 0;
  for (uint64_t part : parts) sum += part;
  co_return sum;
}

Co<> CheckForkedSkynet() {
  const uint64_t sum = co_await ForkedSkynet(0, 1'000'000);
  CHECK_EQ(sum, 499'999'500'000u);
}

// Computes like `Fibonacci()`, with both branches as children of a fork.
Co<uint64_t> ForkedFibonacci(uint64_t n) {
  if (n < 2) co_return n;
  const auto [a, b] =
      co_await Fork(ForkedFibonacci(n - 1), ForkedFibonacci(n - 2));
  co_return a + b;
}

Co<> CheckForkedFibonacci() {
  const uint64_t number = co_await ForkedFibonacci(30);
  CHECK_EQ(number, 832'040u);
}

Co<> CheckFibonacci() {
  const uint64_t number = co_await Fibonacci(30);
  CHECK_EQ(number, 832'040u);
}

}  // namespace

bool RunForkJoinWorkload(const Bench& bench) {
  if (bench.Is("skynet") || bench.Is("skynet_ct")) {
    Runtime runtime = bench.MakeRuntime();
    bench.Measure(1'111'111, [&] { bench.RunRoot(runtime, CheckSkynet()); });
  } else if (bench.Is("fib30") || bench.Is("fib30_ct")) {
    Runtime runtime = bench.MakeRuntime();
    bench.Measure(1'346'268, [&] { bench.RunRoot(runtime, CheckFibonacci()); });
  } else if (bench.Is("skynet_fork") || bench.Is("skynet_fork_ct")) {
    Runtime runtime = bench.MakeRuntime();
    bench.Measure(1'111'111,
                  [&] { bench.RunRoot(runtime, CheckForkedSkynet()); });
  } else if (bench.Is("fib30_fork") || bench.Is("fib30_fork_ct")) {
    Runtime runtime = bench.MakeRuntime();
    bench.Measure(1'346'268,
                  [&] { bench.RunRoot(runtime, CheckForkedFibonacci()); });
  } else {
    return false;
  }
  return true;
}

}  // namespace rouse::bench

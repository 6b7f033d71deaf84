// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The cost of a call on another thread.

#include <thread>
#include <utility>
#include <vector>

#include "absl/log/check.h"
#include "absl/synchronization/barrier.h"
#include "benchmark/benchmark.h"
#include "rouse/future/block_on.h"
#include "rouse/scheduler/blocking/blocking_pool.h"
#include "rouse/scheduler/task/join_handle.h"

namespace rouse::scheduler {
namespace {

// One call at a time, for which a sleeping thread is woken: the system wakes
// both threads, once each for the round trip.
void BM_SpawnAndJoin(benchmark::State& state) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  for (auto _ : state) {
    CHECK_OK(BlockOn(pool->Spawn([] {})));
  }
}
BENCHMARK(BM_SpawnAndJoin)->UseRealTime();

// Many calls at once, for one thread: the cost of a call when no thread sleeps.
void BM_SpawnManyAndJoin(benchmark::State& state) {
  BlockingOptions options;
  options.max_threads = 1;
  const BlockingPool::Owner pool = BlockingPool::Create(std::move(options));
  std::vector<JoinHandle<void>> handles;
  for (auto _ : state) {
    for (int i = 0; i < state.range(0); ++i) {
      handles.push_back(pool->Spawn([] {}));
    }
    for (JoinHandle<void>& handle : handles) {
      CHECK_OK(BlockOn(std::move(handle)));
    }
    handles.clear();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_SpawnManyAndJoin)->Arg(1000)->UseRealTime();

// Many calls at once, for threads that sleep.
template <bool kIsShort>
void BM_SpawnTogether(benchmark::State& state) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  std::vector<JoinHandle<void>> handles;
  for (auto _ : state) {
    for (int i = 0; i < state.range(0); ++i) {
      handles.push_back(kIsShort ? pool->SpawnShort([] {})
                                 : pool->Spawn([] {}));
    }
    for (JoinHandle<void>& handle : handles) {
      CHECK_OK(BlockOn(std::move(handle)));
    }
    handles.clear();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_SpawnTogether<false>)->Arg(1)->Arg(8)->Arg(64)->UseRealTime();
BENCHMARK(BM_SpawnTogether<true>)->Arg(1)->Arg(8)->Arg(64)->UseRealTime();

// The worst case of short calls: each hangs until all have begun.
template <bool kIsShort>
void BM_CallsThatHang(benchmark::State& state) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  for (auto _ : state) {
    std::vector<JoinHandle<void>> handles;
    absl::Barrier* const all = new absl::Barrier(state.range(0));
    auto call = [all] {
      if (all->Block()) delete all;
    };
    for (int i = 0; i < state.range(0); ++i) {
      handles.push_back(kIsShort ? pool->SpawnShort(call) : pool->Spawn(call));
    }
    for (JoinHandle<void>& handle : handles) {
      CHECK_OK(BlockOn(std::move(handle)));
    }
  }
}
BENCHMARK(BM_CallsThatHang<false>)->Arg(8)->Arg(64)->UseRealTime();
BENCHMARK(BM_CallsThatHang<true>)->Arg(8)->Arg(64)->UseRealTime();

// For comparison: a new thread for each call.
void BM_ThreadAndJoin(benchmark::State& state) {
  for (auto _ : state) std::thread([] {}).join();
}
BENCHMARK(BM_ThreadAndJoin)->UseRealTime();

}  // namespace
}  // namespace rouse::scheduler

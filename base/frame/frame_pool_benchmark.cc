// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "benchmark/benchmark.h"
#include "rouse/base/frame/frame_pool.h"

namespace rouse {
namespace {

void BM_FramePool(benchmark::State& state) {
  const size_t size = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    void* block = FramePool::Allocate(size);
    benchmark::DoNotOptimize(block);
    FramePool::Free(block, size);
  }
}
BENCHMARK(BM_FramePool)->Arg(64)->Arg(128)->Arg(512);

void BM_Malloc(benchmark::State& state) {
  const size_t size = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    void* block = malloc(size);
    benchmark::DoNotOptimize(block);
    free(block);
  }
}
BENCHMARK(BM_Malloc)->Arg(64)->Arg(128)->Arg(512);

// Measures a thousand blocks that are allocated, and then freed in the order of
// their allocation.
template <void* (*kAllocate)(size_t), void (*kFree)(void*, size_t)>
void BM_Live1000(benchmark::State& state) {
  std::vector<void*> blocks(1000);
  for (auto _ : state) {
    for (void*& block : blocks) block = kAllocate(128);
    for (void* block : blocks) kFree(block, 128);
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
void MallocFree(void* block, size_t) { free(block); }
void PoolFree(void* block, size_t size) { FramePool::Free(block, size); }
BENCHMARK(BM_Live1000<&FramePool::Allocate, &PoolFree>)
    ->Name("BM_FramePoolLive1000");
BENCHMARK(BM_Live1000<&malloc, &MallocFree>)->Name("BM_MallocLive1000");

// Measures only the allocation of a thousand blocks that another thread freed.
template <void* (*kAllocate)(size_t), void (*kFree)(void*, size_t)>
void BM_FreedElsewhere1000(benchmark::State& state) {
  std::vector<void*> blocks(1000);
  for (auto _ : state) {
    for (void*& block : blocks) block = kAllocate(128);
    state.PauseTiming();
    std::thread([&blocks] {
      for (void* block : blocks) kFree(block, 128);
    }).join();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(BM_FreedElsewhere1000<&FramePool::Allocate, &PoolFree>)
    ->Name("BM_FramePoolFreedElsewhere1000");
BENCHMARK(BM_FreedElsewhere1000<&malloc, &MallocFree>)
    ->Name("BM_MallocFreedElsewhere1000");

// Measures the work of a sweep in one piece: sorts free memory, and unmaps it.
void BM_FramePoolTrim(benchmark::State& state) {
  const size_t bytes = static_cast<size_t>(state.range(0)) << 20;
  const size_t size = static_cast<size_t>(state.range(1));
  std::vector<void*> blocks(bytes / size);
  for (auto _ : state) {
    state.PauseTiming();
    for (void*& block : blocks) block = FramePool::Allocate(size);
    for (void* block : blocks) FramePool::Free(block, size);
    state.ResumeTiming();
    FramePool::Trim();
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<int64_t>(blocks.size()));
}
BENCHMARK(BM_FramePoolTrim)
    ->ArgNames({"MiB", "size"})
    ->Args({200, 256})
    ->Args({200, 512})
    ->Args({200, 2048});

}  // namespace
}  // namespace rouse

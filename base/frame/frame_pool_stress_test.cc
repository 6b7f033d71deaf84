// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/base/frame/frame_pool.h"

namespace rouse {
namespace {

// Threads hand blocks to one another through a few shared slots, and are
// replaced by new threads all the time: heaps retire while their blocks are in
// use elsewhere. Every block carries a pattern that a double owner would break.
TEST(FramePoolStress, BlocksWanderBetweenThreadsThatComeAndGo) {
  constexpr size_t kSlots = 64;
  constexpr int kThreads = 4;
  constexpr int kGenerations = 40;
  constexpr int kSteps = 2000;
  const size_t before = FramePool::SlabsInUse();

  struct Block {
    size_t size;
    size_t check;
  };
  std::vector<std::atomic<Block*>> slots(kSlots);
  std::atomic<int> broken{0};
  const auto free_block = [&broken](Block* block) {
    if (block == nullptr) return;
    if (block->check != ~block->size) broken.fetch_add(1);
    block->check = 0;
    FramePool::Free(block, block->size);
  };

  const auto work = [&](uint64_t seed) {
    FastRand rand(seed);
    for (int i = 0; i < kSteps; ++i) {
      const size_t size = sizeof(Block) + rand.Below(600);
      Block* block = static_cast<Block*>(FramePool::Allocate(size));
      block->size = size;
      block->check = ~size;
      // Acquire and release: the block's contents travel with the pointer.
      free_block(
          slots[rand.Below(kSlots)].exchange(block, std::memory_order_acq_rel));
    }
  };
  for (int generation = 0; generation < kGenerations; ++generation) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back(work, generation * kThreads + i);
    }
    for (std::thread& thread : threads) thread.join();
  }
  for (auto& slot : slots) free_block(slot.load());
  FramePool::FlushRemoteFrees();

  EXPECT_EQ(broken.load(), 0);
  EXPECT_EQ(FramePool::SlabsInUse(), before);
}

}  // namespace
}  // namespace rouse

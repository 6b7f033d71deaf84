// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/frame/frame_pool.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/testing/internal/frame_blocks.h"

namespace rouse {
namespace {

TEST(FramePool, BlocksAreAlignedAndDistinct) {
  std::vector<std::pair<char*, size_t>> blocks;
  for (size_t size = 1; size <= FramePool::kMaxPooledSize + 64; size += 7) {
    char* block = static_cast<char*>(FramePool::Allocate(size));
    const size_t alignment = size >= 64 && size <= FramePool::kMaxPooledSize
                                 ? 64
                                 : FramePool::kAlignment;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % alignment, 0u) << size;
    memset(block, static_cast<int>(size % 251), size);
    blocks.emplace_back(block, size);
  }
  for (auto [block, size] : blocks) {
    const char fill = static_cast<char>(size % 251);
    EXPECT_EQ(block[0], fill) << size;
    EXPECT_EQ(block[size / 2], fill) << size;
    EXPECT_EQ(block[size - 1], fill) << size;
    FramePool::Free(block, size);
  }
}

TEST(FramePool, ReusesTheBlockFreedLast) {
  void* first = FramePool::Allocate(100);
  void* second = FramePool::Allocate(100);
  FramePool::Free(first, 100);
  FramePool::Free(second, 100);
  EXPECT_EQ(FramePool::Allocate(100), second);
  EXPECT_EQ(FramePool::Allocate(97), first);  // of the same class
  FramePool::Free(first, 97);
  FramePool::Free(second, 100);
}

TEST(FramePool, SlabsOfAThreadAreFreedWhenTheThreadEnds) {
  const size_t before = FramePool::SlabsInUse();
  OnThread([before] {
    std::vector<void*> blocks;
    for (int i = 0; i < 1000; ++i) blocks.push_back(FramePool::Allocate(512));
    EXPECT_GT(FramePool::SlabsInUse(), before);
    for (void* block : blocks) FramePool::Free(block, 512);
  });
  EXPECT_EQ(FramePool::SlabsInUse(), before);
}

TEST(FramePool, BlocksOutliveTheThreadThatMadeThem) {
  FramePool::Free(FramePool::Allocate(64), 64);  // makes this thread's heap
  const size_t before = FramePool::SlabsInUse();
  std::vector<char*> blocks;
  OnThread([&blocks] {
    for (int i = 0; i < 100; ++i) {
      blocks.push_back(static_cast<char*>(FramePool::Allocate(64)));
    }
    FramePool::Free(blocks.back(), 64);
    blocks.pop_back();
  });
  EXPECT_GT(FramePool::SlabsInUse(), before);
  for (char* block : blocks) memset(block, 1, 64);
  for (char* block : blocks) FramePool::Free(block, 64);
  FramePool::FlushRemoteFrees();
  EXPECT_EQ(FramePool::SlabsInUse(), before);
}

TEST(FramePool, RemoteFreesReturnInBatches) {
  constexpr size_t kSize = 2048;
  const auto allocate_batch = [] {
    std::set<void*> blocks;
    while (blocks.size() < FramePool::kRemoteBatch) {
      blocks.insert(FramePool::Allocate(kSize));
    }
    return blocks;
  };
  OnThread([&] {  // its heap has no other free blocks
    const std::set<void*> blocks = allocate_batch();
    // The batch is full and has been sent: the thread need not end for that.
    const LastingThread other([&blocks] {
      for (void* block : blocks) FramePool::Free(block, kSize);
    });
    // All of these blocks are given out again before a new block is cut.
    const std::set<void*> again = allocate_batch();
    EXPECT_EQ(again, blocks);
    for (void* block : again) FramePool::Free(block, kSize);
  });
}

TEST(FramePool, EveryClassHasItsOwnBatch) {
  constexpr std::array<size_t, 4> kSizes = {32, 128, 1000, 4000};
  using Blocks = std::array<std::set<void*>, kSizes.size()>;
  const auto allocate_batches = [&] {
    Blocks blocks;
    for (size_t i = 0; i < FramePool::kRemoteBatch; ++i) {
      for (size_t c = 0; c < kSizes.size(); ++c) {
        blocks[c].insert(FramePool::Allocate(kSizes[c]));
      }
    }
    return blocks;
  };
  const auto free_all = [&](Blocks blocks) {
    // Frees one block of each class in turn.
    while (!blocks.back().empty()) {
      for (size_t c = 0; c < kSizes.size(); ++c) {
        FramePool::Free(blocks[c].extract(blocks[c].begin()).value(),
                        kSizes[c]);
      }
    }
  };
  OnThread([&] {  // its heap has no other free blocks
    const Blocks blocks = allocate_batches();
    // All batches are full and have been sent.
    const LastingThread other([&] { free_all(blocks); });
    const Blocks again = allocate_batches();
    EXPECT_EQ(again, blocks);
    free_all(again);
  });
}

TEST(FramePool, AllBatchesOfAllClassesAreUsedBeforeANewSlabIs) {
  constexpr std::array<size_t, 2> kSizes = {2048, 4096};
  constexpr size_t kBlocks = 5 * FramePool::kRemoteBatch + 1;
  using Blocks = std::array<std::set<void*>, kSizes.size()>;
  const auto allocate = [&] {
    Blocks blocks;
    for (size_t c = 0; c < kSizes.size(); ++c) {
      while (blocks[c].size() < kBlocks) {
        blocks[c].insert(FramePool::Allocate(kSizes[c]));
      }
    }
    return blocks;
  };
  const auto free_all = [&](const Blocks& blocks) {
    for (size_t c = 0; c < kSizes.size(); ++c) {
      for (void* block : blocks[c]) FramePool::Free(block, kSizes[c]);
    }
  };
  OnThread([&] {  // its heap has no other free blocks
    const Blocks blocks = allocate();
    OnThread([&] { free_all(blocks); });
    // Searches for one class alone at first, and meets the other's batches.
    const Blocks again = allocate();
    EXPECT_EQ(again, blocks);
    free_all(again);
  });
}

TEST(FramePool, FlushSendsTheBatchesOfAllClasses) {
  constexpr std::array<size_t, 3> kSizes = {40, 400, 4000};
  OnThread([&] {  // its heap has no other free blocks
    std::array<void*, kSizes.size()> blocks;
    for (size_t c = 0; c < kSizes.size(); ++c) {
      blocks[c] = FramePool::Allocate(kSizes[c]);
    }
    const LastingThread other([&] {
      for (size_t c = 0; c < kSizes.size(); ++c) {
        FramePool::Free(blocks[c], kSizes[c]);
      }
      FramePool::FlushRemoteFrees();
    });
    for (size_t c = 0; c < kSizes.size(); ++c) {
      void* again = FramePool::Allocate(kSizes[c]);
      EXPECT_EQ(again, blocks[c]);
      FramePool::Free(again, kSizes[c]);
    }
  });
}

TEST(FramePool, AThreadMayEndWithBatchesThatItHasNotTaken) {
  constexpr size_t kBatches = 4;
  const size_t before = FramePool::SlabsInUse();
  OnThread([] {
    std::vector<void*> blocks;
    for (size_t i = 0; i < kBatches * FramePool::kRemoteBatch; ++i) {
      blocks.push_back(FramePool::Allocate(256));
    }
    void* other_class = FramePool::Allocate(512);
    OnThread([&blocks] {
      for (void* block : blocks) FramePool::Free(block, 256);
    });
    // Takes over all batches, and uses one.
    FramePool::Free(FramePool::Allocate(256), 256);
    // This batch is not even taken over.
    OnThread([other_class] { FramePool::Free(other_class, 512); });
  });
  EXPECT_EQ(FramePool::SlabsInUse(), before);
}

TEST(FramePool, AHeapWithBatchesThatItHasNotTakenOutlivesItsThread) {
  FramePool::Free(FramePool::Allocate(256), 256);  // makes this thread's heap
  const size_t before = FramePool::SlabsInUse();
  void* last = nullptr;
  OnThread([&last] {
    std::vector<void*> blocks;
    for (size_t i = 0; i < 2 * FramePool::kRemoteBatch; ++i) {
      blocks.push_back(FramePool::Allocate(256));
    }
    OnThread([&blocks] {
      for (void* block : blocks) FramePool::Free(block, 256);
    });
    last = FramePool::Allocate(256);
  });
  EXPECT_GT(FramePool::SlabsInUse(), before);
  memset(last, 1, 256);
  FramePool::Free(last, 256);
  FramePool::FlushRemoteFrees();
  EXPECT_EQ(FramePool::SlabsInUse(), before);
}

// There are more homes and classes than places for batches, so batches make
// room for others.
TEST(FramePool, BlocksOfManyHeapsReturnToTheirHeaps) {
  constexpr size_t kHeaps = 40;
  constexpr std::array<size_t, 5> kSizes = {32, 100, 200, 1500, 3000};
  for (size_t size : kSizes) FramePool::Free(FramePool::Allocate(size), size);
  const size_t before = FramePool::SlabsInUse();
  std::vector<std::pair<void*, size_t>> blocks;
  for (size_t i = 0; i < kHeaps; ++i) {
    OnThread([&] {
      for (size_t size : kSizes) {
        blocks.emplace_back(FramePool::Allocate(size), size);
        blocks.emplace_back(FramePool::Allocate(size), size);
      }
    });
  }
  EXPECT_EQ(FramePool::SlabsInUse(), before + kHeaps * kSizes.size());
  for (size_t parity : {0, 1}) {
    for (size_t i = parity; i < blocks.size(); i += 2) {
      FramePool::Free(blocks[i].first, blocks[i].second);
    }
  }
  FramePool::FlushRemoteFrees();
  EXPECT_EQ(FramePool::SlabsInUse(), before);
}

TEST(FramePool, AnUnfinishedBatchReturnsWhenItsThreadEnds) {
  OnThread([] {  // its heap has no other free blocks
    void* block = FramePool::Allocate(3000);
    OnThread([block] { FramePool::Free(block, 3000); });
    void* again = FramePool::Allocate(3000);
    EXPECT_EQ(again, block);
    FramePool::Free(again, 3000);
  });
}

TEST(FramePool, WorksInTheLastDestructorsOfAThread) {
  const size_t before = FramePool::SlabsInUse();
  struct AtExit {
    void* block = nullptr;
    ~AtExit() {
      // The heap of this thread was made later, and has therefore been retired
      // already.
      void* late = FramePool::Allocate(200);
      memset(late, 1, 200);
      FramePool::Free(late, 200);
      FramePool::Free(block, 100);
    }
  };
  OnThread([] {
    thread_local AtExit at_exit;
    at_exit.block = FramePool::Allocate(100);
  });
  EXPECT_EQ(FramePool::SlabsInUse(), before);
}

TEST(FramePool, FreeSlabsServeOtherClasses) {
  constexpr size_t kBytes = size_t{32} << 20;
  const size_t before = FramePool::SlabsInUse();
  OnThread([&] {
    for (size_t size : {320, 512, 768, 1024, 1536, 2048}) {
      FreeAll(AllocateBytes(kBytes, size), size);
      const size_t held =
          (FramePool::SlabsInUse() - before) * FramePool::kSlabSize;
      EXPECT_LE(held, kBytes + kBytes / 8) << size;
    }
  });
  EXPECT_EQ(FramePool::SlabsInUse(), before);
}

// Holds whatever the order in which blocks were freed.
TEST(FramePool, FreeSlabsAreFoundAmongBlocksFreedInAnyOrder) {
  constexpr size_t kBytes = size_t{8} << 20;
  const size_t before = FramePool::SlabsInUse();
  OnThread([&] {
    std::mt19937 random(1);
    for (size_t size : {64, 4096, 100, 2000, 32, 640}) {
      std::vector<void*> blocks = AllocateBytes(kBytes, size);
      std::shuffle(blocks.begin(), blocks.end(), random);
      FreeAll(blocks, size);
      const size_t held =
          (FramePool::SlabsInUse() - before) * FramePool::kSlabSize;
      EXPECT_LE(held, kBytes * 2) << size;
    }
  });
  EXPECT_EQ(FramePool::SlabsInUse(), before);
}

TEST(FramePool, FreeSlabsServeOtherClassesAfterRemoteFrees) {
  constexpr size_t kBytes = size_t{8} << 20;
  const size_t before = FramePool::SlabsInUse();
  OnThread([&] {
    for (size_t size : {320, 512, 768, 1024, 1536, 2048}) {
      const std::vector<void*> blocks = AllocateBytes(kBytes, size);
      OnThread([&] { FreeAll(blocks, size); });
      const size_t held =
          (FramePool::SlabsInUse() - before) * FramePool::kSlabSize;
      EXPECT_LE(held, kBytes + kBytes / 4) << size;
    }
  });
}

TEST(FramePool, ASlabWithABlockInUseStays) {
  OnThread([] {
    std::vector<void*> blocks = AllocateBytes(size_t{1} << 20, 512);
    char* kept = static_cast<char*>(blocks[blocks.size() / 2]);
    memset(kept, 7, 512);
    blocks.erase(blocks.begin() + static_cast<ptrdiff_t>(blocks.size() / 2));
    FreeAll(blocks, 512);
    FramePool::Trim();
    for (void* block : AllocateBytes(size_t{2} << 20, 1024)) {
      memset(block, 1, 1024);
      EXPECT_TRUE(block < kept - 1023 || block > kept + 511);
    }
    EXPECT_EQ(kept[0], 7);
    EXPECT_EQ(kept[511], 7);
    FramePool::Free(kept, 512);
  });
}

TEST(FramePool, TrimReturnsAllFreeMemory) {
  const size_t before = FramePool::SlabsInUse();
  OnThread([&] {
    for (size_t size : {32, 100, 1000, 4000}) {
      FreeAll(AllocateBytes(size_t{1} << 20, size), size);
    }
    EXPECT_GT(FramePool::SlabsInUse(), before);
    FramePool::Trim();
    EXPECT_EQ(FramePool::SlabsInUse(), before);
#ifndef ABSL_HAVE_LEAK_SANITIZER  // with it, the depot unmaps no parts
    EXPECT_EQ(FramePool::BytesHeld(), before * FramePool::kSlabSize);
#endif
    // Allocates and frees as before.
    FreeAll(AllocateBytes(size_t{1} << 20, 100), 100);
  });
}

TEST(FramePool, TrimKeepsAPartlyUsedSlab) {
  OnThread([] {
    const size_t before = FramePool::SlabsInUse();
    std::vector<void*> blocks;
    for (int i = 0; i < 10; ++i) {
      blocks.push_back(FramePool::Allocate(64));
      FramePool::Trim();
    }
    EXPECT_EQ(FramePool::SlabsInUse(), before + 1);
    FreeAll(blocks, 64);
  });
}

// No call is needed. The time is the time that FramePool promises.
TEST(FramePool, FreeMemoryIsReturnedWithinASecond) {
  FramePool::Trim();
  const size_t before = FramePool::BytesHeld();
  const LastingThread idle([] {
    FreeAll(AllocateBytes(size_t{64} << 20, 512), 512);
    FramePool::OnIdle();
  });
  const absl::Time begin = absl::Now();
  while (FramePool::BytesHeld() > before + (size_t{4} << 20)) {
    std::this_thread::yield();
  }
  const absl::Duration took = absl::Now() - begin;
  RecordProperty("milliseconds",
                 static_cast<int>(absl::ToInt64Milliseconds(took)));
  EXPECT_LT(took, absl::Seconds(5));  // some machines are slow
}

#ifdef ABSL_HAVE_ADDRESS_SANITIZER
TEST(FramePoolDeathTest, UseAfterFreeIsReported) {
  volatile char* block = static_cast<char*>(FramePool::Allocate(128));
  FramePool::Free(const_cast<char*>(block), 128);
  EXPECT_DEATH(block[0] = 1, "use-after-poison");
}

TEST(FramePoolDeathTest, UseAfterARemoteFreeIsReported) {
  volatile char* block = static_cast<char*>(FramePool::Allocate(128));
  OnThread([block] {
    FramePool::Free(const_cast<char*>(block), 128);
    EXPECT_DEATH(block[0] = 1, "use-after-poison");
    EXPECT_DEATH(block[64] = 1, "use-after-poison");
  });
}
#endif

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/frame/frame_sweeper.h"

#include <cstddef>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "rouse/base/frame/frame_pool.h"
#include "rouse/testing/internal/frame_blocks.h"

namespace rouse {
namespace {

// This test itself sweeps, because the number of sweeps between two steps of
// the test must not depend on the speed of the machine.
const bool no_thread = [] {
  internal::TheFrameSweeper().DoWithoutThread();
  return true;
}();

void Sweep() {
  internal::TheFrameSweeper().Sweep(internal::FrameSweeper::Kind::kAging);
}

void ExpectGivenBackBySweeps(size_t bytes_before) {
  // The memory is found, aged, given to the depot, and aged there.
  for (int i = 0; i < 4; ++i) Sweep();
  EXPECT_LE(FramePool::BytesHeld(), bytes_before + (size_t{4} << 20));
}

TEST(FrameSweeper, ReturnsTheFreeMemoryOfAnIdleThread) {
  FramePool::Trim();
  const size_t before = FramePool::BytesHeld();
  const LastingThread idle([] {
    for (size_t size : {320, 512, 768}) {
      FreeAll(AllocateBytes(size_t{16} << 20, size), size);
    }
    FramePool::OnIdle();
  });
  ExpectGivenBackBySweeps(before);
}

TEST(FrameSweeper, ReturnsMemoryFreedByOtherThreads) {
  FramePool::Trim();
  const size_t before = FramePool::BytesHeld();
  std::vector<void*> blocks;
  // This thread never calls OnIdle().
  const LastingThread owner(
      [&blocks] { blocks = AllocateBytes(size_t{16} << 20, 320); });
  Sweep();
  OnThread([&blocks] { FreeAll(blocks, 320); });
  ExpectGivenBackBySweeps(before);
}

TEST(FrameSweeper, ReturnsMemoryLeftByAThreadThatEnded) {
  FramePool::Trim();
  const size_t before = FramePool::BytesHeld();
  std::vector<void*> blocks;
  OnThread([&blocks] { blocks = AllocateBytes(size_t{16} << 20, 320); });
  void* const last = blocks.back();
  blocks.pop_back();
  OnThread([&blocks] { FreeAll(blocks, 320); });
  ExpectGivenBackBySweeps(before);
  memset(last, 1, 320);
  FramePool::Free(last, 320);
  FramePool::FlushRemoteFrees();
  FramePool::Trim();
  EXPECT_LE(FramePool::BytesHeld(), before);
}

// The thread wakes, needs a little memory, and rests, again and again.
TEST(FrameSweeper, ReturnsUnneededMemoryOfABusyThread) {
  FramePool::Trim();
  const size_t before = FramePool::BytesHeld();
  OnThread([before] {
    FreeAll(AllocateBytes(size_t{16} << 20, 512), 512);
    FramePool::OnIdle();
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 10; ++j) {
        FreeAll(AllocateBytes(size_t{100} * 512, 512), 512);
        FramePool::OnIdle();
      }
      Sweep();
    }
    EXPECT_LE(FramePool::BytesHeld(), before + (size_t{4} << 20));
  });
}

TEST(FrameSweeper, KeepsMemoryThatIsUsedRepeatedly) {
  OnThread([] {
    FreeAll(AllocateBytes(size_t{16} << 20, 512), 512);
    const size_t slabs = FramePool::SlabsInUse();
    for (int i = 0; i < 10; ++i) {
      FramePool::OnIdle();
      Sweep();
      EXPECT_EQ(FramePool::SlabsInUse(), slabs);
      FreeAll(AllocateBytes(size_t{16} << 20, 512), 512);
    }
  });
}

}  // namespace
}  // namespace rouse

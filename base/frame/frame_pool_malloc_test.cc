// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests FramePool in a build that takes all memory from malloc.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>

#include "absl/base/config.h"
#include "gtest/gtest.h"
#include "rouse/base/frame/frame_pool.h"

#if !defined(ABSL_HAVE_ADDRESS_SANITIZER) && \
    !defined(ABSL_HAVE_THREAD_SANITIZER) &&  \
    !defined(ABSL_HAVE_MEMORY_SANITIZER)
#define ROUSE_TEST_COUNTS_NEW  // otherwise the sanitizer has an operator new
#endif

#ifdef ROUSE_TEST_COUNTS_NEW
// Counts as a heap profiler does.
namespace {
thread_local size_t allocated = 0;
}  // namespace
void* operator new(size_t size) {
  ++allocated;
  return malloc(size);
}
void operator delete(void* block) noexcept { free(block); }
void operator delete(void* block, size_t /*size*/) noexcept { free(block); }
#endif

namespace rouse {
namespace {

static_assert(!FramePool::kIsPooled);

TEST(FramePoolOfMalloc, EachBlockComesFromOperatorNew) {
  for (size_t size = 1; size <= FramePool::kMaxPooledSize + 64; size += 97) {
#ifdef ROUSE_TEST_COUNTS_NEW
    const size_t before = allocated;
    void* block = FramePool::Allocate(size);
    EXPECT_EQ(allocated, before + 1);
#else
    void* block = FramePool::Allocate(size);
#endif
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % FramePool::kAlignment, 0u);
    memset(block, 1, size);
    FramePool::Free(block, size);
  }
  EXPECT_EQ(FramePool::SlabsInUse(), 0u);
  EXPECT_EQ(FramePool::BytesHeld(), 0u);
}

TEST(FramePoolOfMalloc, AnyThreadMayFree) {
  void* block = FramePool::Allocate(100);
  std::thread([block] { FramePool::Free(block, 100); }).join();
}

TEST(FramePoolOfMalloc, OtherFunctionsDoNothing) {
  FramePool::Free(FramePool::Allocate(100), 100);
  FramePool::FlushRemoteFrees();
  FramePool::OnIdle();
  FramePool::Trim();
  EXPECT_EQ(FramePool::BytesHeld(), 0u);
}

}  // namespace
}  // namespace rouse

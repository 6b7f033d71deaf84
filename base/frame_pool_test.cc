#include "rouse/base/frame_pool.h"

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

// Runs `work` on a thread of its own, to its end.
template <class F>
void OnThread(F work) {
  std::thread thread(work);
  thread.join();
}

TEST(FramePool, BlocksAreAlignedAndDistinct) {
  std::vector<std::pair<char*, size_t>> blocks;
  for (size_t size = 1; size <= FramePool::kMaxPooledSize + 64; size += 7) {
    char* block = static_cast<char*>(FramePool::Allocate(size));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % FramePool::kAlignment, 0u);
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

TEST(FramePool, AThreadsSlabsGoWhenItEnds) {
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
  FramePool::Free(FramePool::Allocate(64), 64);  // this thread's heap
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

TEST(FramePool, RemoteFreesComeHomeInBatches) {
  constexpr size_t kSize = 2048;
  const auto allocate_batch = [] {
    std::set<void*> blocks;
    while (blocks.size() < FramePool::kRemoteBatch) {
      blocks.insert(FramePool::Allocate(kSize));
    }
    return blocks;
  };
  OnThread([&] {  // whose heap has no other free blocks
    const std::set<void*> blocks = allocate_batch();
    std::thread other([&blocks] {
      for (void* block : blocks) FramePool::Free(block, kSize);
      // The batch is full and has gone: this thread need not end for that.
    });
    other.join();
    // All of them are given out again before a new one is cut.
    const std::set<void*> again = allocate_batch();
    EXPECT_EQ(again, blocks);
    for (void* block : again) FramePool::Free(block, kSize);
  });
}

TEST(FramePool, AnUnfinishedBatchGoesHomeWhenItsThreadEnds) {
  OnThread([] {  // whose heap has no other free blocks
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
      // The heap of this thread was made later, and so has gone already.
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
    EXPECT_DEATH(block[64] = 1, "use-after-poison");
  });
}
#endif

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <set>
#include <vector>

#include "rouse/base/frame_pool.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse {
namespace {

using model::Cell;
using model::Thread;

constexpr size_t kSize = 64;
constexpr size_t kOtherSize = 128;

// A block whose content is checked for races: whoever gets it next must come
// after whoever had it.
class Frame {
 public:
  explicit Frame(size_t size = kSize)
      : size_(size),
        content_(static_cast<Content*>(FramePool::Allocate(size))) {
    content_->value.Write() = 1;
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame() {
    content_->value.Write() = 0;
    FramePool::Free(content_, size_);
  }

  const void* block() const { return content_; }

 private:
  struct Content {
    void* link;  // the pool's, while the block is free
    Cell<int> value;
  };

  const size_t size_;
  Content* const content_;
};

// In all of these a heap that is deleted too early, twice or never is found
// too.

MODEL_TEST(FramePool, AFrameFreedElsewhereComesHome) {
  auto frame = std::make_unique<Frame>();
  Thread other([&] {
    frame.reset();
    FramePool::FlushRemoteFrees();
  });
  const Frame one;
  const Frame two;
  other.Join();
  const Frame three;
}

MODEL_TEST(FramePool, AHeapOutlivesItsThread) {
  std::unique_ptr<Frame> first;
  std::unique_ptr<Frame> second;
  Thread owner([&] {
    first = std::make_unique<Frame>();
    second = std::make_unique<Frame>();
  });
  owner.Join();
  first.reset();
  second.reset();
}

MODEL_TEST(FramePool, AThreadEndsWhileItsFramesAreFreed) {
  model::Atomic<Frame*> handed_over(nullptr);
  Thread owner([&] {
    handed_over.store(new Frame, std::memory_order_release);
    const Frame another;
  });
  Frame* frame;
  while ((frame = handed_over.load(std::memory_order_acquire)) == nullptr) {
    model::SpinHint();
  }
  delete frame;
  FramePool::FlushRemoteFrees();
}

MODEL_TEST(FramePool, TwoThreadsFreeFramesOfAThird) {
  auto one_frame = std::make_unique<Frame>();
  auto two_frame = std::make_unique<Frame>();
  Thread one([&] { one_frame.reset(); });
  Thread two([&] { two_frame.reset(); });
  const Frame another;
}

MODEL_TEST(FramePool, LosesNoBlock) {
  std::set<const void*> blocks;
  auto one_frame = std::make_unique<Frame>();
  auto two_frame = std::make_unique<Frame>();
  blocks.insert({one_frame->block(), two_frame->block()});
  Thread one([&] { one_frame.reset(); });
  Thread two([&] { two_frame.reset(); });
  blocks.insert(Frame().block());
  one.Join();
  two.Join();
  // All of them are home: as many again are the same.
  std::vector<std::unique_ptr<Frame>> frames;
  while (frames.size() < blocks.size()) {
    frames.push_back(std::make_unique<Frame>());
    model::Require(blocks.contains(frames.back()->block()), "a block is lost");
  }
}

MODEL_TEST(FramePool, ABatchComesHomeWhole) {
  std::array<std::unique_ptr<Frame>, FramePool::kRemoteBatch> frames;
  for (auto& frame : frames) frame = std::make_unique<Frame>();
  Thread other([&] {
    for (auto& frame : frames) frame.reset();
  });
  // As many again: some of them may be those that came home.
  std::array<Frame, FramePool::kRemoteBatch> more;
}

MODEL_TEST(FramePool, ChainsOfTwoClassesComeHome) {
  auto frame = std::make_unique<Frame>(kSize);
  auto other_frame = std::make_unique<Frame>(kOtherSize);
  const void* const block = frame->block();
  const void* const other_block = other_frame->block();
  Thread other([&] {
    frame.reset();
    other_frame.reset();
  });
  {
    // Takes over neither chain, one or both.
    const Frame again(kSize);
  }
  other.Join();
  const Frame one(kSize);
  const Frame two(kSize);
  const Frame other_one(kOtherSize);
  model::Require(one.block() == block || two.block() == block,
                 "the block did not come home");
  model::Require(other_one.block() == other_block,
                 "the block of the other class did not come home");
}

MODEL_TEST(FramePool, AThreadEndsWithChainsThatItHasNotTaken) {
  auto first = std::make_unique<Frame>(kSize);
  auto second = std::make_unique<Frame>(kOtherSize);
  Thread other([&] {
    first.reset();
    FramePool::FlushRemoteFrees();
    second.reset();
  });
  // Looks for blocks that came home, and takes none of the other class.
  const Frame another(kSize);
}

MODEL_TEST(FramePool, ThreadsFreeEachOthersFrames) {
  auto mine = std::make_unique<Frame>();
  model::Atomic<Frame*> handed_over(nullptr);
  Thread other([&] {
    mine.reset();
    handed_over.store(new Frame, std::memory_order_release);
  });
  if (Frame* frame = handed_over.load(std::memory_order_acquire)) {
    delete frame;
  } else {
    other.Join();
    delete handed_over.load(std::memory_order_relaxed);
  }
}

MODEL_MUTANTS(FramePool, "base/frame_pool.");

}  // namespace
}  // namespace rouse

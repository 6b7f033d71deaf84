// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "rouse/base/frame/frame_depot.h"
#include "rouse/base/frame/frame_pool.h"
#include "rouse/base/frame/frame_sweeper.h"
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

// Holds a block whose content is checked for races: the next owner of the block
// must come after the previous owner.
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
    void* link;  // used by the pool while the block is free
    Cell<int> value;
  };

  const size_t size_;
  Content* const content_;
};

// Forgets the slabs and heaps that failed mutants leave to the next execution.
void StartOver() {
  internal::TheFrameDepot().StartOver();
  internal::TheFrameSweeper().StartOver();
}

// All of these tests also detect a heap that is deleted too early, twice or
// never.

MODEL_TEST(FramePool, AFrameFreedByAnotherThreadReturnsToItsHeap) {
  StartOver();
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
  StartOver();
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
  StartOver();
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
  StartOver();
  auto one_frame = std::make_unique<Frame>();
  auto two_frame = std::make_unique<Frame>();
  Thread one([&] { one_frame.reset(); });
  Thread two([&] { two_frame.reset(); });
  const Frame another;
}

MODEL_TEST(FramePool, LosesNoBlock) {
  StartOver();
  std::set<const void*> blocks;
  auto one_frame = std::make_unique<Frame>();
  auto two_frame = std::make_unique<Frame>();
  blocks.insert({one_frame->block(), two_frame->block()});
  Thread one([&] { one_frame.reset(); });
  Thread two([&] { two_frame.reset(); });
  blocks.insert(Frame().block());
  one.Join();
  two.Join();
  // All blocks are home, so allocating this many again returns the same blocks.
  std::vector<std::unique_ptr<Frame>> frames;
  while (frames.size() < blocks.size()) {
    frames.push_back(std::make_unique<Frame>());
    model::Require(blocks.contains(frames.back()->block()), "a block is lost");
  }
}

MODEL_TEST(FramePool, ABatchReturnsAsAWhole) {
  StartOver();
  std::array<std::unique_ptr<Frame>, FramePool::kRemoteBatch> frames;
  for (auto& frame : frames) frame = std::make_unique<Frame>();
  Thread other([&] {
    for (auto& frame : frames) frame.reset();
  });
  // Allocates this many again. Some of the blocks may be those that came home.
  std::array<Frame, FramePool::kRemoteBatch> more;
}

MODEL_TEST(FramePool, ChainsOfTwoClassesReturnToTheirHeap) {
  StartOver();
  auto frame = std::make_unique<Frame>(kSize);
  auto other_frame = std::make_unique<Frame>(kOtherSize);
  const void* const block = frame->block();
  const void* const other_block = other_frame->block();
  Thread other([&] {
    frame.reset();
    other_frame.reset();
  });
  {
    // Takes over neither chain, or one, or both.
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
  StartOver();
  auto first = std::make_unique<Frame>(kSize);
  auto second = std::make_unique<Frame>(kOtherSize);
  Thread other([&] {
    first.reset();
    FramePool::FlushRemoteFrees();
    second.reset();
  });
  // Searches for blocks that came home, and takes no block of the other class.
  const Frame another(kSize);
}

MODEL_TEST(FramePool, ThreadsFreeEachOthersFrames) {
  StartOver();
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

// The two homes share a place for their batches.
MODEL_TEST(FramePool, ABatchForAnotherHomeMakesRoom) {
  StartOver();
  std::unique_ptr<Frame> first;
  std::unique_ptr<Frame> second;
  Thread one([&] { first = std::make_unique<Frame>(); });
  one.Join();
  Thread two([&] { second = std::make_unique<Frame>(); });
  two.Join();
  first.reset();
  second.reset();
}

// ---- Sweeps. A heap of three slabs is swept, and each slab has one block of
// `kLargeSize`.

constexpr size_t kLargeSize = FramePool::kMaxPooledSize;

using Kind = internal::FrameSweeper::Kind;

bool Sweep(Kind kind) { return internal::TheFrameSweeper().Sweep(kind); }

// Does what the sweeper's thread does until it sleeps. `has_more` is the result
// of the previous sweep.
void SweepWhileThereIsNews(bool has_more = false) {
  while (has_more || internal::TheFrameSweeper().HasNews()) {
    has_more = Sweep(Kind::kAging);
  }
}

using Frames = std::vector<std::unique_ptr<Frame>>;

// Makes frames of a heap that is swept. The slab of the last frame belongs to
// its owner, and stays.
Frames MakeFrames(size_t count = 3) {
  Frames frames;
  while (frames.size() < count) {
    frames.push_back(std::make_unique<Frame>(kLargeSize));
  }
  return frames;
}

MODEL_TEST(FramePool, ASlabIsFreedWhenItsLastBlockReturns) {
  StartOver();
  const size_t before = FramePool::SlabsInUse();
  Frames frames = MakeFrames();
  Thread other([&] {
    frames[0].reset();
    FramePool::FlushRemoteFrees();
  });
  Sweep(Kind::kAll);
  other.Join();
  Sweep(Kind::kAll);
  model::Require(FramePool::SlabsInUse() == before + 2, "a slab is kept");
  frames.clear();
}

// The only calls are the remote frees.
MODEL_TEST(FramePool, TheSweeperIsNotifiedOfReturnedBlocks) {
  StartOver();
  const size_t before = FramePool::SlabsInUse();
  Frames frames = MakeFrames();
  SweepWhileThereIsNews();
  Thread other([&] {
    frames[0].reset();
    FramePool::FlushRemoteFrees();
  });
  const bool has_more = Sweep(Kind::kAging);
  other.Join();
  SweepWhileThereIsNews(has_more);
  model::Require(FramePool::SlabsInUse() == before + 2, "a slab is kept");
  frames.clear();
}

// The owner receives blocks about which the sweeper was notified, and more
// blocks come.
MODEL_TEST(FramePool,
           TheSweeperIsNotifiedOfBlocksReturnedAfterTheOwnerReceives) {
  StartOver();
  const size_t before = FramePool::SlabsInUse();
  Frames frames = MakeFrames(4);
  SweepWhileThereIsNews();
  Thread other([&] {
    frames[0].reset();
    FramePool::FlushRemoteFrees();
    frames[1].reset();
    FramePool::FlushRemoteFrees();
  });
  const Frame again(kLargeSize);
  other.Join();
  SweepWhileThereIsNews();
  // One of the two slabs may have been taken for `again`, and the other for its
  // next blocks. No other slab is kept.
  model::Require(FramePool::SlabsInUse() <= before + 4, "a slab is kept");
  frames.clear();
}

MODEL_TEST(FramePool, TheOwnerContinuesWhileItsHeapIsSwept) {
  StartOver();
  Frames frames = MakeFrames();
  frames[0].reset();
  frames[1].reset();
  FramePool::OnIdle();
  Thread sweeper([] { Sweep(Kind::kAll); });
  const Frame again(kLargeSize);
  const Frame another(kLargeSize);
}

MODEL_TEST(FramePool, TheOwnerTakesBackAPartOfItsHeap) {
  StartOver();
  const size_t before = FramePool::SlabsInUse();
  Frames frames = MakeFrames(4);
  SweepWhileThereIsNews();
  frames[0].reset();
  frames[1].reset();
  frames[2].reset();
  FramePool::OnIdle();
  {
    const Frame again(kLargeSize);
    SweepWhileThereIsNews();
    model::Require(FramePool::SlabsInUse() == before + 2,
                   "the rest has not aged");
  }
  frames.clear();
}

MODEL_TEST(FramePool, AHeapEndsWhileItIsSwept) {
  StartOver();
  std::unique_ptr<Frame> last;
  Thread owner([&] {
    Frames frames = MakeFrames();
    last = std::move(frames[0]);
  });
  Thread sweeper([] { Sweep(Kind::kAging); });
  owner.Join();
  last.reset();
  FramePool::FlushRemoteFrees();
}

// A whole sweep comes between the owner's check for blocks that came home and
// the taking of these blocks.
MODEL_TEST(FramePool, TheSweeperIsNotifiedOfBlocksReturnedAfterALateOwner,
           .mode = model::Mode::kBounded) {
  StartOver();
  Frames frames = MakeFrames(4);
  SweepWhileThereIsNews();
  Thread first([&] {
    frames[0].reset();
    FramePool::FlushRemoteFrees();
  });
  first.Join();
  Thread sweeper([] { SweepWhileThereIsNews(); });
  const Frame again(kLargeSize);
  sweeper.Join();
  SweepWhileThereIsNews();
  Thread second([&] {
    frames[1].reset();
    FramePool::FlushRemoteFrees();
  });
  second.Join();
  model::Require(internal::TheFrameSweeper().HasNews(), "nobody is told");
  frames.clear();
}

MODEL_TEST(FramePool, TheLastBlockReturnsWhileItsHeapIsSwept) {
  StartOver();
  std::unique_ptr<Frame> last;
  Thread owner([&] {
    Frames frames = MakeFrames();
    last = std::move(frames[0]);
  });
  owner.Join();
  Thread sweeper([] { Sweep(Kind::kAll); });
  last.reset();
  FramePool::FlushRemoteFrees();
}

MODEL_TEST(FramePool, AThreadTrimsWhileItsFramesAreFreed) {
  StartOver();
  const size_t before = FramePool::SlabsInUse();
  Frames frames = MakeFrames();
  Thread other([&] {
    frames[0].reset();
    FramePool::FlushRemoteFrees();
  });
  frames[1].reset();
  frames[2].reset();
  FramePool::Trim();
  other.Join();
  FramePool::Trim();
  model::Require(FramePool::SlabsInUse() == before, "a slab is kept");
}

// Leaves out the mutants of frame_sweeper.h, for the reason given beside the
// operations.
MODEL_MUTANTS(FramePool, "base/frame/frame_heap.");

}  // namespace
}  // namespace rouse

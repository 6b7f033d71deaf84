// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: frame_heap.h
// -----------------------------------------------------------------------------
//
// Implements `FrameHeap`, the part of `FramePool` (frame_pool.h) that each
// thread has.

#ifndef ROUSE_BASE_FRAME_FRAME_HEAP_H_
#define ROUSE_BASE_FRAME_FRAME_HEAP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/frame/frame_depot.h"
#include "rouse/base/frame/frame_size_classes.h"
#include "rouse/base/frame/frame_sweeper.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/thread_mutex.h"

namespace rouse::internal {

// A heap has one owner, the thread whose current heap it is. Free blocks move
// from one part of the heap to the next, and leave the heap at the end:
//
//   free_     Used by the owner alone: blocks that the owner has freed, or has
//             taken back. Neither allocating nor freeing touches anything else.
//   remote_   A stack of chains of blocks that other threads have freed. Pushed
//             by any thread, taken whole by the owner or by a sweep.
//   young_    Under mu_: blocks that the owner handed over when it became idle,
//             and blocks that a sweep took from remote_. The owner takes the
//             blocks that it needs from here.
//   old_      Under mu_: blocks that were in young_ for a whole period. A sweep
//             sorts these blocks.
//   sorted    Under mu_: each slab has a list of its blocks that are sorted. A
//             slab whose blocks are all sorted is given to the depot.
//
// Three kinds of threads touch a heap: the owner; a sweep, which can be any
// thread, but only one thread at a time for all heaps (frame_sweeper.h); and
// the threads that free blocks of the heap, which touch only the two atomics at
// the end of the heap:
//
//   remote_   As above. `Watch()` stands for an empty stack that a sweep has
//             left. A thread that pushes onto `Watch()` notifies the sweeper,
//             so the sweeper may sleep until there is news.
//   balance_  Minus the number of blocks that were freed remotely, while the
//             owner lives. When the owner ends, the owner adds the number of
//             blocks that the heap ever gave out and has not got back in
//             another way. From then on, the balance is the number of blocks in
//             use, and the thread that brings the balance to zero deletes the
//             heap.
//
// Invariants:
//
// - A slab is given to the depot only when all blocks that were cut from the
//   slab are sorted, under mu_, and no more will be cut. A block that is in
//   use, in a batch, in a chain of remote_, or in free_ is not sorted.
//   Therefore no thread has a block of the slab, or will obtain the address of
//   a block.
// - The heap is deleted once, by the thread whose change makes the balance zero
//   after the owner's addition. Before the addition, the balance is negative
//   after every remote free, so no remote free can make the balance zero. After
//   the addition, a remote free whose chain is on `remote_`, but not yet
//   subtracted from the balance, keeps the balance above zero. The thread that
//   deletes the heap first removes the heap from the sweeper, and the removal
//   waits for a step in progress.
// - While remote_ is not `Watch()`, a sweep is due: there was news since
//   remote_ was `Watch()` (or the heap is too small for sweeps and is unknown
//   to the sweeper).
//
// Neither the sender nor the receiver of a chain walks it. The owner touches
// the first block of a chain, and the other blocks when it gives them out; or a
// sweep touches the blocks when it sorts them.

// Represents a free block. Only the link is used.
struct FrameBlock {
  Cell<FrameBlock*> next;
};

// The first of several free blocks of one class, linked by `next`. The blocks
// are a batch that came home, or were handed over by an owner.
struct FrameChain : FrameBlock {
  Cell<FrameChain*> next_chain;
  FrameChain* next_list;  // while first in one of a stack's lists
  uint32_t size_class;
  // Number of blocks that came home. 0 for blocks that the owner has handed
  // over: their number is neither known nor needed.
  uint32_t count;
};
static_assert(sizeof(FrameChain) <= kFrameSizeClasses.size.front());

// Holds a stack of chains. Takes over a whole list of chains, linked by
// `next_chain`, in O(1).
class FrameChainStack {
 public:
  bool IsEmpty() const { return top_ == nullptr; }
  void Push(FrameChain* chain) {
    chain->next_chain.Write() = nullptr;
    PushList(chain);
  }
  // Pushes a list of chains. `list` may be null.
  void PushList(FrameChain* list) {
    if (list == nullptr) return;
    list->next_list = std::exchange(top_, list);
  }
  // Returns a chain and removes it from the stack, or returns null if the stack
  // is empty.
  FrameChain* Pop() {
    if (top_ == nullptr) return nullptr;
    FrameChain* const chain = top_;
    if (FrameChain* const next = chain->next_chain.Read(); next != nullptr) {
      next->next_list = chain->next_list;
      top_ = next;
    } else {
      top_ = chain->next_list;
    }
    return chain;
  }

 private:
  FrameChain* top_ = nullptr;
};

// Inserts `block` at the front of `list`.
inline void PushFrame(FrameBlock*& list, FrameBlock* block, size_t size_class) {
  block->next.Write() = list;
  list = block;
  PoisonFrame(block, kFrameSizeClasses.size[size_class]);
}

class FrameHeap final : public FrameSweeper::Client {
 public:
  static constexpr size_t kClassCount = FrameSizeClasses::kCount;
#ifdef ROUSE_MODEL
  static constexpr uint32_t kSweptSlabs = 3;
  static constexpr size_t kFirstCut = 1;
#else
  // Number of slabs below which a heap is not worth a sweep.
  static constexpr uint32_t kSweptSlabs = 32;
  // Number of handed-over blocks that the owner takes back at first. The number
  // doubles each time, up to `kLastCut`. The remaining blocks age.
  static constexpr size_t kFirstCut = 8;
#endif
  static constexpr size_t kLastCut = 64;
  // Limits of the sorting and distributing in one step of a sweep. An owner
  // that needs the lock waits for no longer than a step. A block takes 0.1 to
  // 0.8 us, depending on how much of the block is in the caches.
  static constexpr size_t kStepBytes = kFrameSlabSize / 4;
  static constexpr size_t kStepChains = 128;
  // Number of bytes that an owner sorts to find a free slab before taking a
  // slab from the depot. While the owner finds no free slab, the heap gains one
  // slab for each two slabs that are sorted.
  static constexpr size_t kGrowthBytes = 2 * kFrameSlabSize;

  FrameHeap() = default;

  // ---- For the owner.

  void* Pop(size_t size_class) {
    FrameBlock* block = free_[size_class];
    if (ABSL_PREDICT_FALSE(block == nullptr)) return nullptr;
    UnpoisonFrame(block, kFrameSizeClasses.size[size_class]);
    free_[size_class] = block->next.Read();
    return block;
  }

  void Push(FrameBlock* block, size_t size_class) {
    PushFrame(free_[size_class], block, size_class);
  }

  // Returns a block if the free list has none.
  void* Refill(size_t size_class);

  // Keeps a foreign block for the next batch to its heap.
  void FreeRemote(FrameHeap* home, FrameBlock* block, size_t size_class);

  void FlushRemoteFrees();

  // Called when the owner has nothing to do: free blocks may be swept.
  void OnIdle();

  // Gives all free memory of this heap to the depot.
  void Trim();

  // Called when the owner ends. Deletes the heap now, or leaves the deletion to
  // the last block.
  void Retire();

  // ---- For any thread.

  // Takes back a chain of `count` blocks that begins with `first`.
  void Return(FrameBlock* first, uint32_t count);

  // ---- For the sweeper.

  bool SweepStep(FrameSweeper::Kind kind) noexcept override;
  bool HasMore() noexcept override;

 private:
  // Holds blocks of one class of one other heap, on their way home.
  struct Batch {
    static constexpr size_t kCount = 64;

    // Returns the index of a batch. The classes of a home have adjacent
    // indices, so no two classes share a batch.
    static size_t IndexOf(const FrameHeap* home, size_t size_class);
    void Send();

    FrameHeap* home = nullptr;
    FrameBlock* first = nullptr;
    uint32_t count = 0;
  };

  // Describes the part of the newest slab of a class that was never given out.
  struct Fresh {
    FrameSlab* slab() const;
    // Returns the number of blocks that were cut from the slab.
    uint32_t CutOfClass(size_t size_class) const;

    char* begin = nullptr;
    char* end = nullptr;
  };

  ~FrameHeap() override;

  // Returns the value of an empty `remote_` whose next push must notify the
  // sweeper.
  static FrameChain* Watch() { return reinterpret_cast<FrameChain*>(1); }

  // Sorts a part of the free blocks when the owner ends. Returns whether more
  // are left.
  bool RetireStep();
  // Returns a chain of this class that came home, or null. Puts chains of other
  // classes aside.
  FrameChain* TakeChain(size_t size_class);
  // Takes over the chains that other threads have sent. Returns false if there
  // are none.
  bool Receive();
  // Cuts a block from the fresh slab. Returns null if there is no room.
  void* CutFresh(size_t size_class);
  void* RefillFromSlabs(size_t size_class);

  // Moves all of the owner's free blocks to young_, and chains that are not yet
  // examined to received_. Returns whether anything was moved.
  bool HandOver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Fills free_ with blocks that were handed over, came home or are sorted.
  // Returns whether there were any. For the owner.
  bool TakeBack(size_t size_class) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Cuts `list` behind its first blocks, and returns the other blocks.
  FrameBlock* CutFrom(FrameBlock* list, size_t size_class);
  // Moves the chains that other threads have sent to received_, and leaves
  // `empty` in remote_.
  void ReceiveForSweep(FrameChain* empty) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Moves up to `chains` chains from received_ to young_. Returns whether more
  // are left.
  bool Distribute(size_t chains) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Sorts blocks of old_, and with `kAll` also of young_, until `bytes` bytes
  // are sorted. Returns false if no blocks were left.
  bool Sort(size_t bytes, FrameSweeper::Kind kind)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool NextToSort(FrameSweeper::Kind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends the cutting of blocks from the fresh slab, so that the slab can be
  // given away. For the owner.
  void FinishFresh(size_t size_class) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Calls `FinishFresh()` for the fresh slabs without blocks in use. For the
  // owner.
  void FinishFreeSlabs() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Gives the slab away if all of its blocks are sorted.
  void GiveIfFree(FrameSlab* slab) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  std::array<FrameBlock*, kClassCount> free_{};
  std::array<Fresh, kClassCount> fresh_{};
  std::array<FrameChain*, kClassCount> chains_{};  // put aside by TakeChain
  FrameChain* arrived_ = nullptr;  // from remote_, not yet examined
  std::array<Batch, Batch::kCount> batches_{};
  uint64_t unsent_ = 0;     // a bit for each of batches_ that may have blocks
  int64_t given_out_ = 0;   // blocks cut from slabs
  int64_t taken_back_ = 0;  // blocks of the chains that went to free_
  size_t cut_ = kFirstCut;
  Cell<bool> has_sweeps_;  // known to the sweeper

  ThreadMutex mu_;
  // Slabs from which no more blocks are cut, those with sorted blocks first.
  std::array<IntrusiveList<FrameSlab>, kClassCount> slabs_ ABSL_GUARDED_BY(mu_);
  FrameChainStack received_ ABSL_GUARDED_BY(mu_);  // from remote_, by a sweep
  std::array<FrameChainStack, kClassCount> young_ ABSL_GUARDED_BY(mu_);
  std::array<FrameChainStack, kClassCount> old_ ABSL_GUARDED_BY(mu_);
  // Rest of the chain that is being sorted.
  FrameBlock* sorting_ ABSL_GUARDED_BY(mu_) = nullptr;
  size_t sorting_class_ ABSL_GUARDED_BY(mu_) = 0;
  bool has_aged_ ABSL_GUARDED_BY(mu_) = false;  // in this sweep
  // Number of blocks of the sorted chains, minus the blocks of slabs that were
  // given away.
  int64_t sorted_ ABSL_GUARDED_BY(mu_) = 0;

  uint32_t slab_count_ ABSL_GUARDED_BY(mu_) = 0;  // including fresh slabs

  alignas(ABSL_CACHELINE_SIZE) Atomic<FrameChain*> remote_{nullptr};
  Atomic<int64_t> balance_{0};
};

}  // namespace rouse::internal

#endif  // ROUSE_BASE_FRAME_FRAME_HEAP_H_

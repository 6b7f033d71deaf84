// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: frame_heap.h
// -----------------------------------------------------------------------------
//
// The part of `FramePool` (frame_pool.h) that each thread has: `FrameHeap`.

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

// A heap has one owner, the thread whose current heap it is. What is free in it
// goes from one part of the heap to the next, and leaves it at the end:
//
//   free_     The owner's alone: blocks that it has freed, or has taken back.
//             Neither allocating nor freeing touches anything else.
//   remote_   A stack of chains of blocks that other threads have freed. Pushed
//             by any thread, taken whole by the owner or by a sweep.
//   young_    Under mu_: what the owner handed over when it became idle, and
//             what a sweep took from remote_. The owner takes from here what
//             it needs.
//   old_      Under mu_: what was in young_ for a whole period. A sweep sorts
//             it.
//   sorted    Under mu_: each slab has a list of those of its blocks that are
//             here. A slab that has all of its blocks is given to the depot.
//
// Three kinds of threads touch a heap: the owner; a sweep, which is any thread,
// but one at a time for all heaps (frame_sweeper.h); and those that free blocks
// of it, which touch only the two atomics at its end:
//
//   remote_   As above. `Watch()` stands for an empty stack which a sweep has
//             left: whoever pushes on it tells the sweeper. So the sweeper may
//             sleep until there is news.
//   balance_  Minus the number of blocks that were freed remotely, while the
//             owner lives. When it ends it adds the number of blocks that the
//             heap ever gave out and has not got back in another way. From then
//             on the balance is the number of blocks in use, and whoever brings
//             it to zero deletes the heap.
//
// Invariants:
//
// - A slab is given to the depot only when all blocks that were cut from it are
//   sorted, under mu_, and no more will be cut. A block that is in use, in a
//   batch, in a chain of remote_, or in free_ is not sorted; so nobody has a
//   block of the slab, or will come by its address.
// - The heap is deleted once, by the thread whose change made the balance zero
//   after the owner's addition. Before that addition the balance is negative
//   after every remote free, so none of them can hit zero. After it, a remote
//   free whose chain is on `remote_` but not yet taken off the balance keeps it
//   above zero. Who deletes it removes it from the sweeper first, which waits
//   for a step that is being done.
// - While remote_ is not `Watch()`, a sweep is due: there was news since it was
//   (or the heap is too small for sweeps, and not known to the sweeper).
//
// A chain is not walked by who sends or receives it: the owner looks at the
// first of its blocks, and at the others when it gives them out, or a sweep
// when it sorts them.

// A free block. The link is all of it that is used.
struct FrameBlock {
  Cell<FrameBlock*> next;
};

// The first of some free blocks of one class, linked by `next`: of a batch that
// comes home, or of those that an owner has handed over.
struct FrameChain : FrameBlock {
  Cell<FrameChain*> next_chain;
  FrameChain* next_list;  // while it is first in one of a stack's lists
  uint32_t size_class;
  // How many blocks came home. 0 for what the owner has handed over: of that
  // nobody knows how many there are, nor need anybody.
  uint32_t count;
};
static_assert(sizeof(FrameChain) <= kFrameSizeClasses.size.front());

// A stack of chains. Takes over a whole list of them, linked by `next_chain`,
// in O(1).
class FrameChainStack {
 public:
  bool IsEmpty() const { return top_ == nullptr; }
  void Push(FrameChain* chain) {
    chain->next_chain.Write() = nullptr;
    PushList(chain);
  }
  // `list` may be null.
  void PushList(FrameChain* list) {
    if (list == nullptr) return;
    list->next_list = std::exchange(top_, list);
  }
  // Null if there is none.
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

// Puts `block` first of `list`.
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
  // A heap of fewer slabs is not worth a sweep.
  static constexpr uint32_t kSweptSlabs = 32;
  // Of what the owner has handed over it takes back this many blocks at first,
  // then twice as many each time, up to `kLastCut`. The rest ages.
  static constexpr size_t kFirstCut = 8;
#endif
  static constexpr size_t kLastCut = 64;
  // What a step of a sweep sorts or distributes, so that an owner who needs the
  // lock does not wait for longer than that: a block takes 0.1 to 0.8 us, by
  // how much of it the caches have.
  static constexpr size_t kStepBytes = kFrameSlabSize / 4;
  static constexpr size_t kStepChains = 128;
  // What an owner sorts to find a free slab before it takes one from the depot.
  // While it finds none, it has one slab more for each two that are sorted.
  static constexpr size_t kGrowthBytes = 2 * kFrameSlabSize;

  FrameHeap() = default;

  // ---- The owner's.

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

  // A block where the free list has none.
  void* Refill(size_t size_class);

  // Keeps a foreign block for the next batch to its heap.
  void FreeRemote(FrameHeap* home, FrameBlock* block, size_t size_class);

  void FlushRemoteFrees();

  // The owner has nothing to do: what is free may be swept.
  void OnIdle();

  // Gives all that is free in this heap to the depot.
  void Trim();

  // The owner ends. Deletes the heap now or leaves that to the last block.
  void Retire();

  // ---- Any thread's.

  // Takes back a chain of `count` blocks, which begins with `first`.
  void Return(FrameBlock* first, uint32_t count);

  // ---- The sweeper's.

  bool SweepStep(FrameSweeper::Kind kind) noexcept override;
  bool HasMore() noexcept override;

 private:
  // Blocks of one class of one other heap, on their way home.
  struct Batch {
    static constexpr size_t kCount = 64;

    // Side by side for the classes of a home, so that no two of them share one.
    static size_t IndexOf(const FrameHeap* home, size_t size_class);
    void Send();

    FrameHeap* home = nullptr;
    FrameBlock* first = nullptr;
    uint32_t count = 0;
  };

  // The part of the newest slab of a class that was never given out.
  struct Fresh {
    FrameSlab* slab() const;
    // How many blocks were cut from the slab.
    uint32_t CutOfClass(size_t size_class) const;

    char* begin = nullptr;
    char* end = nullptr;
  };

  ~FrameHeap() override;

  // An empty `remote_` of which the sweeper wants to know when it is not.
  static FrameChain* Watch() { return reinterpret_cast<FrameChain*>(1); }

  // Sorts a part of what is free when the owner ends. Returns whether there is
  // more.
  bool RetireStep();
  // A chain of this class that came home, or null. Puts those of other classes
  // aside.
  FrameChain* TakeChain(size_t size_class);
  // Takes over what other threads have sent. False if there is nothing.
  bool Receive();
  // Cuts a block from the fresh slab; null if there is no room.
  void* CutFresh(size_t size_class);
  void* RefillFromSlabs(size_t size_class);

  // Moves all that the owner has to young_. Returns whether there was anything.
  bool HandOver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Fills free_ with what was handed over, came home or is sorted. Returns
  // whether there was any. The owner's.
  bool TakeBack(size_t size_class) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes the first blocks of `list`, and returns the others.
  FrameBlock* CutFrom(FrameBlock* list, size_t size_class);
  // Takes what other threads have sent to received_, and leaves `empty`.
  void ReceiveForSweep(FrameChain* empty) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Moves chains from received_ to young_. Returns whether there are more.
  bool Distribute(size_t chains) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Sorts blocks of old_, and of young_ with `kAll`, as many as have `bytes`.
  // Returns whether there are more.
  bool Sort(size_t bytes, FrameSweeper::Kind kind)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool NextToSort(FrameSweeper::Kind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Cuts no more blocks from the fresh slab, so that it may be given away. The
  // owner's.
  void FinishFresh(size_t size_class) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // As above, for those fresh slabs of which no block is in use. The owner's.
  void FinishFreeSlabs() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Gives the slab away if all of its blocks are sorted.
  void GiveIfFree(FrameSlab* slab) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  std::array<FrameBlock*, kClassCount> free_{};
  std::array<Fresh, kClassCount> fresh_{};
  std::array<FrameChain*, kClassCount> chains_{};  // put aside by TakeChain
  FrameChain* arrived_ = nullptr;  // from remote_, and not looked at yet
  std::array<Batch, Batch::kCount> batches_{};
  uint64_t unsent_ = 0;     // a bit for each of batches_ that may have blocks
  int64_t given_out_ = 0;   // blocks cut from slabs
  int64_t taken_back_ = 0;  // blocks of the chains that went to free_
  size_t cut_ = kFirstCut;
  Cell<bool> has_sweeps_;  // known to the sweeper

  ThreadMutex mu_;
  // What has been cut to the end: those with sorted blocks first.
  std::array<IntrusiveList<FrameSlab>, kClassCount> slabs_ ABSL_GUARDED_BY(mu_);
  FrameChainStack received_ ABSL_GUARDED_BY(mu_);  // from remote_, by a sweep
  std::array<FrameChainStack, kClassCount> young_ ABSL_GUARDED_BY(mu_);
  std::array<FrameChainStack, kClassCount> old_ ABSL_GUARDED_BY(mu_);
  // The chain that is being sorted.
  FrameBlock* sorting_ ABSL_GUARDED_BY(mu_) = nullptr;
  size_t sorting_class_ ABSL_GUARDED_BY(mu_) = 0;
  bool has_aged_ ABSL_GUARDED_BY(mu_) = false;  // in this sweep
  // Blocks of the chains that were sorted, less those of the slabs that have
  // gone.
  int64_t sorted_ ABSL_GUARDED_BY(mu_) = 0;

  uint32_t slab_count_ ABSL_GUARDED_BY(mu_) = 0;  // fresh ones too

  alignas(ABSL_CACHELINE_SIZE) Atomic<FrameChain*> remote_{nullptr};
  Atomic<int64_t> balance_{0};
};

}  // namespace rouse::internal

#endif  // ROUSE_BASE_FRAME_FRAME_HEAP_H_

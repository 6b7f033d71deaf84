// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: frame_depot.h
// -----------------------------------------------------------------------------
//
// The part of `FramePool` (frame_pool.h) that takes memory from the system and
// gives it back: `FrameDepot` lends slabs to the heaps of the threads.

#ifndef ROUSE_BASE_FRAME_FRAME_DEPOT_H_
#define ROUSE_BASE_FRAME_FRAME_DEPOT_H_

#include <cstddef>
#include <cstdint>

#include "absl/base/config.h"
#include "absl/base/const_init.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/cell.h"
#include "rouse/base/frame/frame_size_classes.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/thread_mutex.h"

#ifdef ABSL_HAVE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace rouse::internal {

struct FrameBlock;
struct FrameChunk;
class FrameHeap;

// FrameSlab
//
// The first bytes of a slab. Blocks of one class follow.
struct alignas(64) FrameSlab : IntrusiveListNode<> {
  FrameSlab(FrameHeap* heap, uint32_t size_class, FrameChunk* chunk)
      : heap(heap), chunk(chunk), size_class(size_class) {}

  static FrameSlab* Of(void* block) {
    return reinterpret_cast<FrameSlab*>(reinterpret_cast<uintptr_t>(block) &
                                        ~uintptr_t{kFrameSlabSize - 1});
  }

  Cell<FrameHeap*> heap;
  // What of the slab's blocks the heap has sorted: free, and in this list.
  Cell<FrameBlock*> free;
  FrameChunk* const chunk;  // the depot's
  const uint32_t size_class;
  uint32_t free_count = 0;
  // How many blocks were cut from the slab; 0 while more may be.
  uint32_t cut = 0;
};

// FrameDepot
//
// Thread-safe. Its memory is mapped in chunks of `kSlabsPerChunk` slabs. Of a
// free slab the depot knows whether the system still has memory behind it.
class FrameDepot {
 public:
  static constexpr size_t kSlabsPerChunk = 16;
  // How many free slabs with memory behind them the depot keeps for good.
  static constexpr size_t kKeptSlabs = 32;

  constexpr FrameDepot() = default;
  FrameDepot(const FrameDepot&) = delete;
  FrameDepot& operator=(const FrameDepot&) = delete;

  // A slab for `heap`. Prefers one that has memory behind it. Throws
  // `std::bad_alloc` (aborts without exceptions) when there is no memory.
  FrameSlab* Take(FrameHeap* heap, size_t size_class);

  // Takes back a slab, none of whose blocks is in use. Returns whether the
  // depot has more of them than it keeps, so that `Age()` is to be called.
  [[nodiscard]] bool Give(FrameSlab* slab) noexcept;

  // Gives the memory of those slabs back to the system that nobody has needed
  // since the call before. Returns whether there are more.
  bool Age() noexcept;

  // Gives the memory of all free slabs back to the system.
  void ReleaseAll() noexcept;

#ifdef ROUSE_MODEL
  // Forgets what an execution that has failed has left.
  void StartOver();
#endif

  // The slabs that heaps have.
  size_t in_use();
  // The slabs that have memory behind them, in use or free.
  size_t resident();

 private:
  static constexpr uint32_t kAllSlabs = (uint32_t{1} << kSlabsPerChunk) - 1;
  static_assert(kSlabsPerChunk < 32);

  FrameChunk* Grow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Gives back the memory of up to `slabs` free slabs. Returns false if the
  // system does not take it.
  bool Release(size_t slabs) noexcept;

  ThreadMutex mu_{absl::kConstInit};
  // Chunks with free slabs: those that have one with memory behind it (wholly
  // free ones last), and the others.
  IntrusiveList<FrameChunk> dirty_ ABSL_GUARDED_BY(mu_);
  IntrusiveList<FrameChunk> clean_ ABSL_GUARDED_BY(mu_);
  size_t in_use_ ABSL_GUARDED_BY(mu_) = 0;
  size_t dirty_count_ ABSL_GUARDED_BY(mu_) = 0;
  // The least that `dirty_count_` has been since the last `Age()`.
  size_t unneeded_ ABSL_GUARDED_BY(mu_) = 0;
};

// The one of the process. Never destroyed: threads outlive static objects.
FrameDepot& TheFrameDepot();

// Under AddressSanitizer: free memory must not be touched.
inline void PoisonFrame([[maybe_unused]] void* block,
                        [[maybe_unused]] size_t size) {
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  ASAN_POISON_MEMORY_REGION(block, size);
#endif
}
inline void UnpoisonFrame([[maybe_unused]] void* block,
                          [[maybe_unused]] size_t size) {
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  ASAN_UNPOISON_MEMORY_REGION(block, size);
#endif
}

}  // namespace rouse::internal

#endif  // ROUSE_BASE_FRAME_FRAME_DEPOT_H_

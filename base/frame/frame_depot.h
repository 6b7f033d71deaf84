// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: frame_depot.h
// -----------------------------------------------------------------------------
//
// Implements the part of `FramePool` (frame_pool.h) that takes memory from the
// system and gives memory back: `FrameDepot` lends slabs to the heaps of the
// threads.

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
// Occupies the first bytes of a slab. Blocks of one class follow.
struct alignas(64) FrameSlab : IntrusiveListNode<> {
  FrameSlab(FrameHeap* heap, uint32_t size_class, FrameChunk* chunk)
      : heap(heap), chunk(chunk), size_class(size_class) {}

  static FrameSlab* Of(void* block) {
    return reinterpret_cast<FrameSlab*>(reinterpret_cast<uintptr_t>(block) &
                                        ~uintptr_t{kFrameSlabSize - 1});
  }

  Cell<FrameHeap*> heap;
  // List of the slab's blocks that the heap has sorted.
  Cell<FrameBlock*> free;
  FrameChunk* const chunk;  // belongs to the depot
  const uint32_t size_class;
  uint32_t free_count = 0;
  // Number of blocks that were cut from the slab; 0 while more may be cut.
  uint32_t cut = 0;
};

// FrameDepot
//
// Lends slabs to heaps. The memory of the depot is mapped in chunks of
// `kSlabsPerChunk` slabs. The depot knows of each free slab whether the system
// still has memory behind it. Thread-safe.
class FrameDepot {
 public:
  static constexpr size_t kSlabsPerChunk = 16;
  // Maximum number of free slabs with memory behind them that the depot keeps
  // permanently.
  static constexpr size_t kKeptSlabs = 32;

  constexpr FrameDepot() = default;
  FrameDepot(const FrameDepot&) = delete;
  FrameDepot& operator=(const FrameDepot&) = delete;

  // Returns a slab for `heap`, preferably a slab with memory behind it. Throws
  // `std::bad_alloc` (aborts without exceptions) if there is no memory.
  FrameSlab* Take(FrameHeap* heap, size_t size_class);

  // Takes back a slab without blocks in use. Returns whether the depot has more
  // free slabs with memory behind them than it keeps. If so, `Age()` must be
  // called.
  [[nodiscard]] bool Give(FrameSlab* slab) noexcept;

  // Gives back to the system the memory of the slabs that were not needed since
  // the previous call, except for the slabs that the depot keeps. Returns
  // whether a later call may give back more.
  bool Age() noexcept;

  // Gives the memory of all free slabs back to the system.
  void ReleaseAll() noexcept;

#ifdef ROUSE_MODEL
  // Forgets the state that a failed execution has left.
  void StartOver();
#endif

  // Returns the number of slabs that heaps have.
  size_t in_use();
  // Returns the number of slabs with memory behind them, in use or free.
  size_t resident();

 private:
  static constexpr uint32_t kAllSlabs = (uint32_t{1} << kSlabsPerChunk) - 1;
  static_assert(kSlabsPerChunk < 32);

  FrameChunk* Grow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Gives back the memory of `slabs` free slabs, or of all if there are fewer.
  // May give back more, because the free slabs of a chunk are given back
  // together. Returns false if the system does not take the memory.
  bool Release(size_t slabs) noexcept;

  ThreadMutex mu_{absl::kConstInit};
  // Chunks with free slabs. `dirty_` holds the chunks with memory behind a free
  // slab (wholly free chunks last), and `clean_` the others.
  IntrusiveList<FrameChunk> dirty_ ABSL_GUARDED_BY(mu_);
  IntrusiveList<FrameChunk> clean_ ABSL_GUARDED_BY(mu_);
  size_t in_use_ ABSL_GUARDED_BY(mu_) = 0;
  size_t dirty_count_ ABSL_GUARDED_BY(mu_) = 0;
  // Minimum of `dirty_count_` since the last `Age()`.
  size_t unneeded_ ABSL_GUARDED_BY(mu_) = 0;
};

// Returns the depot of the process. The depot is never destroyed, because
// threads outlive static objects.
FrameDepot& TheFrameDepot();

// Mark memory as free, and as usable again. Under AddressSanitizer, free memory
// must not be touched.
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

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: frame_pool.h
// -----------------------------------------------------------------------------
//
// `FramePool` is where coroutine frames and tasks come from: small blocks of
// recurring sizes that are made and freed millions of times a second, mostly by
// the thread that made them.
//
//   void* operator new(size_t size) { return FramePool::Allocate(size); }
//   void operator delete(void* block, size_t size) {
//     FramePool::Free(block, size);
//   }

#ifndef ROUSE_BASE_FRAME_POOL_H_
#define ROUSE_BASE_FRAME_POOL_H_

#include <cstddef>

#include "absl/base/attributes.h"

namespace rouse {

// FramePool
//
// Every thread has a heap of its own, with a free list for each of some forty
// size classes, so that allocating, and freeing on the same thread, are a few
// instructions and touch no shared memory. A block freed on another thread goes
// home to its heap in a batch. (The scheme is that of Leijen, Zorn and de
// Moura, "Mimalloc: free list sharding in action", 2019, and of Liétar et al.,
// "snmalloc: a message passing allocator", 2019, cut down to sized blocks.)
//
// All functions are thread-safe and may be called at any time, also while a
// thread or the process ends.
//
// # Bounds
//
// A heap grows by slabs of `kSlabSize` and keeps them for its thread. When the
// thread ends the heap goes with it, or, where blocks of it are still in use,
// with the last of those. A thread holds back at most `kRemoteBatch` blocks for
// each of 16 other heaps, until `FlushRemoteFrees()` or its end.
//
// # Sanitizers
//
// Under AddressSanitizer free blocks are poisoned, so that use after free is
// reported as for the ordinary heap.
class FramePool {
 public:
  // Larger blocks come from `operator new`.
  static constexpr size_t kMaxPooledSize = 4096;
  // What blocks are aligned to.
  static constexpr size_t kAlignment = 16;
  static constexpr size_t kSlabSize = size_t{64} << 10;
  static constexpr size_t kRemoteBatch = 32;

  FramePool() = delete;

  // A block of `size` bytes. Throws `std::bad_alloc` (aborts without
  // exceptions) when there is no memory. O(1).
  //
  // Never inlined, and so are all functions here: they find the thread's heap,
  // and a coroutine into which that was inlined might keep its address while it
  // moves to another thread.
  ABSL_ATTRIBUTE_NOINLINE ABSL_ATTRIBUTE_RETURNS_NONNULL static void* Allocate(
      size_t size);

  // Frees what `Allocate(size)` returned, on any thread. O(1).
  ABSL_ATTRIBUTE_NOINLINE static void Free(void* block, size_t size) noexcept;

  // Sends the blocks of other threads that this one holds back home. For a
  // thread that is about to sleep.
  ABSL_ATTRIBUTE_NOINLINE static void FlushRemoteFrees() noexcept;

  // How many slabs all heaps together have. For tests and metrics.
  static size_t SlabsInUse();
};

}  // namespace rouse

#endif  // ROUSE_BASE_FRAME_POOL_H_

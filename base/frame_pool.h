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

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "absl/base/attributes.h"

namespace rouse {

namespace internal {

// Multiples of 16 from 32 to 64, of 64 to 1024, of 128 to 2048, of 256 to 4096.
//
// So what is larger than a cache line has its lines to itself. Two tasks that
// shared one would be fought for by the threads that run them: with blocks of
// any multiple of 16, tasks that yield on two threads took twice as long. What
// this wastes of a block, a half at most and an eighth on average, is less than
// that.
struct FrameSizeClasses {
  static constexpr size_t kCount = 3 + 15 + 8 + 8;
  static constexpr size_t kSmallest = 32;
  static constexpr size_t kLargest = 4096;

  std::array<uint16_t, kCount> size{};
  // Indexed by the size in units of 16 bytes, rounded up.
  std::array<uint8_t, kLargest / 16 + 1> of{};

  constexpr FrameSizeClasses() {
    size_t index = 0;
    for (size_t bytes = kSmallest; bytes <= kLargest;
         bytes += StepFrom(bytes)) {
      size[index++] = static_cast<uint16_t>(bytes);
    }
    size_t unit = 0;
    for (size_t c = 0; c < kCount; ++c) {
      for (; unit * 16 <= size[c]; ++unit) of[unit] = static_cast<uint8_t>(c);
    }
  }

  static constexpr size_t StepFrom(size_t bytes) {
    return bytes < 64 ? 16 : bytes < 1024 ? 64 : bytes < 2048 ? 128 : 256;
  }
};
inline constexpr FrameSizeClasses kFrameSizeClasses;
static_assert(kFrameSizeClasses.size.back() == FrameSizeClasses::kLargest);

}  // namespace internal

// FramePool
//
// Every thread has a heap of its own, with a free list for each of 34 size
// classes, so that allocating, and freeing on the same thread, are a few
// instructions and touch no shared memory. A block freed on another thread goes
// home to its heap in a batch with others of its class. (The scheme is that of
// Leijen, Zorn and de Moura, "Mimalloc: free list sharding in action", 2019,
// and of Liétar et al., "snmalloc: a message passing allocator", 2019, cut down
// to sized blocks.)
//
// All functions are thread-safe and may be called at any time, also while a
// thread or the process ends.
//
// # Bounds
//
// A heap grows by slabs of `kSlabSize` and keeps them for its thread. When the
// thread ends the heap goes with it, or, where blocks of it are still in use,
// with the last of those. A thread holds back at most 64 batches, each of less
// than `kRemoteBatch` blocks of one class of one other heap, until
// `FlushRemoteFrees()` or its end.
//
// # Sanitizers
//
// Under AddressSanitizer free blocks are poisoned, so that use after free is
// reported as for the ordinary heap.
class FramePool {
 public:
  // Larger blocks come from `operator new`.
  static constexpr size_t kMaxPooledSize = internal::FrameSizeClasses::kLargest;
  // What all blocks are aligned to; those from 64 bytes to `kMaxPooledSize` to
  // 64.
  static constexpr size_t kAlignment = 16;
  static constexpr size_t kSlabSize = size_t{64} << 10;
#ifdef ROUSE_MODEL
  static constexpr size_t kRemoteBatch = 2;
#else
  static constexpr size_t kRemoteBatch = 32;
#endif

  FramePool() = delete;

  // A block of `size` bytes. Throws `std::bad_alloc` (aborts without
  // exceptions) when there is no memory. O(1), amortized.
  ABSL_ATTRIBUTE_RETURNS_NONNULL static void* Allocate(size_t size) {
    if (size > kMaxPooledSize) return ::operator new(size);
    return AllocateOfClass(ClassOf(size));
  }

  // Frees what `Allocate(size)` returned, on any thread. O(1).
  static void Free(void* block, size_t size) noexcept {
    if (size > kMaxPooledSize) return ::operator delete(block, size);
    FreeOfClass(block, ClassOf(size));
  }

  // Sends the blocks of other threads that this one holds back home. For a
  // thread that is about to sleep.
  static void FlushRemoteFrees() noexcept;

  // How many slabs all heaps together have. For tests and metrics.
  static size_t SlabsInUse();

 private:
  // A constant, where the size is one, as that of a frame is.
  static constexpr size_t ClassOf(size_t size) {
    return internal::kFrameSizeClasses.of[(size + 15) / 16];
  }

  // Not inlined: they find the thread's heap, and a coroutine into which that
  // was inlined might keep its address while it moves to another thread.
  ABSL_ATTRIBUTE_NOINLINE ABSL_ATTRIBUTE_RETURNS_NONNULL static void*
  AllocateOfClass(size_t size_class);
  ABSL_ATTRIBUTE_NOINLINE static void FreeOfClass(void* block,
                                                  size_t size_class) noexcept;
};

}  // namespace rouse

#endif  // ROUSE_BASE_FRAME_POOL_H_

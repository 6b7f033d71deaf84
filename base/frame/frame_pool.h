// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: frame_pool.h
// -----------------------------------------------------------------------------
//
// `FramePool` is the allocator of coroutine frames and tasks: small blocks of
// recurring sizes that are allocated and freed millions of times a second,
// mostly by the same thread.
//
//   void* operator new(size_t size) { return FramePool::Allocate(size); }
//   void operator delete(void* block, size_t size) {
//     FramePool::Free(block, size);
//   }

#ifndef ROUSE_BASE_FRAME_FRAME_POOL_H_
#define ROUSE_BASE_FRAME_FRAME_POOL_H_

#include <cstddef>
#include <new>

#include "absl/base/attributes.h"
#include "absl/base/config.h"
#include "rouse/base/frame/frame_size_classes.h"

namespace rouse {

// FramePool
//
// Every thread has a heap of its own, with a free list for each of 42 size
// classes. Allocating, and freeing on the same thread, therefore take a few
// instructions and touch no shared memory. A block freed on another thread goes
// home to its heap in a batch with other blocks of its class. (The scheme is
// that of Leijen, Zorn and de Moura, "Mimalloc: free list sharding in action",
// 2019, and of Liétar et al., "snmalloc: a message passing allocator", 2019,
// reduced to sized blocks.)
//
// All functions are thread-safe and may be called at any time, even while a
// thread or the process ends, but not in a signal handler. In a child of
// fork(2), no function may be called before exec(2), because a thread that does
// not exist in the child may hold a lock of the pool.
//
// # Bounds
//
// A heap grows by slabs of `kSlabSize`, each for blocks of one class. A slab
// without blocks in use serves any class: before a heap takes a new slab, the
// heap searches for such a slab among its own. When a thread ends, its heap
// keeps the slabs with blocks in use until the last of these blocks is freed. A
// thread holds back at most 64 batches, each of less than 32 blocks of one
// class of one other heap, until `FlushRemoteFrees()`, `OnIdle()` or the end of
// the thread.
//
// Memory that was not needed for a while goes back to the system within a
// second. A thread of the pool ("rouse-frames") returns the memory; the thread
// starts when there is work, and sleeps when there is none. The pool keeps up
// to 2 MiB for each thread, and 2 MiB in addition. Memory that a thread itself
// has freed is given back only after the thread's `OnIdle()`. A runtime's
// threads call `OnIdle()` whenever they park, and the runtime's `BlockOn()`
// calls it before returning.
//
// # Other allocators
//
// With `--define=rouse_frame_pool=malloc`, all blocks come from `operator new`,
// so that heap profilers see the blocks. The same is true under
// AddressSanitizer, which then finds a use of a block that was freed long ago.
// `kIsPooled` tells which allocator is in use.
class FramePool {
 public:
  // Larger blocks come from `operator new`.
  static constexpr size_t kMaxPooledSize = internal::FrameSizeClasses::kLargest;
  // Alignment of all blocks. Pooled blocks from 64 bytes to `kMaxPooledSize`
  // are aligned to 64.
  static constexpr size_t kAlignment = 16;
  static constexpr size_t kSlabSize = internal::kFrameSlabSize;
  static constexpr size_t kRemoteBatch = internal::kFrameRemoteBatch;
#if defined(ROUSE_MODEL) || defined(ROUSE_FRAME_POOL_SLABS)
  static constexpr bool kIsPooled = true;
#elif defined(ROUSE_FRAME_POOL_MALLOC) || defined(ABSL_HAVE_ADDRESS_SANITIZER)
  static constexpr bool kIsPooled = false;
#else
  static constexpr bool kIsPooled = true;
#endif

  FramePool() = delete;

  // Returns a block of `size` bytes. Throws `std::bad_alloc` (aborts without
  // exceptions) if there is no memory. O(1), amortized.
  ABSL_ATTRIBUTE_RETURNS_NONNULL static void* Allocate(size_t size) {
    if (!kIsPooled || size > kMaxPooledSize) return ::operator new(size);
    return AllocateOfClass(ClassOf(size));
  }

  // Frees a block that `Allocate(size)` returned, on any thread. O(1).
  static void Free(void* block, size_t size) noexcept {
    if (!kIsPooled || size > kMaxPooledSize) {
      return ::operator delete(block, size);
    }
    FreeOfClass(block, ClassOf(size));
  }

  // Sends home the blocks of other threads that this thread holds back.
  static void FlushRemoteFrees() noexcept;

  // A thread with nothing to do for now calls `OnIdle()` before sleeping. Calls
  // `FlushRemoteFrees()`, and lets the free memory of the thread's heap be
  // given back to the system if the memory is not needed for a while. The
  // thread may allocate and free afterwards as before. O(1).
  static void OnIdle() noexcept;

  // Gives memory back to the system now: the free memory of this thread's heap,
  // of the heaps of threads that have called `OnIdle()` and not used their free
  // memory since, and outside all heaps. Returns when that is done. O(free
  // blocks): 0.1 us for each block if the blocks were freed in about the order
  // of their allocation, and up to 0.8 us if in random order. A thread that
  // needs memory in the meantime waits for at most about 30 us.
  static void Trim() noexcept;

  // Returns the number of slabs that all heaps together have. For tests and
  // metrics.
  static size_t SlabsInUse();

  // Returns the number of bytes that the pool has from the system, in use or
  // free, without blocks larger than `kMaxPooledSize`. 0 if not `kIsPooled`.
  static size_t BytesHeld();

 private:
  // Returns the class of `size`: a compile-time constant if `size` is, as the
  // size of a frame is.
  static constexpr size_t ClassOf(size_t size) {
    return internal::kFrameSizeClasses.of[(size + 15) / 16];
  }

  // Not inlined, because these functions find the thread's heap: a coroutine
  // with an inlined copy might keep the address of the heap while the coroutine
  // moves to another thread.
  ABSL_ATTRIBUTE_NOINLINE ABSL_ATTRIBUTE_RETURNS_NONNULL static void*
  AllocateOfClass(size_t size_class);
  ABSL_ATTRIBUTE_NOINLINE static void FreeOfClass(void* block,
                                                  size_t size_class) noexcept;
};

}  // namespace rouse

#endif  // ROUSE_BASE_FRAME_FRAME_POOL_H_

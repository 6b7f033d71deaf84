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
// Every thread has a heap of its own, with a free list for each of 34 size
// classes, so that allocating, and freeing on the same thread, are a few
// instructions and touch no shared memory. A block freed on another thread goes
// home to its heap in a batch with others of its class. (The scheme is that of
// Leijen, Zorn and de Moura, "Mimalloc: free list sharding in action", 2019,
// and of Liétar et al., "snmalloc: a message passing allocator", 2019, cut down
// to sized blocks.)
//
// All functions are thread-safe and may be called at any time, also while a
// thread or the process ends, but not in a signal handler. In a child of
// fork(2) none may be called before exec(2): a lock of the pool may be held
// there by a thread that the child does not have.
//
// # Bounds
//
// A heap grows by slabs of `kSlabSize`, each for blocks of one class. A slab
// none of whose blocks is in use serves any class: before a heap takes a new
// one it looks for such a slab among its own. When a thread ends, its heap
// keeps the slabs that have blocks in use, until the last of those is freed. A
// thread holds back at most 64 batches, each of less than 32 blocks of one
// class of one other heap, until `FlushRemoteFrees()`, `OnIdle()` or its end.
//
// Memory that nobody has needed for a while goes back to the system within a
// second, on a thread of the pool's own ("rouse-frames"), which starts when
// there is something to do for it, and sleeps when there is not. The pool keeps
// up to 2 MiB for each thread, and 2 MiB besides. What a thread has freed
// itself is given back only after its `OnIdle()`, which a runtime's threads
// call whenever they park, and `BlockOn()` when it returns.
//
// # Other allocators
//
// With `--define=rouse_frame_pool=malloc` all blocks come from `operator new`,
// so that heap profilers see them. They do under AddressSanitizer too, which
// then finds a use of a block that was freed long ago. `kIsPooled` tells.
class FramePool {
 public:
  // Larger blocks come from `operator new`.
  static constexpr size_t kMaxPooledSize = internal::FrameSizeClasses::kLargest;
  // What all blocks are aligned to. Pooled ones from 64 bytes to
  // `kMaxPooledSize` are aligned to 64.
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

  // A block of `size` bytes. Throws `std::bad_alloc` (aborts without
  // exceptions) when there is no memory. O(1), amortized.
  ABSL_ATTRIBUTE_RETURNS_NONNULL static void* Allocate(size_t size) {
    if (!kIsPooled || size > kMaxPooledSize) return ::operator new(size);
    return AllocateOfClass(ClassOf(size));
  }

  // Frees what `Allocate(size)` returned, on any thread. O(1).
  static void Free(void* block, size_t size) noexcept {
    if (!kIsPooled || size > kMaxPooledSize) {
      return ::operator delete(block, size);
    }
    FreeOfClass(block, ClassOf(size));
  }

  // Sends the blocks of other threads that this one holds back home.
  static void FlushRemoteFrees() noexcept;

  // To be called by a thread that has nothing to do for now, before it sleeps:
  // does `FlushRemoteFrees()`, and lets what is free in the thread's heap be
  // given back to the system if it is not needed for a while. The thread may
  // allocate and free afterwards as before. O(1).
  static void OnIdle() noexcept;

  // Gives memory back to the system now: what is free in the heap of this
  // thread, in those of threads that have called `OnIdle()` and not used what
  // they had free since, and in none. Returns when that is done. O(free
  // blocks): 0.1 us each if they were freed in about the order in which they
  // were allocated, and up to 0.8 us if at random. A thread that needs memory
  // meanwhile waits for some 30 us at the most.
  static void Trim() noexcept;

  // How many slabs all heaps together have. For tests and metrics.
  static size_t SlabsInUse();

  // How many bytes of memory the pool has from the system, in use or free.
  // Without those of blocks larger than `kMaxPooledSize`. 0 if not `kIsPooled`.
  static size_t BytesHeld();

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

#endif  // ROUSE_BASE_FRAME_FRAME_POOL_H_

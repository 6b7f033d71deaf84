// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/frame/frame_depot.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include "absl/base/attributes.h"
#include "absl/base/config.h"
#include "rouse/base/frame/frame_size_classes.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/panic.h"  // IWYU pragma: keep
#include "rouse/base/thread_mutex.h"

namespace rouse::internal {

// Holds the depot's knowledge of a chunk, apart from the chunk, whose memory
// may have been given back.
struct FrameChunk : IntrusiveListNode<> {
  explicit FrameChunk(char* memory) : memory(memory) {}

  char* const memory;
  // A bit for each slab that is free, and for each free slab with memory behind
  // it.
  uint32_t free = 0;
  uint32_t dirty = 0;
};

namespace {

constexpr size_t kChunkSize = FrameDepot::kSlabsPerChunk * kFrameSlabSize;

// Throws `std::bad_alloc`, as `operator new` does.
[[noreturn]] void ThrowBadAlloc() {
#ifdef ABSL_HAVE_EXCEPTIONS
  throw std::bad_alloc();
#else
  Panic("FramePool: out of memory");
#endif
}

void* MapChunk() {
#ifdef ABSL_HAVE_LEAK_SANITIZER
  // The memory is on the ordinary heap, where the leak checker searches for
  // pointers.
  return ::operator new(kChunkSize, std::align_val_t{kFrameSlabSize});
#else
  // Maps more than needed and then cuts off the ends, because mmap aligns to
  // pages.
  constexpr size_t kSlack = kFrameSlabSize;
  void* mapped = mmap(nullptr, kChunkSize + kSlack, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) ThrowBadAlloc();
  char* begin = static_cast<char*>(mapped);
  const size_t head = -reinterpret_cast<uintptr_t>(begin) & (kSlack - 1);
  if (head > 0) munmap(begin, head);
  if (head < kSlack) munmap(begin + head + kChunkSize, kSlack - head);
  return begin + head;
#endif
}

void UnmapChunk(void* memory) {
#ifdef ABSL_HAVE_LEAK_SANITIZER
  UnpoisonFrame(memory, kChunkSize);
  ::operator delete(memory, std::align_val_t{kFrameSlabSize});
#else
  munmap(memory, kChunkSize);
#endif
}

// Gives back the memory behind the slabs of `mask`. Returns the slabs of `mask`
// whose memory was given back.
[[maybe_unused]] uint32_t Decommit(const FrameChunk& chunk, uint32_t mask) {
#ifdef ABSL_HAVE_LEAK_SANITIZER
  // The memory belongs to malloc.
  (void)chunk;
  (void)mask;
  return 0;
#else
  uint32_t gone = 0;
  while (mask != 0) {
    const int begin = std::countr_zero(mask);
    const int count = std::countr_one(mask >> begin);
    const uint32_t run = ((uint32_t{1} << count) - 1) << begin;
    mask &= ~run;
    if (madvise(chunk.memory + begin * kFrameSlabSize, count * kFrameSlabSize,
                MADV_DONTNEED) == 0) {
      gone |= run;
    }
  }
  return gone;
#endif
}

}  // namespace

FrameSlab* FrameDepot::Take(FrameHeap* heap, size_t size_class) {
  const ThreadMutexLock lock(&mu_);
  FrameChunk* chunk = dirty_.Front();
  if (chunk == nullptr) chunk = clean_.Front();
  if (chunk == nullptr) chunk = Grow();
  const bool is_dirty = chunk->dirty != 0;
  const int index = std::countr_zero(is_dirty ? chunk->dirty : chunk->free);
  const uint32_t bit = uint32_t{1} << index;
  chunk->free &= ~bit;
  chunk->dirty &= ~bit;
  if (is_dirty) {
    --dirty_count_;
    unneeded_ = std::min(unneeded_, dirty_count_);
  }
  if (chunk->dirty == 0) {
    chunk->Unlink();
    if (chunk->free != 0) clean_.PushFront(chunk);
  }
  ++in_use_;
  return new (chunk->memory + index * kFrameSlabSize)
      FrameSlab(heap, static_cast<uint32_t>(size_class), chunk);
}

bool FrameDepot::Give(FrameSlab* slab) noexcept {
  FrameChunk* const chunk = slab->chunk;
  slab->~FrameSlab();
  PoisonFrame(slab + 1, kFrameSlabSize - sizeof(FrameSlab));
  const size_t index =
      (reinterpret_cast<char*>(slab) - chunk->memory) / kFrameSlabSize;
  const ThreadMutexLock lock(&mu_);
  chunk->free |= uint32_t{1} << index;
  chunk->dirty |= uint32_t{1} << index;
  // Chunks that are wholly free are given back whole, if they are not needed.
  chunk->Unlink();
  if (chunk->free == kAllSlabs) {
    dirty_.PushBack(chunk);
  } else {
    dirty_.PushFront(chunk);
  }
  --in_use_;
  return ++dirty_count_ > kKeptSlabs;
}

bool FrameDepot::Age() noexcept {
  size_t unneeded;
  {
    const ThreadMutexLock lock(&mu_);
    unneeded = unneeded_;
  }
  // If the system does not take the memory, for example because memory is
  // locked, the next attempt comes with the next slab.
  const bool is_taken =
      unneeded <= kKeptSlabs || Release(unneeded - kKeptSlabs);
  const ThreadMutexLock lock(&mu_);
  unneeded_ = dirty_count_;
  return is_taken && dirty_count_ > kKeptSlabs;
}

void FrameDepot::ReleaseAll() noexcept { static_cast<void>(Release(SIZE_MAX)); }

bool FrameDepot::Release([[maybe_unused]] size_t slabs) noexcept {
#ifndef ROUSE_MODEL  // where an execution would find another's leftovers
  for (;;) {
    FrameChunk* chunk;
    bool is_free;
    {
      // Releases one chunk at a time: a thread that needs a slab waits for a
      // system call or two, and not for all.
      const ThreadMutexLock lock(&mu_);
      chunk = dirty_.Back();
      if (chunk == nullptr || slabs == 0) return true;
      const size_t count = std::popcount(chunk->dirty);
      is_free = chunk->free == kAllSlabs;
      chunk->Unlink();
      if (is_free) {
        dirty_count_ -= count;
      } else {
        const uint32_t gone = Decommit(*chunk, chunk->dirty);
        dirty_count_ -= std::popcount(gone);
        chunk->dirty &= ~gone;
        if (chunk->dirty != 0) {
          // The system does not take the memory, and would not take that of the
          // next chunk either.
          dirty_.PushFront(chunk);
          return false;
        }
        clean_.PushBack(chunk);
      }
      unneeded_ = std::min(unneeded_, dirty_count_);
      slabs -= std::min(slabs, count);
    }
    if (is_free) {
      UnmapChunk(chunk->memory);
      delete chunk;
    }
  }
#else
  return true;
#endif
}

#ifdef ROUSE_MODEL
void FrameDepot::StartOver() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (in_use_ == 0 && dirty_count_ <= kKeptSlabs) return;
  // The linked chunks are not touched.
  new (&dirty_) IntrusiveList<FrameChunk>();
  new (&clean_) IntrusiveList<FrameChunk>();
  in_use_ = dirty_count_ = unneeded_ = 0;
}
#endif

size_t FrameDepot::in_use() {
  const ThreadMutexLock lock(&mu_);
  return in_use_;
}

size_t FrameDepot::resident() {
  const ThreadMutexLock lock(&mu_);
  return in_use_ + dirty_count_;
}

FrameChunk* FrameDepot::Grow() {
  void* const memory = MapChunk();
  FrameChunk* chunk = new (std::nothrow) FrameChunk(static_cast<char*>(memory));
  if (chunk == nullptr) {
    UnmapChunk(memory);
    ThrowBadAlloc();
  }
  chunk->free = kAllSlabs;
  clean_.PushFront(chunk);
  return chunk;
}

FrameDepot& TheFrameDepot() {
  union Immortal {
    constexpr Immortal() : depot() {}
    ~Immortal() {}
    FrameDepot depot;
  };
  ABSL_CONST_INIT static Immortal immortal;
  return immortal.depot;
}

}  // namespace rouse::internal

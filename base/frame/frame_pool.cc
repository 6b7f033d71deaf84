// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/frame/frame_pool.h"

#include <cstddef>
#include <new>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/cleanup/cleanup.h"
#include "rouse/base/frame/frame_depot.h"
#include "rouse/base/frame/frame_heap.h"
#include "rouse/base/frame/frame_sweeper.h"
#include "rouse/base/thread_local.h"

namespace rouse {
namespace {

using internal::FrameBlock;
using internal::FrameHeap;
using internal::FrameSlab;
using internal::FrameSweeper;

// Returns the thread's heap. Null until the thread first allocates, and after
// the thread's end.
FrameHeap*& CurrentHeap() {
  return ThreadLocal<FrameHeap*, class CurrentHeapTag>::Get();
}

// Returns whether the thread's heap is retired and the thread is running its
// last destructors.
bool& HeapRetired() { return ThreadLocal<bool, class HeapRetiredTag>::Get(); }

struct RetireAtThreadExit {
  ~RetireAtThreadExit() {
    FrameHeap* heap = std::exchange(CurrentHeap(), nullptr);
    HeapRetired() = true;
    heap->Retire();
  }
};

// Returns the thread's heap, or null if the thread has no heap and cannot have
// one.
FrameHeap* CurrentOrNewHeap() {
  FrameHeap*& heap = CurrentHeap();
  if (heap == nullptr && !HeapRetired()) {
    heap = new (std::nothrow) FrameHeap;
    if (heap != nullptr)
      ThreadLocal<RetireAtThreadExit, class RetireTag>::Get();
  }
  return heap;
}

ABSL_ATTRIBUTE_NOINLINE void* AllocateSlow(size_t size_class) {
  if (FrameHeap* heap = CurrentOrNewHeap()) return heap->Refill(size_class);
  // The thread is running its last destructors, so this block gets a heap of
  // its own.
  FrameHeap* const heap = new FrameHeap;
  const absl::Cleanup retire = [heap] { heap->Retire(); };
  return heap->Refill(size_class);
}

// `noexcept` allows a jump to this function instead of a call.
ABSL_ATTRIBUTE_NOINLINE void FreeSlow(FrameBlock* block,
                                      size_t size_class) noexcept {
  FrameHeap* home = FrameSlab::Of(block)->heap.Read();
  if (FrameHeap* heap = CurrentOrNewHeap()) {
    heap->FreeRemote(home, block, size_class);
  } else {
    FrameBlock* chain = nullptr;
    internal::PushFrame(chain, block, size_class);
    home->Return(chain, 1);
  }
}

}  // namespace

void* FramePool::AllocateOfClass(size_t size_class) {
  if (FrameHeap* heap = CurrentHeap(); ABSL_PREDICT_TRUE(heap != nullptr)) {
    if (void* block = heap->Pop(size_class)) return block;
  }
  return AllocateSlow(size_class);
}

void FramePool::FreeOfClass(void* block, size_t size_class) noexcept {
  FrameHeap* heap = CurrentHeap();
  FrameBlock* freed = static_cast<FrameBlock*>(block);
  if (ABSL_PREDICT_TRUE(FrameSlab::Of(block)->heap.Read() == heap)) {
    heap->Push(freed, size_class);
  } else {
    FreeSlow(freed, size_class);
  }
}

void FramePool::FlushRemoteFrees() noexcept {
  if (FrameHeap* heap = CurrentHeap()) heap->FlushRemoteFrees();
}

void FramePool::OnIdle() noexcept {
  if (FrameHeap* heap = CurrentHeap()) heap->OnIdle();
}

void FramePool::Trim() noexcept {
  if (FrameHeap* heap = CurrentHeap()) heap->Trim();
  FrameSweeper& sweeper = internal::TheFrameSweeper();
  if (sweeper.Sweep(FrameSweeper::Kind::kAll)) sweeper.Notify();
}

size_t FramePool::SlabsInUse() { return internal::TheFrameDepot().in_use(); }

size_t FramePool::BytesHeld() {
  return internal::TheFrameDepot().resident() * kSlabSize;
}

}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/frame/frame_heap.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "rouse/base/frame/frame_depot.h"
#include "rouse/base/frame/frame_size_classes.h"
#include "rouse/base/frame/frame_sweeper.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/mutable_step.h"
#include "rouse/base/thread_mutex.h"

namespace rouse::internal {
namespace {

using Kind = FrameSweeper::Kind;

// Makes a chain of the blocks that begin with `first`.
FrameChain* MakeChain(FrameBlock* first, size_t size_class, uint32_t count) {
  UnpoisonFrame(first, sizeof(FrameChain));
  FrameChain* chain = static_cast<FrameChain*>(first);
  chain->size_class = static_cast<uint32_t>(size_class);
  chain->count = count;
  return chain;
}

}  // namespace

// ---- Allocating.

void* FrameHeap::Refill(size_t size_class) {
  if (FrameChain* chain = TakeChain(size_class); chain != nullptr) {
    free_[size_class] = chain;
    taken_back_ += chain->count;
    return Pop(size_class);
  }
  if (void* block = CutFresh(size_class); block != nullptr) return block;
  return RefillFromSlabs(size_class);
}

void* FrameHeap::CutFresh(size_t size_class) {
  const size_t size = kFrameSizeClasses.size[size_class];
  Fresh& fresh = fresh_[size_class];
  if (static_cast<size_t>(fresh.end - fresh.begin) < size) return nullptr;
  void* block = fresh.begin;
  fresh.begin += size;
  ++given_out_;
  UnpoisonFrame(block, size);
  return block;
}

void* FrameHeap::RefillFromSlabs(size_t size_class) {
  bool grown;
  {
    const ThreadMutexLock lock(&mu_);
    FinishFresh(size_class);
    Distribute(kStepChains);
    if (TakeBack(size_class)) return Pop(size_class);
    // Memory of other classes is used before new memory.
    HandOver();
    const uint32_t slabs = slab_count_;
    for (size_t bytes = 0; bytes < kGrowthBytes; bytes += kStepBytes) {
      if (!Sort(kStepBytes, Kind::kAll) || slab_count_ < slabs) break;
    }
    FrameSlab* slab = TheFrameDepot().Take(this, size_class);
    Fresh& fresh = fresh_[size_class];
    fresh.begin = reinterpret_cast<char*>(slab + 1);
    fresh.end = reinterpret_cast<char*>(slab) + kFrameSlabSize;
    PoisonFrame(fresh.begin, fresh.end - fresh.begin);
    grown = ++slab_count_ >= kSweptSlabs;
  }
  if (grown && !has_sweeps_.Read()) {
    has_sweeps_.Write() = true;  // once, because sweeps read the flag
    TheFrameSweeper().Add(this);
  }
  return CutFresh(size_class);
}

FrameChain* FrameHeap::TakeChain(size_t size_class) {
  if (FrameChain* chain = chains_[size_class]; chain != nullptr) {
    chains_[size_class] = chain->next_chain.Read();
    return chain;
  }
  while (arrived_ != nullptr || Receive()) {
    FrameChain* chain = arrived_;
    arrived_ = chain->next_chain.Read();
    // Prefetches the next chain long before it is needed: the blocks of this
    // chain are used first.
    __builtin_prefetch(arrived_, 1);
    if (chain->size_class == size_class) return chain;
    chain->next_chain.Write() = chains_[chain->size_class];
    chains_[chain->size_class] = chain;
  }
  return nullptr;
}

bool FrameHeap::Receive() {
  // There is nothing to order: the exchange below provides the order.
  FrameChain* const chains = remote_.load(std::memory_order_relaxed);
  if (chains == nullptr || chains == Watch()) return false;
  // A sweep is due, and will put `Watch()` back: the thread that pushed onto
  // `Watch()` has notified the sweeper. Acquire pairs with the release of
  // Return.
  arrived_ = remote_.exchange(nullptr, std::memory_order_acquire);
  if (arrived_ == Watch()) {
    // That sweep came between the two steps, so the sweeper would not be
    // notified of chains that are pushed from now on.
    arrived_ = nullptr;
    TheFrameSweeper().Notify();
  }
  return arrived_ != nullptr;
}

bool FrameHeap::TakeBack(size_t size_class) {
  FrameBlock*& free = free_[size_class];
  for (FrameChainStack* stack : {&young_[size_class], &old_[size_class]}) {
    FrameChain* const chain = stack->Pop();
    if (chain == nullptr) continue;
    free = chain;
    taken_back_ += chain->count;
    if (chain->count == 0) {
      FrameBlock* const rest = CutFrom(chain, size_class);
      if (rest != nullptr) stack->Push(MakeChain(rest, size_class, 0));
    }
    return true;
  }
  if (sorting_ != nullptr && sorting_class_ == size_class) {
    free = sorting_;
    sorting_ = CutFrom(sorting_, size_class);
    return true;
  }
  FrameSlab* const slab = slabs_[size_class].Front();
  if (slab == nullptr || slab->free.Read() == nullptr) return false;
  free = std::exchange(slab->free.Write(), nullptr);
  slab->free_count = 0;
  slab->Unlink();
  slabs_[size_class].PushBack(slab);
  return true;
}

FrameBlock* FrameHeap::CutFrom(FrameBlock* list, size_t size_class) {
  FrameBlock* last = list;
  for (size_t count = 1;; ++count) {
    UnpoisonFrame(last, sizeof(FrameBlock));
    FrameBlock*& next = last->next.Write();
    if (count == cut_ || next == nullptr) {
      cut_ = std::min(2 * cut_, kLastCut);
      FrameBlock* const rest = std::exchange(next, nullptr);
      PoisonFrame(last, kFrameSizeClasses.size[size_class]);
      return rest;
    }
    last = next;
  }
}

// ---- Freeing.

size_t FrameHeap::Batch::IndexOf([[maybe_unused]] const FrameHeap* home,
                                 size_t size_class) {
  static_assert(kClassCount <= kCount);
#ifdef ROUSE_MODEL
  // No execution may depend on an address, and the homes must share a place.
  return size_class % kCount;
#else
  const uint64_t hash =
      reinterpret_cast<uintptr_t>(home) * uint64_t{0x9E3779B97F4A7C15};
  return ((hash >> 32) + size_class) % kCount;
#endif
}

void FrameHeap::Batch::Send() {
  if (count > 0) home->Return(first, count);
  *this = Batch();
}

void FrameHeap::FreeRemote(FrameHeap* home, FrameBlock* block,
                           size_t size_class) {
  const size_t index = Batch::IndexOf(home, size_class);
  Batch& batch = batches_[index];
  if (batch.home != home) {
    ROUSE_MUTABLE_CALL(batch.Send());
    batch = Batch{.home = home};
  }
  PushFrame(batch.first, block, size_class);
  unsent_ |= uint64_t{1} << index;
  if (++batch.count == kFrameRemoteBatch) batch.Send();
}

void FrameHeap::FlushRemoteFrees() {
  // Called before every park, mostly without any batches to send.
  for (uint64_t unsent = std::exchange(unsent_, 0); unsent != 0;
       unsent &= unsent - 1) {
    batches_[std::countr_zero(unsent)].Send();
  }
}

void FrameHeap::Return(FrameBlock* first, uint32_t count) {
  FrameChain* chain = MakeChain(first, FrameSlab::Of(first)->size_class, count);
  FrameChain* head = remote_.load(std::memory_order_relaxed);
  do {
    chain->next_chain.Write() = head == Watch() ? nullptr : head;
    // Release pairs with the acquires of Receive and ReceiveForSweep, which
    // read the links. The last use of the blocks comes before their next use.
  } while (!remote_.compare_exchange_weak(
      head, chain, std::memory_order_release, std::memory_order_relaxed));
  if (head == Watch()) ROUSE_MUTABLE_CALL(TheFrameSweeper().Notify());
  // Ordered as in Retire.
  if (MutableCondition(balance_.fetch_sub(count, std::memory_order_acq_rel) ==
                       count)) {
    delete this;
  }
}

// ---- Giving back.

void FrameHeap::OnIdle() {
  FlushRemoteFrees();
  if (!has_sweeps_.Read()) return;
  const ThreadMutexLock lock(&mu_);
  if (slab_count_ < kSweptSlabs) return;
  cut_ = kFirstCut;
  if (HandOver()) TheFrameSweeper().NotifyLocked();
}

bool FrameHeap::HandOver() {
  bool any = arrived_ != nullptr;
  received_.PushList(std::exchange(arrived_, nullptr));
  for (size_t c = 0; c < kClassCount; ++c) {
    if (free_[c] != nullptr) {
      young_[c].Push(MakeChain(std::exchange(free_[c], nullptr), c, 0));
      any = true;
    }
    if (chains_[c] != nullptr) {
      young_[c].PushList(std::exchange(chains_[c], nullptr));
      any = true;
    }
  }
  return any;
}

void FrameHeap::ReceiveForSweep(FrameChain* empty) {
  // Acquire as in Receive.
  FrameChain* const chains = remote_.exchange(empty, std::memory_order_acquire);
  if (chains != Watch()) received_.PushList(chains);
}

bool FrameHeap::Distribute(size_t chains) {
  while (!received_.IsEmpty()) {
    if (chains-- == 0) return true;
    FrameChain* const chain = received_.Pop();
    young_[chain->size_class].Push(chain);
  }
  return false;
}

bool FrameHeap::Sort(size_t bytes, Kind kind) {
  size_t sorted = 0;
  while (sorted < bytes) {
    if (sorting_ == nullptr && !NextToSort(kind)) return false;
    FrameBlock* const block = sorting_;
    UnpoisonFrame(block, sizeof(FrameBlock));
    sorting_ = block->next.Read();
    FrameSlab* const slab = FrameSlab::Of(block);
    PushFrame(slab->free.Write(), block, sorting_class_);
    sorted += kFrameSizeClasses.size[sorting_class_];
    // More blocks may be cut from a fresh slab.
    const bool is_first = slab->free_count++ == 0;
    if (slab->cut == 0) continue;
    if (is_first) {
      // TakeBack checks only the first slab.
      slab->Unlink();
      slabs_[sorting_class_].PushFront(slab);
    }
    GiveIfFree(slab);
  }
  return true;
}

bool FrameHeap::NextToSort(Kind kind) {
  for (size_t c = 0; c < kClassCount; ++c) {
    FrameChain* chain = old_[c].Pop();
    if (chain == nullptr && kind == Kind::kAll) chain = young_[c].Pop();
    if (chain == nullptr) continue;
    sorting_ = chain;
    sorting_class_ = c;
    sorted_ += chain->count;
    return true;
  }
  return false;
}

void FrameHeap::GiveIfFree(FrameSlab* slab) {
  if (slab->free_count < slab->cut) return;
  slab->Unlink();
  sorted_ -= slab->cut;
  --slab_count_;
  if (TheFrameDepot().Give(slab)) TheFrameSweeper().NotifyLocked();
}

FrameSlab* FrameHeap::Fresh::slab() const {
  return reinterpret_cast<FrameSlab*>(end - kFrameSlabSize);
}

uint32_t FrameHeap::Fresh::CutOfClass(size_t size_class) const {
  return static_cast<uint32_t>((begin - reinterpret_cast<char*>(slab() + 1)) /
                               kFrameSizeClasses.size[size_class]);
}

void FrameHeap::FinishFresh(size_t size_class) {
  const Fresh fresh = std::exchange(fresh_[size_class], Fresh());
  if (fresh.end == nullptr) return;
  FrameSlab* const slab = fresh.slab();
  slab->cut = fresh.CutOfClass(size_class);
  if (slab->free_count > 0) {
    slabs_[size_class].PushFront(slab);
  } else {
    slabs_[size_class].PushBack(slab);
  }
  GiveIfFree(slab);
}

void FrameHeap::FinishFreeSlabs() {
  for (size_t c = 0; c < kClassCount; ++c) {
    const Fresh& fresh = fresh_[c];
    if (fresh.end == nullptr) continue;
    if (fresh.slab()->free_count == fresh.CutOfClass(c)) FinishFresh(c);
  }
}

bool FrameHeap::SweepStep(Kind kind) noexcept {
  const ThreadMutexLock lock(&mu_);
  if (kind == Kind::kAging && !has_aged_ && Sort(kStepBytes, kind)) return true;
  if (!has_aged_) {
    has_aged_ = true;
    if (kind == Kind::kAging) {
      for (size_t c = 0; c < kClassCount; ++c) std::swap(young_[c], old_[c]);
    }
    ReceiveForSweep(has_sweeps_.Read() ? Watch() : nullptr);
  }
  if (Distribute(kStepChains)) return true;
  if (kind == Kind::kAll && Sort(kStepBytes, kind)) return true;
  has_aged_ = false;
  return false;
}

bool FrameHeap::HasMore() noexcept {
  const ThreadMutexLock lock(&mu_);
  const auto has = [](const FrameChainStack& stack) {
    return !stack.IsEmpty();
  };
  return sorting_ != nullptr || has(received_) ||
         std::any_of(young_.begin(), young_.end(), has) ||
         std::any_of(old_.begin(), old_.end(), has);
}

void FrameHeap::Trim() {
  FlushRemoteFrees();
  {
    const ThreadMutexLock lock(&mu_);
    HandOver();
  }
  while (SweepStep(Kind::kAll)) {
  }
  const ThreadMutexLock lock(&mu_);
  FinishFreeSlabs();
}

bool FrameHeap::RetireStep() {
  const ThreadMutexLock lock(&mu_);
  return Distribute(kStepChains) || Sort(kStepBytes, Kind::kAll);
}

void FrameHeap::Retire() {
  FlushRemoteFrees();
  int64_t change;
  {
    const ThreadMutexLock lock(&mu_);
    HandOver();
    // Chains that other threads send from now on are swept, or wait for the
    // last block.
    ReceiveForSweep(has_sweeps_.Read() ? Watch() : nullptr);
    for (size_t c = 0; c < kClassCount; ++c) FinishFresh(c);
  }
  // Works in steps, because a sweep waits for the lock, and other threads wait
  // for the sweep.
  while (RetireStep()) {
  }
  {
    const ThreadMutexLock lock(&mu_);
    int64_t free = 0;
    for (IntrusiveList<FrameSlab>& slabs : slabs_) {
      slabs.ForEach([&free](FrameSlab* slab) { free += slab->free_count; });
    }
    // The number of blocks that the heap has given out, minus the number that
    // it has got back. These blocks are in use, or have come back remotely,
    // which the balance counts. The heap has not got back the chains that
    // nobody has taken.
    change = given_out_ + taken_back_ + sorted_ - free;
  }
  // Release pairs with the acquire of a remote free that comes last and deletes
  // the memory that this thread has written. Acquire pairs the other way round.
  if (MutableCondition(balance_.fetch_add(change, std::memory_order_acq_rel) ==
                       -change)) {
    delete this;
  }
}

FrameHeap::~FrameHeap() {
  if (has_sweeps_.Read()) TheFrameSweeper().Remove(this);
  bool has_more = false;
  {
    const ThreadMutexLock lock(&mu_);
    for (IntrusiveList<FrameSlab>& slabs : slabs_) {
      while (FrameSlab* slab = slabs.PopFront()) {
        has_more |= TheFrameDepot().Give(slab);
      }
    }
  }
  if (has_more) TheFrameSweeper().Notify();
}

}  // namespace rouse::internal

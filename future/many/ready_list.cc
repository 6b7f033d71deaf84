// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/many/ready_list.h"

#include <atomic>
#include <cstdint>

#include "absl/cleanup/cleanup.h"
#include "rouse/base/mutable_step.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {
namespace {

ReadyEntry* From(void* data) { return static_cast<ReadyEntry*>(data); }

}  // namespace

ReadyEntry* ReadyList::Closed() {
  return reinterpret_cast<ReadyEntry*>(uintptr_t{1});
}

void ReadyList::Ref() {
  // Relaxed: the caller has a reference.
  references_.fetch_add(1, std::memory_order_relaxed);
}

void ReadyList::Unref() {
  // Release pairs with the acquire of the last drop: use comes before delete.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void ReadyList::MarkReady(ReadyEntry* entry) {
  if (Push(entry)) {
    ROUSE_MUTABLE_CALL(waker_.Wake());
  }
}

bool ReadyList::Push(ReadyEntry* entry) {
  // Release, even if the exchange changes nothing, pairs with the acquire of
  // Rearm: the poll that follows sees everything before this wake. Acquire
  // pairs with the release of Rearm: `next_` has been read.
  if (MutableCondition(
          entry->queued_.exchange(true, std::memory_order_acq_rel))) {
    return false;
  }
  // Relaxed: the exchange below orders.
  ReadyEntry* first = pushed_.load(std::memory_order_relaxed);
  do {
    if (MutableCondition(first == Closed())) return false;
    entry->next_.Write() = first;
    // Release pairs with the acquire of Pop: the entry, and everything before
    // this wake, are visible.
  } while (!pushed_.compare_exchange_weak(
      first, entry, std::memory_order_release, std::memory_order_relaxed));
  return true;
}

ReadyEntry* ReadyList::Pop() {
  if (popped_ == nullptr) {
    // Relaxed: an entry that comes too late for this load wakes the owner.
    if (pushed_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    // Acquire pairs with the releases of Push.
    ReadyEntry* entry = pushed_.exchange(nullptr, std::memory_order_acquire);
    while (entry != nullptr) {
      ReadyEntry* const next = entry->next_.Read();
      entry->next_.Write() = popped_;
      popped_ = entry;
      entry = next;
    }
  }
  ReadyEntry* const entry = popped_;
  popped_ = entry->next_.Read();
  return entry;
}

void ReadyList::PutBack(ReadyEntry* entry) {
  entry->next_.Write() = popped_;
  popped_ = entry;
}

void ReadyList::Rearm(ReadyEntry* entry) {
  // Release and acquire pair with those of Push.
  entry->queued_.exchange(false, std::memory_order_acq_rel);
}

bool ReadyList::Retire(ReadyEntry* entry) {
  // Relaxed: a wake that comes later does nothing, and the thread of a wake
  // that came earlier still uses the entry, so nothing is handed over.
  return !entry->queued_.exchange(true, std::memory_order_relaxed);
}

void ReadyList::Close() {
  // Relaxed: the entries in the list are not accessed.
  pushed_.store(Closed(), std::memory_order_relaxed);
  popped_ = nullptr;
}

void ReadyEntry::Ref() {
  // Relaxed: the caller has a reference.
  references_.fetch_add(1, std::memory_order_relaxed);
}

void ReadyEntry::Unref() {
  // Release pairs with the acquire of the last drop: use comes before delete.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

RawWaker ReadyEntry::raw_waker() {
  static constexpr RawWakerVTable kVTable = {
      // clone
      [](void* data) {
        From(data)->Ref();
        return From(data)->raw_waker();
      },
      // wake
      [](void* data) {
        // Dropped even if the owner's waker throws.
        const absl::Cleanup unref = [data] { From(data)->Unref(); };
        From(data)->list_->MarkReady(From(data));
      },
      // wake_by_ref
      [](void* data) { From(data)->list_->MarkReady(From(data)); },
      // drop
      [](void* data) { From(data)->Unref(); },
  };
  return {this, &kVTable};
}

}  // namespace rouse::internal

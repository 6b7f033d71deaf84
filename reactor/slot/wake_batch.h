// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: wake_batch.h
// -----------------------------------------------------------------------------
//
// A `WakeList` for a loop that must reach its end: a throwing waker must not
// prevent the loop from finding the remaining tasks.

#ifndef ROUSE_REACTOR_SLOT_WAKE_BATCH_H_
#define ROUSE_REACTOR_SLOT_WAKE_BATCH_H_

#include <cstddef>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/base/first_exception.h"
#include "rouse/waker/wake_list.h"
#include "rouse/waker/waker.h"

namespace rouse::reactor::internal {

// WakeBatch
//
// Not thread-safe. `Finish()` must be called last; wakers left without a call
// of `Finish()` are dropped.
class WakeBatch {
 public:
#ifdef ROUSE_MODEL
  // Small enough to become full in a model.
  static constexpr size_t kCapacity = 2;
#else
  static constexpr size_t kCapacity = WakeList::kCapacity;
#endif

  bool IsFull() const { return list_.size() == kCapacity; }

  // Adds a waker. REQUIRES: not full.
  void Push(Waker waker) { list_.Push(std::move(waker)); }

  // Calls a waker, of which the caller gives up its reference, without adding
  // the waker. Must not be called under a lock. Does not throw.
  ABSL_ATTRIBUTE_ALWAYS_INLINE void Wake(const RawWaker& waker) {
    first_.Catch([&waker] { waker.vtable->wake(waker.data); });
  }

  // Calls all added wakers, like `WakeAll()`, unless `count` more fit.
  void MakeRoom(size_t count) {
    if (list_.size() + count > kCapacity) WakeAll();
  }

  // Calls all added wakers. Must not be called under a lock. Does not throw.
  void WakeAll() {
    if (list_.IsEmpty()) return;
    first_.Catch([this] { list_.WakeAll(); });
  }

  // Calls all added wakers, then rethrows the first exception of any waker.
  void Finish() {
    WakeAll();
    first_.Rethrow();
  }

 private:
  WakeList list_;
  FirstException first_;
};

}  // namespace rouse::reactor::internal

#endif  // ROUSE_REACTOR_SLOT_WAKE_BATCH_H_

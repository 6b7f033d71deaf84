// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: wake_batch.h
// -----------------------------------------------------------------------------
//
// A `WakeList` for a loop that has to reach its end: a waker that throws must
// not keep the tasks behind it from being found.

#ifndef ROUSE_REACTOR_SLOT_WAKE_BATCH_H_
#define ROUSE_REACTOR_SLOT_WAKE_BATCH_H_

#include <cstddef>
#include <exception>
#include <utility>

#include "rouse/base/exceptions.h"
#include "rouse/waker/wake_list.h"
#include "rouse/waker/waker.h"

namespace rouse::reactor::internal {

// WakeBatch
//
// Not thread-safe. `Finish()` comes last; wakers that are left without it are
// dropped.
class WakeBatch {
 public:
#ifdef ROUSE_MODEL
  // So few that it is full in a model too.
  static constexpr size_t kCapacity = 2;
#else
  static constexpr size_t kCapacity = WakeList::kCapacity;
#endif

  bool IsFull() const { return size_ == kCapacity; }

  // REQUIRES: not full.
  void Push(Waker waker) {
    list_.Push(std::move(waker));
    ++size_;
  }

  // Wakes what has been pushed unless `count` more fit. As `WakeAll()`.
  void MakeRoom(size_t count) {
    if (size_ + count > kCapacity) WakeAll();
  }

  // Wakes what has been pushed. Not under a lock. Does not throw.
  void WakeAll() {
    if (size_ == 0) return;
    size_ = 0;
    ROUSE_TRY { list_.WakeAll(); }
    ROUSE_CATCH_ALL {
      if (first_ == nullptr) first_ = std::current_exception();
    }
  }

  // Wakes what has been pushed, then throws what a waker threw first.
  void Finish() {
    WakeAll();
    if (first_ != nullptr) std::rethrow_exception(std::move(first_));
  }

 private:
  WakeList list_;
  size_t size_ = 0;
  std::exception_ptr first_;
};

}  // namespace rouse::reactor::internal

#endif  // ROUSE_REACTOR_SLOT_WAKE_BATCH_H_

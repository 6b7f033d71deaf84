// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: wake_list.h
// -----------------------------------------------------------------------------
//
// `WakeList` carries wakers out of a critical section. No waker may be called
// under a lock, because the called code may try to take the same lock.
//
//   WakeList woken;
//   mu.Lock();
//   while (Waiter* waiter = waiters.PopFront()) {
//     woken.Push(std::move(waiter->waker));
//     if (woken.IsFull()) {
//       mu.Unlock();
//       woken.WakeAll();
//       mu.Lock();
//     }
//   }
//   mu.Unlock();
//   woken.WakeAll();

#ifndef ROUSE_WAKER_WAKE_LIST_H_
#define ROUSE_WAKER_WAKE_LIST_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/base/macros.h"
#include "rouse/waker/waker.h"

namespace rouse {

// WakeList
//
// Holds up to `kCapacity` wakers, without allocation. Wakers that were not
// woken are dropped with the list. Not thread-safe.
class WakeList {
 public:
  static constexpr size_t kCapacity = 32;

  WakeList() {}
  WakeList(const WakeList&) = delete;
  WakeList& operator=(const WakeList&) = delete;
  ~WakeList() { std::destroy_n(wakers_, size_); }

  // Returns the number of wakers that were not woken yet.
  size_t size() const { return size_; }
  // Returns whether the list has room for no further waker, or has no waker.
  bool IsFull() const { return size_ == kCapacity; }
  bool IsEmpty() const { return size_ == 0; }

  // REQUIRES: the list is not full.
  void Push(Waker waker) {
    ABSL_ASSERT(!IsFull());
    std::construct_at(&wakers_[size_++], std::move(waker));
  }

  // Wakes all wakers, first in first out, and leaves the list empty. A waker
  // that throws does not keep other tasks asleep: all wakers are called, and
  // then the first exception is passed on.
  void WakeAll();

 private:
  size_t size_ = 0;
  // The array is in a union so that a short list costs little: only the first
  // `size_` wakers exist.
  union {
    Waker wakers_[kCapacity];
  };
};

}  // namespace rouse

#endif  // ROUSE_WAKER_WAKE_LIST_H_

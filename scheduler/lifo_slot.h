// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: lifo_slot.h
// -----------------------------------------------------------------------------
//
// The task that a worker runs next. Internal to the scheduler.
//
// What a task wakes runs best right after it, on the same processor, while what
// it was told is in the cache. So the last one that was woken waits in this
// slot, ahead of the queue.
//
// Others do not steal from it, or they would take just what is best kept, a few
// hundred nanoseconds before its turn (tokio #8065). But then a task would wait
// in the slot of a worker that is stuck in a long poll, although others sleep
// (tokio #4941). For that the watchdog may take it out.
//
//   who        does    from            to
//   owner      Put     null | task     another task; what was there is given
//                                      back
//   owner      Take    task            null
//   watchdog   Take    task            null
//
// Only the owner makes a slot full. So what the owner finds empty stays empty,
// and costs no read-modify-write; from what it finds full, either one of the
// two takes the task, by an exchange.

#ifndef ROUSE_SCHEDULER_LIFO_SLOT_H_
#define ROUSE_SCHEDULER_LIFO_SLOT_H_

#include <atomic>

#include "rouse/base/atomic.h"

namespace rouse::scheduler {

template <class T>
class LifoSlot {
 public:
  LifoSlot() = default;
  LifoSlot(const LifoSlot&) = delete;
  LifoSlot& operator=(const LifoSlot&) = delete;

  // For the owner. Returns what had been there, or null.
  T* Put(T* element) {
    // Relaxed: as long as it is empty nobody else writes.
    if (slot_.load(std::memory_order_relaxed) == nullptr) {
      // Release pairs with the acquire of Take.
      slot_.store(element, std::memory_order_release);
      return nullptr;
    }
    // The same; what comes back was put there by this thread.
    return slot_.exchange(element, std::memory_order_release);
  }

  // For the owner and one other.
  T* Take() {
    // Relaxed: null is null, and the exchange is what counts.
    if (slot_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    // Acquire pairs with the release of Put: what the task was told is visible.
    return slot_.exchange(nullptr, std::memory_order_acquire);
  }

  // For any thread.
  bool IsEmpty() const {
    // Nothing to order: it is out of date in any case.
    return slot_.load(std::memory_order_relaxed) == nullptr;
  }

 private:
  Atomic<T*> slot_{nullptr};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_LIFO_SLOT_H_

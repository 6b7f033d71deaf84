// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: run_queue.h
// -----------------------------------------------------------------------------
//
// A queue of runnable tasks. Internal to the scheduler.

#ifndef ROUSE_SCHEDULER_QUEUE_RUN_QUEUE_H_
#define ROUSE_SCHEDULER_QUEUE_RUN_QUEUE_H_

#include "rouse/base/cxx20.h"

#include <utility>

namespace rouse::scheduler {

// RunQueue
//
// A first-in, first-out queue, linked by `T::next_in_queue`. Owns no elements.
// Not thread-safe. All operations are O(1).
template <class T>
class RunQueue {
 public:
  bool IsEmpty() const { return first_ == nullptr; }

  void Push(T* element) {
    element->next_in_queue = nullptr;
    (first_ == nullptr ? first_ : last_->next_in_queue) = element;
    last_ = element;
  }

  // Removes and returns the element that has waited longest, or null.
  T* Pop() {
    T* element = first_;
    if (element != nullptr) first_ = element->next_in_queue;
    return element;
  }

  // Moves all elements of `other` to the end of this queue.
  void Append(RunQueue& other) {
    if (other.IsEmpty()) return;
    T* first = std::exchange(other.first_, nullptr);
    (first_ == nullptr ? first_ : last_->next_in_queue) = first;
    last_ = other.last_;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_QUEUE_RUN_QUEUE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: run_stack.h
// -----------------------------------------------------------------------------
//
// A stack of runnable tasks, whose oldest element can be removed, too. Internal
// to the scheduler.

#ifndef ROUSE_SCHEDULER_QUEUE_RUN_STACK_H_
#define ROUSE_SCHEDULER_QUEUE_RUN_STACK_H_

#include "rouse/base/cxx20.h"

namespace rouse::scheduler {

// RunStack
//
// Linked by `T::next_in_queue` to the next older element, and by
// `T::previous_in_queue` to the next newer element. Owns no elements. Not
// thread-safe. All operations are O(1).
template <class T>
class RunStack {
 public:
  bool IsEmpty() const { return newest_ == nullptr; }

  void Push(T* element) {
    element->next_in_queue = newest_;
    element->previous_in_queue = nullptr;
    (newest_ == nullptr ? oldest_ : newest_->previous_in_queue) = element;
    newest_ = element;
  }

  // Removes and returns the newest element, or null. `PopOldest()` does the
  // same for the oldest.
  T* PopNewest() {
    T* const element = newest_;
    if (element == nullptr) return nullptr;
    newest_ = element->next_in_queue;
    (newest_ == nullptr ? oldest_ : newest_->previous_in_queue) = nullptr;
    return element;
  }
  T* PopOldest() {
    T* const element = oldest_;
    if (element == nullptr) return nullptr;
    oldest_ = element->previous_in_queue;
    (oldest_ == nullptr ? newest_ : oldest_->next_in_queue) = nullptr;
    return element;
  }

 private:
  T* newest_ = nullptr;
  T* oldest_ = nullptr;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_QUEUE_RUN_STACK_H_

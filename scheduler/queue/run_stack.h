// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: run_stack.h
// -----------------------------------------------------------------------------
//
// A stack of tasks that are to be run, which can be taken from at its other end
// too. Internal to the scheduler.

#ifndef ROUSE_SCHEDULER_QUEUE_RUN_STACK_H_
#define ROUSE_SCHEDULER_QUEUE_RUN_STACK_H_

namespace rouse::scheduler {

// RunStack
//
// Through `T::next_in_queue`, to the next older one, and
// `T::previous_in_queue`, to the next newer one; owns nothing. Not thread-safe.
// All operations are O(1).
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

  // Null if there is none.
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

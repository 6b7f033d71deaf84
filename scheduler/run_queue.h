// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: run_queue.h
// -----------------------------------------------------------------------------
//
// A queue of tasks that are to be run. Internal to the scheduler.

#ifndef ROUSE_SCHEDULER_RUN_QUEUE_H_
#define ROUSE_SCHEDULER_RUN_QUEUE_H_

#include <utility>

#include "rouse/scheduler/task/task.h"

namespace rouse::scheduler {

// RunQueue
//
// First in, first out, through `Header::next_in_queue`; owns a reference to
// each task. Not thread-safe. All operations are O(1).
class RunQueue {
 public:
  bool IsEmpty() const { return first_ == nullptr; }

  void Push(task::Header* task) {
    task->next_in_queue = nullptr;
    (first_ == nullptr ? first_ : last_->next_in_queue) = task;
    last_ = task;
  }

  // The one that has waited longest, or null.
  task::Header* Pop() {
    task::Header* task = first_;
    if (task != nullptr) first_ = task->next_in_queue;
    return task;
  }

  // Moves all that is in `other` behind what is here.
  void Append(RunQueue& other) {
    if (other.IsEmpty()) return;
    task::Header* first = std::exchange(other.first_, nullptr);
    (first_ == nullptr ? first_ : last_->next_in_queue) = first;
    last_ = other.last_;
  }

 private:
  task::Header* first_ = nullptr;
  task::Header* last_ = nullptr;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_RUN_QUEUE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: abort_handle.h
// -----------------------------------------------------------------------------
//
// An `AbortHandle` can end a task without joining the task:
//
//   rouse::JoinHandle<std::string> page = rouse::Spawn(Fetch(url));
//   on_disconnect = [abort = page.abort_handle()] { abort.Abort(); };
//   absl::StatusOr<std::string> result = co_await page;

#ifndef ROUSE_SCHEDULER_TASK_ABORT_HANDLE_H_
#define ROUSE_SCHEDULER_TASK_ABORT_HANDLE_H_

#include <utility>

#include "rouse/scheduler/task/task.h"
#include "rouse/waker/task_id.h"

namespace rouse {

// AbortHandle
//
// Made by `JoinHandle::abort_handle()`, in any number. Dropping the handle does
// nothing to the task. The handle keeps the memory of the task, but not the
// future and, once the `JoinHandle` is destroyed, not the output.
//
// As thread-safe as an `int`: const functions of one handle, and all functions
// of different copies, may run concurrently. Copying and destroying a handle
// are O(1), and do not allocate.
class AbortHandle {
 public:
  // For the scheduler. Adds a reference for the handle; null means a task that
  // has ended.
  explicit AbortHandle(task::Header* task, TaskId id) : task_(task), id_(id) {
    if (task_ != nullptr) task_->state.Ref();
  }
  AbortHandle(const AbortHandle& other) : AbortHandle(other.task_, other.id_) {}
  AbortHandle(AbortHandle&& other) noexcept
      : task_(std::exchange(other.task_, nullptr)), id_(other.id_) {}
  AbortHandle& operator=(AbortHandle other) noexcept {
    std::swap(task_, other.task_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~AbortHandle() {
    if (task_ != nullptr) task::Unref(task_);
  }

  // Requests the cancellation of the task, like `JoinHandle::Abort()`. The task
  // ends at its next suspension, or immediately if it is suspended, on a thread
  // of its runtime and never inside this call. Joining the task then gives
  // `kCancelled`, unless the task completed first. Does nothing to a task that
  // has ended, or the second time. O(1); never blocks.
  void Abort() const {
    if (task_ != nullptr) task::Abort(task_);
  }

  // Returns whether the task has ended: its future is destroyed, and a join
  // would not wait. Returns true for a handle that was moved from.
  bool IsFinished() const {
    return task_ == nullptr || task_->state.IsComplete();
  }

  // Returns the task's id, which is available as long as the handle exists.
  TaskId id() const { return id_; }

 private:
  task::Header* task_;
  TaskId id_;
};

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_TASK_ABORT_HANDLE_H_

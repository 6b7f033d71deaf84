// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: abort_handle.h
// -----------------------------------------------------------------------------
//
// An `AbortHandle` can end a task without being the one that joins it:
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
// From `JoinHandle::abort_handle()`, as many as one likes. Dropping it does
// nothing to the task. It keeps the memory of the task, but neither its future
// nor, when the `JoinHandle` has gone, its output.
//
// Thread-safe as an `int` is: const functions of one handle, and all functions
// of its copies, may run at the same time. Copying and destroying are O(1), and
// allocate nothing.
class AbortHandle {
 public:
  // For the scheduler. Makes a reference of its own; null is a task that has
  // ended.
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

  // Asks for the task to be cancelled, as `JoinHandle::Abort()` does: it ends
  // at its next suspension, or now if it is suspended, on a thread of its
  // runtime and never inside this call. Who joins it then gets `kCancelled`,
  // unless it completed first. Does nothing to a task that has ended, or the
  // second time. O(1); never blocks.
  void Abort() const {
    if (task_ != nullptr) task::Abort(task_);
  }

  // Whether the task has ended: its future is gone, and a join would not wait.
  // True of a handle that was moved from.
  bool IsFinished() const {
    return task_ == nullptr || task_->state.IsComplete();
  }

  // The task's id, as long as there is the handle.
  TaskId id() const { return id_; }

 private:
  task::Header* task_;
  TaskId id_;
};

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_TASK_ABORT_HANDLE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: task_id.h
// -----------------------------------------------------------------------------
//
// A `TaskId` names a task in logs and statistics:
//
//   LOG(INFO) << "task " << handle.id() << " reads " << path;
//
//   if (std::optional<rouse::TaskId> id = rouse::CurrentTaskId()) {
//     usage[*id] += bytes;
//   }

#ifndef ROUSE_WAKER_TASK_ID_H_
#define ROUSE_WAKER_TASK_ID_H_

#include <cstdint>
#include <optional>
#include <utility>

namespace rouse {

// TaskId
//
// Unique within a process and never used again, also by another runtime; never
// 0. It says nothing of the order in which tasks were spawned.
using TaskId = uint64_t;

// CurrentTaskId()
//
// The task that this thread is polling, or whose future it is destroying; in a
// blocking call, the one that its `JoinHandle` names. Where a task polls
// another itself, the inner one. Nothing elsewhere: in the future of
// `Runtime::BlockOn()`, which is no task, and on threads of one's own. Never
// fails; costs about as much as reading a thread-local variable.
std::optional<TaskId> CurrentTaskId();

namespace task {

using ::rouse::TaskId;

// One that no task has had. Thread-safe.
TaskId NextTaskId();

// Where this thread has its current task; 0: there is none.
TaskId& CurrentTaskIdHere();

// Makes `id` the current task of this thread. Scopes nest.
class ScopedTaskId {
 public:
  explicit ScopedTaskId(TaskId id, TaskId& here = CurrentTaskIdHere())
      : current_(&here), outer_(std::exchange(here, id)) {}
  ScopedTaskId(const ScopedTaskId&) = delete;
  ScopedTaskId& operator=(const ScopedTaskId&) = delete;
  ~ScopedTaskId() { *current_ = outer_; }

 private:
  // This thread's. A scope stays on one thread.
  TaskId* const current_;
  const TaskId outer_;
};

}  // namespace task

}  // namespace rouse

#endif  // ROUSE_WAKER_TASK_ID_H_

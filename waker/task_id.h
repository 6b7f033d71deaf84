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

#include "rouse/base/cxx20.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace rouse {

// TaskId
//
// Identifies a task. An id is unique within a process and is never reused, not
// even by another runtime. An id is never 0. The order of ids says nothing
// about the order in which tasks were spawned.
using TaskId = uint64_t;

// CurrentTaskId()
//
// Returns the id of the task being polled by this thread, or of the task whose
// future this thread is destroying. In a blocking call, returns the id that the
// call's `JoinHandle` names. If a task itself polls another task, returns the
// id of the inner task. Returns `std::nullopt` elsewhere: in the future of
// `Runtime::BlockOn()`, which is not a task, and on the user's own threads.
// Never fails. Costs about as much as reading a thread-local variable.
std::optional<TaskId> CurrentTaskId();

namespace task {

using ::rouse::TaskId;

// Returns an id that no task has had. Thread-safe.
TaskId NextTaskId();

// Returns the variable with the current task of this thread. 0 means no current
// task.
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
  // The thread's variable. A scope stays on one thread.
  TaskId* const current_;
  const TaskId outer_;
};

}  // namespace task

}  // namespace rouse

#endif  // ROUSE_WAKER_TASK_ID_H_

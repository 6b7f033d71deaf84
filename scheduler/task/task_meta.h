// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: task_meta.h
// -----------------------------------------------------------------------------
//
// Identifies a task when a runtime reports an event of the task:
//
//   builder.OnTaskSpawn([](const rouse::TaskMeta& task) {
//     LOG(INFO) << "spawned " << task;  // task 17 "acceptor" (spawned at ...)
//   });

#ifndef ROUSE_SCHEDULER_TASK_TASK_META_H_
#define ROUSE_SCHEDULER_TASK_TASK_META_H_

#include <source_location>
#include <string_view>

#include "absl/strings/str_format.h"
#include "rouse/waker/task_id.h"

namespace rouse {

// TaskMeta
//
// Refers to the task's name, so a `TaskMeta` must not outlive the call to which
// it is passed. Can be logged, and formatted with `absl::StrCat()`.
struct TaskMeta {
  TaskId id = 0;
  // Empty if the task has no name.
  std::string_view name = {};
  // Line 0 if the place is unknown.
  std::source_location spawned_at = {};

  template <class Sink>
  friend void AbslStringify(Sink& sink, const TaskMeta& task) {
    absl::Format(&sink, "task %d", task.id);
    if (!task.name.empty()) absl::Format(&sink, " \"%s\"", task.name);
    if (task.spawned_at.line() != 0) {
      absl::Format(&sink, " (spawned at %s:%d)", task.spawned_at.file_name(),
                   task.spawned_at.line());
    }
  }
};

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_TASK_TASK_META_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: task_meta.h
// -----------------------------------------------------------------------------
//
// What names a task where a runtime reports something of it:
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
// Refers to the task's name, and so does not outlive the call that it is an
// argument of. Can be logged, and formatted by `absl::StrCat()`.
struct TaskMeta {
  TaskId id = 0;
  // Empty if the task has none.
  std::string_view name = {};
  // Line 0 if it is not known.
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

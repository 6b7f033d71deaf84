// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: runtime_scope.h
// -----------------------------------------------------------------------------
//
// Records whether a thread runs tasks, or the main future of a runtime. Such a
// thread must neither block nor be waited for. Internal to Rouse.

#ifndef ROUSE_WAKER_RUNTIME_SCOPE_H_
#define ROUSE_WAKER_RUNTIME_SCOPE_H_

#include <optional>
#include <string_view>

#include "rouse/waker/task_id.h"

namespace rouse::internal {

// RuntimeScope
//
// While the scope lives, this thread runs `runtime`. If `runtime` is null, the
// thread may block in `task` (if 0, outside any task), whatever else the thread
// runs. Scopes nest: a scope must be destroyed on its own thread, in the
// reverse order of construction.
class RuntimeScope {
 public:
  explicit RuntimeScope(const void* runtime,
                        TaskId task = task::CurrentTaskIdHere());
  RuntimeScope(const RuntimeScope&) = delete;
  RuntimeScope& operator=(const RuntimeScope&) = delete;
  ~RuntimeScope();

  // Returns whether this thread must not block. A thread must not block while
  // running a runtime, or while polling a task, such as a task of a `LocalSet`,
  // that is not the task in which the innermost scope allows blocking.
  static bool MustNotBlock();

  // Returns whether this thread would wait for itself by waiting for `runtime`.
  static bool Runs(const void* runtime);

 private:
  const void* const runtime_;
  const TaskId task_;
  const RuntimeScope* const outer_;
};

// ScopedTaskEnd
//
// Makes `task` the current task of this thread while the thread destroys a part
// of `task`. The thread may block in the meantime if blocking was allowed
// before: the thread is not necessarily a thread that runs tasks.
class ScopedTaskEnd {
 public:
  explicit ScopedTaskEnd(TaskId task) {
    if (!RuntimeScope::MustNotBlock()) may_block_.emplace(nullptr, task);
    id_.emplace(task);
  }
  ScopedTaskEnd(const ScopedTaskEnd&) = delete;
  ScopedTaskEnd& operator=(const ScopedTaskEnd&) = delete;

 private:
  std::optional<RuntimeScope> may_block_;
  std::optional<task::ScopedTaskId> id_;
};

// Panics if this thread must not block. `call` is the blocking call, and
// `instead` is the replacement to use. O(1): reads at most two thread-local
// variables.
void CheckMayBlock(std::string_view call, std::string_view instead);

}  // namespace rouse::internal

#endif  // ROUSE_WAKER_RUNTIME_SCOPE_H_

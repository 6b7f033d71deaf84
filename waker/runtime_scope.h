// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: runtime_scope.h
// -----------------------------------------------------------------------------
//
// Whether a thread runs tasks, or the main future of a runtime: it must neither
// block there, nor be waited for. Internal to Rouse.

#ifndef ROUSE_WAKER_RUNTIME_SCOPE_H_
#define ROUSE_WAKER_RUNTIME_SCOPE_H_

#include <optional>
#include <string_view>

#include "rouse/waker/task_id.h"

namespace rouse::internal {

// RuntimeScope
//
// While it lives, this thread runs `runtime`; with null it may block, whatever
// it runs otherwise, in `task` (0: in none). They nest: they are destroyed on
// the thread that made them, the last one first.
class RuntimeScope {
 public:
  explicit RuntimeScope(const void* runtime,
                        TaskId task = task::CurrentTaskIdHere());
  RuntimeScope(const RuntimeScope&) = delete;
  RuntimeScope& operator=(const RuntimeScope&) = delete;
  ~RuntimeScope();

  // Whether this thread must not block: it runs a runtime, or polls a task that
  // is none of its own where it may, such as one of a `LocalSet`.
  static bool MustNotBlock();

  // Whether this thread would wait for itself if it waited for `runtime`.
  static bool Runs(const void* runtime);

 private:
  const void* const runtime_;
  const TaskId task_;
  const RuntimeScope* const outer_;
};

// ScopedTaskEnd
//
// Makes `task` the current task of this thread, which destroys something of it.
// The thread may block meanwhile if it might before: it need not run tasks.
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

// A `Panic()` if this thread must not block: `call`, which blocks, was called
// there, and `instead` is what to use. O(1); no more than two thread-local
// variables are read.
void CheckMayBlock(std::string_view call, std::string_view instead);

}  // namespace rouse::internal

#endif  // ROUSE_WAKER_RUNTIME_SCOPE_H_

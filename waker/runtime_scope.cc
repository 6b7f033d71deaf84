// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/waker/runtime_scope.h"

#include <string>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread_local.h"
#include "rouse/waker/task_id.h"

namespace rouse::internal {
namespace {

// Not inlined: see base/thread_local.h.

ABSL_ATTRIBUTE_NOINLINE const RuntimeScope*& Current() {
  return ThreadLocal<const RuntimeScope*, class RunningHereTag>::Get();
}

}  // namespace

RuntimeScope::RuntimeScope(const void* runtime, TaskId task)
    : runtime_(runtime), task_(task), outer_(Current()) {
  Current() = this;
}

RuntimeScope::~RuntimeScope() { Current() = outer_; }

bool RuntimeScope::MustNotBlock() {
  const RuntimeScope* const here = Current();
  const TaskId task = task::CurrentTaskIdHere();
  if (here == nullptr) return task != 0;
  return here->runtime_ != nullptr || task != here->task_;
}

bool RuntimeScope::Runs(const void* runtime) {
  for (const RuntimeScope* here = Current(); here != nullptr;
       here = here->outer_) {
    if (here->runtime_ == runtime) return true;
  }
  return false;
}

void CheckMayBlock(std::string_view call, std::string_view instead) {
  if (ABSL_PREDICT_TRUE(!RuntimeScope::MustNotBlock())) return;
  const TaskId task = task::CurrentTaskIdHere();
  const std::string where =
      task != 0 ? absl::StrCat("task ", task) : "Runtime::BlockOn";
  Panic(absl::StrCat(call, " was called inside ", where,
                     ", where it would block a thread that runs tasks; use ",
                     instead, ", or call it inside BlockInPlace() or ",
                     "SpawnBlocking(), or on a thread outside the runtime"));
}

}  // namespace rouse::internal

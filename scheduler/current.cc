// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/current.h"

#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "rouse/base/panic.h"
#include "rouse/scheduler/scheduler.h"

namespace rouse::scheduler {
namespace {
ABSL_CONST_INIT thread_local Scheduler* current = nullptr;
}  // namespace

// Not inlined: a coroutine might keep the variable's address while it moves to
// another thread.
ABSL_ATTRIBUTE_NOINLINE Scheduler* Current() { return current; }

ScopedDefault::ScopedDefault(Scheduler& scheduler)
    : outer_(std::exchange(current, &scheduler)) {}

ScopedDefault::~ScopedDefault() { current = outer_; }

// Not inlined, like `Current()`, which would be a second call.
ABSL_ATTRIBUTE_NOINLINE Scheduler& CurrentOrPanic() {
  Scheduler* const scheduler = current;
  if (ABSL_PREDICT_FALSE(scheduler == nullptr)) {
    Panic(
        "Spawn: this thread has no runtime; call Spawn() in a task or inside "
        "Runtime::BlockOn, hold a Runtime::Enter() guard, or call "
        "Runtime::Spawn");
  }
  return *scheduler;
}

}  // namespace rouse::scheduler

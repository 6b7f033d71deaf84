// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/waker/task_id.h"

#include <atomic>
#include <optional>

#include "absl/base/attributes.h"
#include "rouse/base/thread_local.h"

namespace rouse {

std::optional<TaskId> CurrentTaskId() {
  const TaskId id = task::CurrentTaskIdHere();
  if (id == 0) return std::nullopt;
  return id;
}

namespace task {

TaskId NextTaskId() {
  // A thread takes this many ids at once, so that spawning shares no cache
  // line.
  constexpr TaskId kBlock = 256;
  ABSL_CONST_INIT static std::atomic<TaskId> next_block{0};
  ABSL_CONST_INIT thread_local TaskId last = 0;
  if (last % kBlock == 0) {
    // Relaxed: an id orders nothing. The model checker therefore does not need
    // to see this atomic either.
    last = next_block.fetch_add(kBlock, std::memory_order_relaxed);
  }
  return ++last;
}

// Not inlined: see base/thread_local.h.
ABSL_ATTRIBUTE_NOINLINE TaskId& CurrentTaskIdHere() {
  return ThreadLocal<TaskId, class CurrentTaskIdTag>::Get();
}

}  // namespace task

}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/task_dump.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/scheduler/task/task.h"

namespace rouse {
namespace {

struct Unref {
  void operator()(task::Header* task) const { task::Unref(task); }
};
using TaskRef = std::unique_ptr<task::Header, Unref>;

// Returns references to all tasks, so that they are inspected outside of locks.
std::vector<TaskRef> References(
    size_t count,
    absl::FunctionRef<void(absl::FunctionRef<void(task::Header&)>)> for_each) {
  std::vector<TaskRef> references;
  // Most likely enough to avoid moving elements under a lock.
  references.reserve(count + 64);
  for_each([&references](task::Header& task) {
    references.emplace_back();
    task.state.Ref();
    references.back().reset(&task);
  });
  std::sort(references.begin(), references.end(),
            [](const TaskRef& a, const TaskRef& b) { return a->id < b->id; });
  references.erase(std::unique(references.begin(), references.end()),
                   references.end());
  return references;
}

std::optional<TaskDump::Task> Describe(task::Header& task, uint32_t now_ms) {
  TaskDump::Task seen;
  // Read before the trace, so that no task reported as polled is traced as one
  // that has not begun. Relaxed: see `polled_ms`.
  uint32_t polled_ms = task.polled_ms.load(std::memory_order_relaxed);
  if (!task::Trace(&task, seen.trace)) {
    if (task.state.IsComplete()) return std::nullopt;
    // A new task may be queued in the running state, or may have begun since.
    polled_ms = task.polled_ms.load(std::memory_order_relaxed);
    seen.running = polled_ms != 0;
  }
  seen.id = task.id;
  seen.name = std::string(task.name());
  seen.spawned_at = task.spawned_at;
  if (polled_ms != 0) {
    // The clock is coarse, and the task may have been polled since `now_ms`.
    const auto ago = static_cast<int32_t>(now_ms - polled_ms);
    seen.polled_ago = absl::Milliseconds(std::max(ago, 0));
  }
  return seen;
}

std::string Polled(const TaskDump::Task& task) {
  if (!task.polled_ago.has_value()) return "not polled yet";
  const std::string time = absl::FormatDuration(*task.polled_ago);
  return task.running ? absl::StrCat("running for ", time)
                      : absl::StrCat("last polled ", time, " ago");
}

}  // namespace

std::string TaskDump::ToString() const {
  std::string text =
      absl::StrCat(tasks_.size(), tasks_.size() == 1 ? " task\n" : " tasks\n");
  for (const Task& task : tasks_) {
    absl::StrAppend(&text, "task ", task.id);
    if (!task.name.empty()) absl::StrAppend(&text, " \"", task.name, "\"");
    absl::StrAppend(&text, " spawned at ", task.spawned_at.file_name(), ":",
                    task.spawned_at.line(), ", ", Polled(task), "\n",
                    task.trace.ToString(2));
  }
  return text;
}

namespace scheduler {

TaskDump DumpTasks(
    size_t count,
    absl::FunctionRef<void(absl::FunctionRef<void(task::Header&)>)> for_each,
    uint32_t now_ms) {
  std::vector<TaskRef> references = References(count, for_each);
  std::vector<TaskDump::Task> seen;
  seen.reserve(references.size());
  for (TaskRef& task : references) {
    if (auto described = Describe(*task, now_ms)) {
      seen.push_back(*std::move(described));
    }
    task.reset();
  }
  return TaskDump(std::move(seen));
}

}  // namespace scheduler

}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: task_dump.h
// -----------------------------------------------------------------------------
//
// A `TaskDump` says what every task of a scheduler is doing. Useful for a
// program that hangs, or is unexpectedly slow.
//
//   for (const rouse::TaskDump::Task& task : dump.tasks()) ...
//   std::cerr << dump.ToString();
//
//   2 tasks
//   task 17 "reader" spawned at server.cc:40, last polled 1.2s ago
//     Serve at server.cc:88
//     ReadFrame at frame.cc:21
//     awaiting rouse::TcpStream::ReadFuture
//   task 18 spawned at server.cc:42, running for 3ms

#ifndef ROUSE_SCHEDULER_TASK_DUMP_H_
#define ROUSE_SCHEDULER_TASK_DUMP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "rouse/future/await_trace.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/waker/task_id.h"

namespace rouse {

// TaskDump
//
// A plain value, which refers to no task. Can be kept for any length of time.
class TaskDump {
 public:
  // Describes a task at the time of the dump.
  struct Task {
    TaskId id;
    // Empty if the task has no name.
    std::string name;
    std::source_location spawned_at;
    // True if, at the inspection, a thread was polling the task, or the task
    // had yielded and was about to be polled again.
    bool running = false;
    // Time since the task's last poll began; empty if the task has not been
    // polled. Only as exact as the worker's readings of the clock, which are
    // not taken for each poll.
    std::optional<absl::Duration> polled_ago;
    // Where the task waits. Empty if the task is running, or is about to be
    // polled for the first time.
    AwaitTrace trace;
  };

  explicit TaskDump(std::vector<Task> tasks) : tasks_(std::move(tasks)) {}

  // Returns the tasks, in the order of their ids.
  const std::vector<Task>& tasks() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return tasks_;
  }

  // Returns the dump as text, with a paragraph for each task.
  std::string ToString() const;

  template <class Sink>
  friend void AbslStringify(Sink& sink, const TaskDump& dump) {
    sink.Append(dump.ToString());
  }

 private:
  std::vector<Task> tasks_;
};

namespace scheduler {

// DumpTasks()
//
// Returns what each of the tasks is doing for which `for_each` calls its
// argument. There are approximately `count` such calls. During a call, the task
// must have a reference. A task may be passed more than once. `now_ms` is the
// time by the clock of `Header::polled_ms`.
//
// Thread-safe; a task can call this function, too. Tasks are inspected one at a
// time while all others keep running, so two entries may contradict each other.
// A task is not polled during its inspection, which delays a poll by some
// microseconds. Tasks that end before their inspection are left out. Costs
// O(n log n) for n tasks, and O(1) within `for_each` for each task.
TaskDump DumpTasks(
    size_t count,
    absl::FunctionRef<void(absl::FunctionRef<void(task::Header&)>)> for_each,
    uint32_t now_ms);

}  // namespace scheduler

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_TASK_DUMP_H_

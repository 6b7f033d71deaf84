// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: task_dump.h
// -----------------------------------------------------------------------------
//
// A `TaskDump` says what every task of a scheduler is doing: for a program that
// hangs, or is slow and should not be.
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
// A value, and nothing that runs: it may be kept for as long as one likes.
class TaskDump {
 public:
  struct Task {
    TaskId id;
    // Empty if it has none.
    std::string name;
    std::source_location spawned_at;
    // Whether a thread was polling it when it was looked at, or it had yielded
    // and was to be polled again.
    bool running = false;
    // How long ago its last poll began; nothing if there was none. As exact as
    // the scheduler's worker looks at the clock.
    std::optional<absl::Duration> polled_ago;
    // Where it waits. Empty if it is running, or has not been polled and is
    // about to be.
    AwaitTrace trace;
  };

  explicit TaskDump(std::vector<Task> tasks) : tasks_(std::move(tasks)) {}

  // In the order of their ids.
  const std::vector<Task>& tasks() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return tasks_;
  }

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
// What each of the tasks is doing for which `for_each` calls its argument: some
// `count` of them, each of which has a reference meanwhile, and more than once
// if need be. `now_ms` is the time by the clock of `Header::polled_ms`.
//
// Thread-safe, also to be called by a task. Each task is looked at by itself,
// while all others go on, so that two of them may contradict one another. It is
// not polled meanwhile; that is put off for some microseconds. Tasks that have
// ended before they were looked at are left out. O(n log n) for n tasks, and
// O(1) within `for_each` for each of them.
TaskDump DumpTasks(
    size_t count,
    absl::FunctionRef<void(absl::FunctionRef<void(task::Header&)>)> for_each,
    uint32_t now_ms);

}  // namespace scheduler

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_TASK_DUMP_H_

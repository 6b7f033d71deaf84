// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: options.h
// -----------------------------------------------------------------------------
//
// The choices of a scheduler. Programs make them with a `Builder`, in
// runtime.h.

#ifndef ROUSE_SCHEDULER_OPTIONS_H_
#define ROUSE_SCHEDULER_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "rouse/scheduler/long_poll.h"
#include "rouse/scheduler/metrics.h"
#include "rouse/scheduler/task/task_meta.h"
#include "rouse/scheduler/task/unhandled.h"
#include "rouse/timer/clock.h"

namespace rouse {

// UnhandledException
//
// What is done when an exception leaves a task. (Its JoinHandle has the
// exception in any case.)
enum class UnhandledException : unsigned char {
  // The exception is the JoinHandle's business, and other tasks go on. If
  // nobody takes it, it is logged: once, as an error, with the task's id and
  // name, the place where the task was spawned, and what the exception says.
  // Nobody takes it if the JoinHandle goes, or has gone, without having given
  // the task's result; it is then that it is logged.
  kLog,
  // The same, but it is not logged.
  kIgnore,
  // It is logged, at once and in any case. No task is polled any more: all are
  // cancelled, those of a current-thread runtime when it is destroyed, and
  // every `BlockOn()` ends with a `Panic()` that names the task.
  kShutdownRuntime,
  // It is logged, at once and in any case, and the program is aborted.
  kAbort,
};

namespace scheduler {

// Hooks
//
// Calls at the turning points of a scheduler, each on the thread that it is
// about. Empty ones cost a branch. They are called outside of locks and may
// spawn and wake tasks; they must not throw.
struct Hooks {
  // A worker has nothing to do, and is about to park; and goes on, whether it
  // has parked or found something meanwhile.
  std::function<void()> before_park = {};
  std::function<void()> after_unpark = {};
  // A task has been spawned, on the spawning thread, before it can run; is
  // about to be polled; was polled; and has ended, in whatever way.
  std::function<void(const TaskMeta&)> on_task_spawn = {};
  std::function<void(const TaskMeta&)> before_task_poll = {};
  std::function<void(const TaskMeta&)> after_task_poll = {};
  std::function<void(const TaskMeta&)> on_task_terminate = {};
  // A poll lasts for long: see `Builder::OnLongPoll()`.
  LongPollCallback on_long_poll = {};
};

// Options
struct Options {
  // How many workers there are; at least 1.
  size_t workers = 1;

  // The seed of their random choices: whom to steal from, which branch of a
  // `Select` goes first.
  uint64_t seed = 0;

  // Whether the task that was woken or spawned last runs next, with few
  // exceptions, and of new tasks that wait behind others the newest first: see
  // private_queue.h. If not, tasks of a worker run in the order they were
  // woken.
  bool lifo_slot = true;

  // After how many polls a worker asks the driver for events, so that a full
  // queue does not keep I/O and timers waiting. Each costs a system call; at
  // the usual microsecond a poll that is a hundredth.
  uint32_t event_interval = 61;

  // After how many polls a worker looks into the shared queue before its own. 0
  // has it look after 127 polls or 50 microseconds, and a worker alone after 31
  // polls.
  uint32_t global_queue_interval = 0;

  // By when others see to I/O, timers and tasks that a worker keeps waiting by
  // a long poll, in real time: see watchdog.h. Infinite: never; a worker then
  // keeps no tasks to itself but the next. Only where there are threads of the
  // scheduler's own to see to it.
  absl::Duration long_poll_bound = absl::InfiniteDuration();

  // The clock that the driver goes by. If it advances by itself it does not
  // while there is a task to run; without it here it may.
  std::shared_ptr<Clock> clock = {};

  UnhandledException unhandled_exception = UnhandledException::kLog;
  // Called instead of logging, with `kLog`. It may be called as long as there
  // are handles of tasks, also when the scheduler has ended. Must not throw.
  UnhandledExceptionCallback on_unhandled_exception = {};
  // Called when an exception has closed the scheduler, on the task's thread.
  // Not once `Close()` was called.
  std::function<void()> on_closed_by_exception = {};

  // Whether polls are counted by their length.
  bool poll_time_histogram = false;
  PollTimeBuckets poll_time_buckets = {};

  // Whether polls are counted by how long their tasks have waited for them.
  bool schedule_latency_histogram = false;
  PollTimeBuckets schedule_latency_buckets = {};

  Hooks hooks = {};

  // Has `Worker::Run()` called for a worker on another thread, which the caller
  // is about to block. Without it, `BlockInPlace()` is a `Panic()`.
  std::function<void(size_t worker)> run_elsewhere = {};
};

}  // namespace scheduler
}  // namespace rouse

#endif  // ROUSE_SCHEDULER_OPTIONS_H_

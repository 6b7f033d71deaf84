// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: options.h
// -----------------------------------------------------------------------------
//
// The options of a scheduler. Programs set them with a `Builder`, in runtime.h.

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
// What the scheduler does when an exception escapes a task. (The task's
// JoinHandle has the exception in any case.)
enum class UnhandledException : unsigned char {
  // The exception goes to the JoinHandle, and other tasks continue. If nobody
  // takes the exception, the scheduler logs it once, as an error, with the
  // task's id and name, the place where the task was spawned, and the
  // exception's message. Nobody takes the exception if the JoinHandle is
  // destroyed, or was destroyed earlier, without having returned the task's
  // result; the exception is logged at that moment.
  kLog,
  // Like `kLog`, but the exception is not logged.
  kIgnore,
  // The exception is logged, immediately and in any case. No task is polled any
  // more: all are cancelled (in a current-thread runtime, when the runtime is
  // destroyed), and every `BlockOn()` ends with a `Panic()` naming the task.
  kShutdownRuntime,
  // The exception is logged, immediately and in any case, and the program is
  // aborted.
  kAbort,
};

namespace scheduler {

// ---- Intervals and bounds. Comments and documents refer to them by name.

// Default of `Options::event_interval`: the number of polls after which a
// worker checks for events. Each check costs a system call: with polls of the
// usual microsecond, a hundredth of the time.
inline constexpr uint32_t kEventInterval = 61;

// Default number of polls after which a worker checks the global queue. A check
// reads memory that other threads write, and takes a lock if a task waits.
inline constexpr uint32_t kGlobalQueueInterval = 127;

// Time after which a worker checks the global queue even if the worker has done
// fewer than `kGlobalQueueInterval` polls, since polls may be long.
inline constexpr absl::Duration kGlobalQueuePeriod = absl::Microseconds(50);

// Like `kGlobalQueueInterval`, for a scheduler's only worker. That worker does
// not go by the clock, so that the order of tasks is repeatable.
inline constexpr uint32_t kSoloGlobalQueueInterval = 31;

// Default of `Builder::LongPollBound()`: so long that a working program rarely
// reaches the bound, and short compared with a user's patience.
inline constexpr absl::Duration kLongPollBound = absl::Milliseconds(10);

// Time for which a worker without work watches a worker that has private tasks
// and is in a poll, before it takes these tasks. A rescue takes about as long.
inline constexpr absl::Duration kRescueDelay = absl::Microseconds(20);

// If polls take longer on average, a worker shares its tasks before others ask,
// and reads the clock in each turn: the cost does not matter then.
inline constexpr absl::Duration kLongMeanPoll = absl::Microseconds(10);

// Hooks
//
// Callbacks for certain events of a scheduler. Each is called on the thread of
// the event, except that the watchdog also calls `on_long_poll`. An empty
// callback costs a branch. Hooks are called without locks held, and may spawn
// and wake tasks. Hooks must not throw.
struct Hooks {
  // `before_park` is called when a worker has nothing to do and is about to
  // park. `after_unpark` is called when the worker continues, whether it has
  // parked or has found something to do in the meantime.
  std::function<void()> before_park = {};
  std::function<void()> after_unpark = {};
  // Called when a task has been spawned (on the spawning thread, before the
  // task can run), when a task is about to be polled, when a task has been
  // polled, and when a task has ended, in whatever way.
  std::function<void(const TaskMeta&)> on_task_spawn = {};
  std::function<void(const TaskMeta&)> before_task_poll = {};
  std::function<void(const TaskMeta&)> after_task_poll = {};
  std::function<void(const TaskMeta&)> on_task_terminate = {};
  // Called when a poll takes long: see `Builder::OnLongPoll()`.
  LongPollCallback on_long_poll = {};
};

// Options
//
// The options of a scheduler, with their defaults.
struct Options {
  // Number of workers; at least 1.
  size_t workers = 1;

  // Seed of the workers' random choices: from which worker to steal, and which
  // branch of a `Select` is polled first.
  uint64_t seed = 0;

  // If true, the task woken or spawned last runs next, with few exceptions, and
  // of the new tasks behind others the newest runs first: see private_queue.h.
  // If false, a worker's tasks run in the order of their waking.
  bool lifo_slot = true;

  // Number of polls after which a worker checks the driver for events, so that
  // a full queue does not delay I/O and timers. With several workers, a worker
  // leaves out a check that comes too soon after its last one: see
  // `EventCheck::Gap()`.
  uint32_t event_interval = kEventInterval;

  // Number of polls after which a worker checks the global queue before its
  // own. If 0, a worker does so after `kGlobalQueueInterval` polls or
  // `kGlobalQueuePeriod`, and a scheduler's only worker after
  // `kSoloGlobalQueueInterval` polls.
  uint32_t global_queue_interval = 0;

  // Real time within which other threads handle the I/O, timers and tasks
  // delayed by a worker's long poll, if the scheduler has a `Watchdog`: see
  // watchdog.h. If infinite, nothing bounds the delay. A searching worker still
  // takes the private tasks of a stuck worker (run_queues.h), but I/O and
  // timers may wait until the end of the poll. A worker then keeps no task
  // private except the next, as far as its stealable queue has room. Several
  // workers without a watchdog should have an infinite bound. With a single
  // worker and no watchdog, as in a current-thread runtime, a finite bound only
  // decides which polls `hooks.on_long_poll` reports.
  absl::Duration long_poll_bound = absl::InfiniteDuration();

  // The driver's clock. If the clock auto-advances, the scheduler prevents this
  // while a task can run. Without the clock here, the driver's clock may
  // auto-advance even then.
  std::shared_ptr<Clock> clock = {};

  UnhandledException unhandled_exception = UnhandledException::kLog;
  // Called instead of logging, with `kLog`. The callback may be called as long
  // as handles of tasks exist, even after the scheduler has ended. Must not
  // throw.
  UnhandledExceptionCallback on_unhandled_exception = {};
  // Called on the task's thread when an exception has closed the scheduler,
  // unless `Close()` was called before.
  std::function<void()> on_closed_by_exception = {};

  // If true, polls are counted by their length.
  bool poll_time_histogram = false;
  PollTimeBuckets poll_time_buckets = {};

  // If true, polls are counted by how long their tasks waited for them.
  bool schedule_latency_histogram = false;
  PollTimeBuckets schedule_latency_buckets = {};

  Hooks hooks = {};

  // Arranges that another thread calls `Worker::Run()` for `worker`, whose
  // thread (the caller) is about to block. If empty, `BlockInPlace()` is a
  // `Panic()`.
  std::function<void(size_t worker)> run_elsewhere = {};
};

}  // namespace scheduler
}  // namespace rouse

#endif  // ROUSE_SCHEDULER_OPTIONS_H_

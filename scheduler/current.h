// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: current.h
// -----------------------------------------------------------------------------
//
// `Spawn()` starts a task on the scheduler of the calling thread:
//
//   rouse::JoinHandle<int> sum = rouse::Spawn(Sum(numbers));
//
// A thread has a scheduler while running a task, inside `Runtime::BlockOn()`,
// and while holding a `Runtime::Enter()`. `scheduler::ScopedDefault` sets the
// scheduler of any other thread.

#ifndef ROUSE_SCHEDULER_CURRENT_H_
#define ROUSE_SCHEDULER_CURRENT_H_

#include <functional>
#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/spawn_options.h"

namespace rouse {

namespace scheduler {

// Returns the calling thread's scheduler, or null.
Scheduler* Current();

// ScopedDefault
//
// Makes `scheduler` the current scheduler of the calling thread during the
// guard's lifetime. Guards nest: they must be destroyed on the thread that made
// them, in reverse order.
class ScopedDefault {
 public:
  // REQUIRES: `scheduler` outlives the guard.
  explicit ScopedDefault(Scheduler& scheduler);
  ScopedDefault(const ScopedDefault&) = delete;
  ScopedDefault& operator=(const ScopedDefault&) = delete;
  ~ScopedDefault();

 private:
  Scheduler* const outer_;
};

// Like `Current()`, but a `Panic()` if the thread has no scheduler.
Scheduler& CurrentOrPanic();

}  // namespace scheduler

// Spawn()
//
// Runs `f` as a new task on the current scheduler. `f` is a future, or a
// callable returning a future. The task keeps a callable, so that the captures
// of a lambda coroutine live as long as the coroutine runs. A `Co` made by a
// lambda with captures, as in `Spawn(lambda())`, is a `Panic()` that names the
// line: the task might outlive the lambda.
//
// The task starts immediately, whether or not the handle is kept. The task can
// run on any worker thread, and can move between worker threads. If the
// scheduler has been shut down, the task is cancelled without having run. A
// call without a current scheduler is a `Panic()`.
//
// The task remembers the place of this call. `options` can give the task a
// name:
//
//   rouse::Spawn(Accept(listener), {.name = "acceptor"});
//
// Costs one allocation, from `FramePool`, in addition to the allocations of
// `f`, and another for a name.
template <class F>
auto Spawn(F&& f, const SpawnOptions& options = {},
           std::source_location where = std::source_location::current()) {
  task::CheckSpawnable<F>();
  return scheduler::CurrentOrPanic().Spawn(std::forward<F>(f), options, where);
}

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_CURRENT_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: current.h
// -----------------------------------------------------------------------------
//
// `Spawn()` starts a task on the scheduler of the thread that it is called on:
//
//   rouse::JoinHandle<int> sum = rouse::Spawn(Sum(numbers));
//
// Tasks, and whoever is inside `Runtime::BlockOn()` or holds a
// `Runtime::Enter()`, have one. `scheduler::ScopedDefault` names one elsewhere.

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

// The scheduler of this thread, or null.
Scheduler* Current();

// Makes `scheduler` the current one of this thread, for as long as it lives.
// Guards nest; they are destroyed on the thread that made them, last first.
class ScopedDefault {
 public:
  // `scheduler` outlives the guard.
  explicit ScopedDefault(Scheduler& scheduler);
  ScopedDefault(const ScopedDefault&) = delete;
  ScopedDefault& operator=(const ScopedDefault&) = delete;
  ~ScopedDefault();

 private:
  Scheduler* const outer_;
};

// As `Current()`; a `Panic()` if there is none.
Scheduler& CurrentOrPanic();

}  // namespace scheduler

// Spawn()
//
// Runs `f` as a task of its own, on the current scheduler. `f` is a future, or
// a callable that returns one; a callable is kept in the task, so that the
// captures of a lambda coroutine live as long as it runs. A `Co` that a lambda
// with captures has made, `Spawn(lambda())`, is a `Panic()` that names the
// line: the task might outlive the lambda.
//
// The task starts at once, whether the handle is kept or not, and may run on
// any worker thread and move between them. If the scheduler has been shut down
// the task is cancelled without having run. Without a current scheduler, a
// `Panic()`.
//
// The task remembers the place of this call; `options` may give it a name:
//
//   rouse::Spawn(Accept(listener), {.name = "acceptor"});
//
// One allocation, from `FramePool`, beside those of `f` itself, and one for a
// name.
template <class F>
auto Spawn(F&& f, const SpawnOptions& options = {},
           std::source_location where = std::source_location::current()) {
  task::CheckSpawnable<F>();
  return scheduler::CurrentOrPanic().Spawn(std::forward<F>(f), options, where);
}

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_CURRENT_H_

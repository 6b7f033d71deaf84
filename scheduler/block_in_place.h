// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: block_in_place.h
// -----------------------------------------------------------------------------
//
// `BlockInPlace()` makes a blocking call in the middle of a task:
//
//   rouse::Co<> Save(Table& table) {
//     rouse::BlockInPlace([&table] { table.WriteTo("table.db"); });
//     ...
//   }
//
// Prefer `SpawnBlocking()`, which does not block the task's thread.
// `BlockInPlace()` is for a call that needs data on the task's stack, or a call
// deep in code without `co_await`.

#ifndef ROUSE_SCHEDULER_BLOCK_IN_PLACE_H_
#define ROUSE_SCHEDULER_BLOCK_IN_PLACE_H_

#include <concepts>
#include <utility>

#include "rouse/scheduler/worker.h"

namespace rouse {

// BlockInPlace()
//
// Calls `f` on the calling thread and returns the result of `f`. An exception
// of `f` propagates. During the call, the other tasks of the calling task's
// worker run on another thread, kept by the runtime from earlier or newly
// started. If no thread can be started, these tasks wait; the tasks of other
// workers do not.
//
// Everything else in the same task, such as the other branches of a `Join`,
// waits during the call, and so do the other tasks of a `LocalSet`, which stay
// on the calling thread. `f` may call `Runtime::BlockOn()` of any runtime.
// After the call, the calling thread has its worker back, unless another thread
// already runs the worker. In that case the calling thread finishes the poll
// without a worker: tasks woken in the rest of the poll go to other workers.
//
// An auto-advancing clock is held until the poll has ended, so `f` must not
// wait for one of the clock's timers.
//
// Outside of a task, and inside another `BlockInPlace()`, the function only
// calls `f`. On the thread that runs the tasks of a current-thread runtime,
// whether in a task, in the main future or in a hook, the call is a `Panic()`:
// there is no other thread.
//
// Costs some microseconds, because the other thread is woken before `f` is
// called.
template <std::invocable F>
decltype(auto) BlockInPlace(F&& f) {
  const scheduler::BlockingSection section;
  return std::forward<F>(f)();
}

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_BLOCK_IN_PLACE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: block_in_place.h
// -----------------------------------------------------------------------------
//
// `BlockInPlace()` makes a call that blocks, in the middle of a task:
//
//   rouse::Co<> Save(Table& table) {
//     rouse::BlockInPlace([&table] { table.WriteTo("table.db"); });
//     ...
//   }
//
// Prefer `SpawnBlocking()`: it leaves the task's thread alone. This is for a
// call that needs what the task has on its stack, or is deep in code that knows
// of no `co_await`.

#ifndef ROUSE_SCHEDULER_BLOCK_IN_PLACE_H_
#define ROUSE_SCHEDULER_BLOCK_IN_PLACE_H_

#include <concepts>
#include <utility>

#include "rouse/scheduler/worker.h"

namespace rouse {

// BlockInPlace()
//
// Calls `f` on this thread and returns what it returns; an exception comes out.
// In a task, other tasks of its worker run on another thread meanwhile: one
// that the runtime has kept from earlier, or a new one. If no thread can be
// started they wait; those of other workers do not.
//
// All that is in the same task, such as the other branches of a `Join`, does
// wait; and so do the other tasks of a `LocalSet`, which stay on this thread.
// `f` may call `Runtime::BlockOn()` of any runtime. After it this thread has
// its worker back or, if another runs it already, finishes its poll without:
// what the task wakes then goes to other workers.
//
// A clock that advances by itself is held until the poll has ended, so `f` must
// not wait for one of its timers.
//
// Called outside of a task, or inside another `BlockInPlace()`, it calls `f`
// and no more. On the thread that runs the tasks of a current-thread runtime,
// be it in one of them, in the main future or in a hook, it is a `Panic()`:
// there is no other thread.
//
// Costs some microseconds: the other thread is woken before `f` is called.
template <std::invocable F>
decltype(auto) BlockInPlace(F&& f) {
  const scheduler::BlockingSection section;
  return std::forward<F>(f)();
}

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_BLOCK_IN_PLACE_H_

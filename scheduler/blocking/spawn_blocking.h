// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: spawn_blocking.h
// -----------------------------------------------------------------------------
//
// `SpawnBlocking()` makes a call that blocks where it keeps no task waiting:
//
//   auto read = [] { return ReadFile("a.txt"); };
//   absl::StatusOr<std::string> text =
//       co_await rouse::SpawnBlocking(std::move(read));
//
// (With g++ 12 name the lambda, as here: see co.h.)
//
// It goes to the pool of this thread's runtime. `scheduler::ScopedBlockingPool`
// names one elsewhere.

#ifndef ROUSE_SCHEDULER_BLOCKING_SPAWN_BLOCKING_H_
#define ROUSE_SCHEDULER_BLOCKING_SPAWN_BLOCKING_H_

#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/scheduler/blocking/blocking_call.h"
#include "rouse/scheduler/blocking/blocking_pool.h"

namespace rouse {

namespace scheduler {

// The blocking pool of this thread, or null.
BlockingPool* CurrentBlockingPool();

// Makes `pool` the current one of this thread, for as long as it lives. Guards
// nest; they are destroyed on the thread that made them, last first.
class ScopedBlockingPool {
 public:
  // `pool` outlives the guard.
  explicit ScopedBlockingPool(BlockingPool& pool);
  ScopedBlockingPool(const ScopedBlockingPool&) = delete;
  ScopedBlockingPool& operator=(const ScopedBlockingPool&) = delete;
  ~ScopedBlockingPool();

 private:
  BlockingPool* const outer_;
};

// As `CurrentBlockingPool()`; a `Panic()` if there is none.
BlockingPool& CurrentBlockingPoolOrPanic();

}  // namespace scheduler

// SpawnBlocking()
//
// Calls `f`, once, on a thread that may block, and gives a `JoinHandle` of what
// it returns: see `scheduler::BlockingPool::Spawn()`, also for what may go
// wrong, and docs/blocking.md for what to use it for. The call starts at once,
// whether the handle is kept or not. Without a current pool, a `Panic()`.
//
// `Abort()` cancels a call that has not begun; one that has runs to its end.
template <class F>
  requires scheduler::BlockingCallable<std::decay_t<F>>
auto SpawnBlocking(
    F&& f, std::source_location where = std::source_location::current()) {
  return scheduler::CurrentBlockingPoolOrPanic().Spawn(std::forward<F>(f),
                                                       where);
}

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_BLOCKING_SPAWN_BLOCKING_H_

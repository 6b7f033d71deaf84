// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: spawn_blocking.h
// -----------------------------------------------------------------------------
//
// `SpawnBlocking()` makes a blocking call where the call delays no task:
//
//   auto read = [] { return ReadFile("a.txt"); };
//   absl::StatusOr<std::string> text =
//       co_await rouse::SpawnBlocking(std::move(read));
//
// (With g++ 12 name the lambda, as here: see co.h.)
//
// The call goes to the pool of the calling thread's runtime.
// `scheduler::ScopedBlockingPool` selects a pool elsewhere.

#ifndef ROUSE_SCHEDULER_BLOCKING_SPAWN_BLOCKING_H_
#define ROUSE_SCHEDULER_BLOCKING_SPAWN_BLOCKING_H_

#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/scheduler/blocking/blocking_call.h"
#include "rouse/scheduler/blocking/blocking_pool.h"

namespace rouse {

namespace scheduler {

// Returns the blocking pool of the calling thread, or null.
BlockingPool* CurrentBlockingPool();

// Makes `pool` the current pool of the calling thread, as long as the guard
// exists. Guards nest: they must be destroyed on the thread that made them, in
// reverse order.
class ScopedBlockingPool {
 public:
  // `pool` must outlive the guard.
  explicit ScopedBlockingPool(BlockingPool& pool);
  ScopedBlockingPool(const ScopedBlockingPool&) = delete;
  ScopedBlockingPool& operator=(const ScopedBlockingPool&) = delete;
  ~ScopedBlockingPool();

 private:
  BlockingPool* const outer_;
};

// Like `CurrentBlockingPool()`, but calls `Panic()` if no pool is current.
BlockingPool& CurrentBlockingPoolOrPanic();

}  // namespace scheduler

// SpawnBlocking()
//
// Calls `f`, once, on a thread that may block, and returns a `JoinHandle` for
// the return value of `f`. `scheduler::BlockingPool::Spawn()` describes the
// details and the errors, and docs/guide/blocking.md the uses. The call starts
// at once, whether or not the handle is kept. Calls `Panic()` if no pool is
// current.
//
// `Abort()` cancels a call that has not begun. A call that has begun runs to
// its end.
template <class F>
  requires scheduler::BlockingCallable<std::decay_t<F>>
auto SpawnBlocking(
    F&& f, std::source_location where = std::source_location::current()) {
  return scheduler::CurrentBlockingPoolOrPanic().Spawn(std::forward<F>(f),
                                                       where);
}

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_BLOCKING_SPAWN_BLOCKING_H_

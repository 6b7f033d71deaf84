// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: block_on.h
// -----------------------------------------------------------------------------
//
// Runs one future to its end on this thread, without a runtime:
//
//   int sum = rouse::BlockOn(Add(Ask(db, 1), Ask(db, 2)));

#ifndef ROUSE_FUTURE_BLOCK_ON_H_
#define ROUSE_FUTURE_BLOCK_ON_H_

#include <cstdint>
#include <string_view>
#include <utility>

#include "rouse/base/fast_rand.h"
#include "rouse/future/future.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/runtime_scope.h"
#include "rouse/waker/thread_parker.h"

namespace rouse {

namespace internal {

// What `BlockOn()` does, wherever it is called: for what does not have to wait
// for another task.
template <Future F>
FutureOutput<F> BlockOnAnywhere(F&& future, uint64_t seed = 0) {
  ThreadParker parker;
  const ThreadParker::Unparker unparker = parker.unparker();
  FastRand rand(seed);
  for (;;) {
    Context cx(unparker.waker(), &rand);
    PollResult<FutureOutput<F>> result = future.Poll(cx);
    if (result.IsReady()) return std::move(result).value();
    parker.SpinThenPark();
  }
}

// The same for `call`, a call that blocks: a `Panic()` where that must not be,
// which says to use `instead`.
template <Future F>
FutureOutput<F> BlockOnFor(std::string_view call, std::string_view instead,
                           F&& future) {
  CheckMayBlock(call, instead);
  return BlockOnAnywhere(std::forward<F>(future));
}

}  // namespace internal

// BlockOn()
//
// Polls `future`, in place, until it is ready, and gives its value. Between two
// polls the thread sleeps; any thread may wake it. Each poll has a full budget.
// What is random in `future`, such as the arm that a `Select` polls first,
// follows from `seed`.
//
// It drives nothing but `future`: a timer or a socket needs a driver that runs
// elsewhere; `Runtime::BlockOn()` brings one.
//
// Calls nest, each with a wake-up of its own. But inside a task, and inside
// `Runtime::BlockOn()`, it would block the thread that other tasks need, so
// that is a `Panic()`: use `co_await`, or call it inside `BlockInPlace()` or
// `SpawnBlocking()`, where it is allowed.
template <Future F>
FutureOutput<F> BlockOn(F&& future, uint64_t seed = 0) {
  internal::CheckMayBlock("BlockOn", "co_await");
  return internal::BlockOnAnywhere(std::forward<F>(future), seed);
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_BLOCK_ON_H_

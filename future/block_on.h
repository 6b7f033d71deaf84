// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: block_on.h
// -----------------------------------------------------------------------------
//
// Runs one future to completion on the calling thread, without a runtime:
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

// Does what `BlockOn()` does, wherever it is called. For futures with no need
// to wait for another task.
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

// Does what `BlockOnAnywhere()` does, on behalf of `call`, the name of a
// blocking function. Where blocking is not allowed, the call is a `Panic()`
// with advice to use `instead`.
template <Future F>
FutureOutput<F> BlockOnFor(std::string_view call, std::string_view instead,
                           F&& future) {
  CheckMayBlock(call, instead);
  return BlockOnAnywhere(std::forward<F>(future));
}

}  // namespace internal

// BlockOn()
//
// Polls `future` in place until the future is ready, and returns the output.
// Between two polls the thread sleeps, and any thread can wake it. Each poll
// has a full budget. Random choices in `future`, such as the arm that a
// `Select` polls first, follow from `seed`.
//
// `BlockOn()` drives nothing except `future`. A timer or a socket needs a
// driver that runs elsewhere; `Runtime::BlockOn()` provides a driver.
//
// Calls can be nested, and each call is woken separately. Inside a task and
// inside `Runtime::BlockOn()`, a call would block a thread needed by other
// tasks, and is therefore a `Panic()`. Use `co_await` there, or call
// `BlockOn()` inside `BlockInPlace()` or `SpawnBlocking()`, where blocking is
// allowed.
template <Future F>
FutureOutput<F> BlockOn(F&& future, uint64_t seed = 0) {
  internal::CheckMayBlock("BlockOn", "co_await");
  return internal::BlockOnAnywhere(std::forward<F>(future), seed);
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_BLOCK_ON_H_

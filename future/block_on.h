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
#include <utility>

#include "rouse/base/fast_rand.h"
#include "rouse/future/future.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/thread_parker.h"

namespace rouse {

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
// Calls nest, each with a wake-up of its own. But not inside a task of a
// runtime, whose other tasks would wait for this one.
template <Future F>
FutureOutput<F> BlockOn(F&& future, uint64_t seed = 0) {
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

}  // namespace rouse

#endif  // ROUSE_FUTURE_BLOCK_ON_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: yield.h
// -----------------------------------------------------------------------------
//
// Lets other tasks run:
//
//   for (const Row& row : table) {
//     Digest(row);
//     co_await rouse::Yield();
//   }

#ifndef ROUSE_FUTURE_YIELD_H_
#define ROUSE_FUTURE_YIELD_H_

#include "rouse/base/panic.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// YieldFuture
//
// See `Yield()`.
class [[nodiscard]] YieldFuture {
 public:
  YieldFuture() = default;

  PollResult<void> Poll(Context& cx) {
    switch (state_) {
      case State::kNew:
        state_ = State::kYielded;
        cx.Yield();
        return kPending;
      case State::kYielded:
        state_ = State::kFinished;
        return {};
      case State::kFinished:
        break;
    }
    Panic("Yield was polled after it completed; call Yield() again");
  }

 private:
  enum class State : char { kNew, kYielded, kFinished };

  State state_ = State::kNew;
};

// Yield()
//
// Returns a future that is pending once and has the task polled again, with a
// full budget. The task goes to the back of its worker's queue. Before the task
// is polled again, the worker polls the driver for events, unless the worker
// has done so since the yield or another worker is in the driver. If the worker
// polls the driver on behalf of the yielding task, the tasks woken by the
// events run first. An event from before a `Yield()`, such as a connection or
// the end of a `Sleep()`, is therefore seen after one or two yields. Among n
// workers, a worker polls the driver at most every (n - 1) × 250 nanoseconds,
// or every 50 microseconds if that is less, and more yields may be necessary.
// The number of tasks that run in between is not promised, and a yielding task
// that another worker takes over in the meantime may run there at once.
//
// In a `Join` or a `Select`, the whole task yields. In a `LocalSet`, the task
// of the set yields first, and then the task that polls the set. Outside a
// runtime, as in `rouse::BlockOn()`, there is no driver to poll.
//
// Costs about ten nanoseconds. Each round of the worker's queue in which a task
// has yielded also costs one system call, so a lone task makes a system call
// each time it yields.
inline YieldFuture Yield() { return {}; }

}  // namespace rouse

#endif  // ROUSE_FUTURE_YIELD_H_

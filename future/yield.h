// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: yield.h
// -----------------------------------------------------------------------------
//
// Lets others run:
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
    Panic("Yield: polled after it has finished; make a new one");
  }

 private:
  enum class State : char { kNew, kYielded, kFinished };

  State state_ = State::kNew;
};

// Yield()
//
// A future that is pending once, and has the task polled again, with a full
// budget. The task goes to the back of its worker's queue. Before the task is
// polled again, the worker asks the driver for events, unless it has done so
// since the yield, or another worker is in the driver. If the worker asks for
// this task, the tasks that the events wake run first. So what has happened
// before a `Yield()`, such as a connection or the end of a `Sleep()`, is seen
// after one or two. Not promised: how many tasks run before; and a task that
// another worker takes over in between may run there at once.
//
// In a `Join` or a `Select` it is the whole task that yields, in a `LocalSet`
// the task of the set, and then the one that polls the set. Outside of a
// runtime, as in `rouse::BlockOn()`, there is no driver to be asked.
//
// Costs some ten nanoseconds, and each round of the worker's queue in which
// some task has yielded a system call: a lone task that yields makes one each
// time.
inline YieldFuture Yield() { return {}; }

}  // namespace rouse

#endif  // ROUSE_FUTURE_YIELD_H_

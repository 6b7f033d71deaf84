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
// A future that is pending once, and has the task polled again: it goes to the
// back of its queue, other tasks run, the drivers look for events, and the task
// comes back with a full budget.
//
// There is no promise of how many others run before. In a `Join` or a `Select`
// it is the whole task that yields.
inline YieldFuture Yield() { return {}; }

}  // namespace rouse

#endif  // ROUSE_FUTURE_YIELD_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: blocking_call.h
// -----------------------------------------------------------------------------
//
// Wraps a blocking call as the future of a task. Internal to the scheduler.

#ifndef ROUSE_SCHEDULER_BLOCKING_BLOCKING_CALL_H_
#define ROUSE_SCHEDULER_BLOCKING_BLOCKING_CALL_H_

#include <concepts>
#include <type_traits>
#include <utility>

#include "rouse/future/future.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::scheduler {

// A callable for a blocking pool.
template <class F>
concept BlockingCallable = std::invocable<F>;

// A future whose first poll calls `f`, and is ready.
template <class F>
class BlockingCall {
 public:
  using Output = std::invoke_result_t<F>;
  static_assert(!Future<Output>,
                "a blocking call must not return a future, which would not be "
                "polled and might outlive its captures: use Spawn(), or call "
                "BlockOn() in the blocking call");

  explicit BlockingCall(F&& f) : f_(std::move(f)) {}
  explicit BlockingCall(const F& f) : f_(f) {}

  PollResult<Output> Poll(Context&) {
    if constexpr (std::is_void_v<Output>) {
      std::move(f_)();
      return {};
    } else {
      return std::move(f_)();
    }
  }

 private:
  F f_;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_BLOCKING_BLOCKING_CALL_H_

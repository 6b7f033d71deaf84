// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: lazy.h
// -----------------------------------------------------------------------------
//
// Makes a future that calls a function at the first poll:
//
//   auto size = rouse::Lazy([&] { return queue.size(); });
//   auto reply = rouse::Lazy([&] { return Ask(server); });
//
// The function runs in the task that polls, and not where the future is made.

#ifndef ROUSE_FUTURE_SINGLE_LAZY_H_
#define ROUSE_FUTURE_SINGLE_LAZY_H_

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/panic.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/future.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// LazyFuture
//
// See `Lazy()`. Can be moved before the first poll.
template <class F>
class [[nodiscard]] LazyFuture {
 public:
  using Output = std::invoke_result_t<F&>;

  explicit LazyFuture(F call) : call_(std::in_place, std::move(call)) {}

  PollResult<Output> Poll(Context&) {
    if (!call_.has_value()) {
      Panic("Lazy was polled after it completed; create a new Lazy");
    }
    // The function is destroyed even if the call throws.
    std::optional<F> call(std::move(call_));
    call_.reset();
    if constexpr (std::is_void_v<Output>) {
      std::invoke(*call);
      return {};
    } else if constexpr (std::is_reference_v<Output>) {
      return PollResult<Output>(std::invoke(*call));
    } else {
      return PollResult<Output>(std::in_place, std::invoke(*call));
    }
  }

 private:
  std::optional<F> call_;  // empty once called
};

// Lazy()
//
// Returns a future that calls `call()` at the first poll, at most once. If the
// result of the call is a future, that future is polled, and its output is the
// output. `call` then lives as long as the future that it has returned.
// Otherwise the result of the call is the output, and `call` is destroyed.
//
// An exception from `call` propagates out of the poll. Takes nothing from the
// cooperative budget.
template <class F>
  requires std::invocable<std::decay_t<F>&>
auto Lazy(F&& call) {
  using Call = std::decay_t<F>;
  if constexpr (Future<std::invoke_result_t<Call&>>) {
    return internal::CallableFuture<Call>(std::forward<F>(call));
  } else {
    return LazyFuture<Call>(std::forward<F>(call));
  }
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_SINGLE_LAZY_H_

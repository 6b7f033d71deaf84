// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: poll_fn.h
// -----------------------------------------------------------------------------
//
// Makes a future from a callable:
//
//   auto poll = [&channel](rouse::Context& cx) {
//     return channel.PollRecv(cx);
//   };
//   std::optional<Message> m = co_await rouse::PollFn(std::move(poll));
//
// (With g++ 12, name the lambda as shown here: see co.h.)

#ifndef ROUSE_FUTURE_POLL_FN_H_
#define ROUSE_FUTURE_POLL_FN_H_

#include <type_traits>
#include <utility>

#include "rouse/future/future.h"
#include "rouse/waker/context.h"

namespace rouse {

// PollFnFuture
//
// See `PollFn()`.
template <class F>
class [[nodiscard]] PollFnFuture {
 public:
  explicit PollFnFuture(F poll) : poll_(std::move(poll)) {}

  std::invoke_result_t<F&, Context&> Poll(Context& cx) { return poll_(cx); }

 private:
  F poll_;
};

// PollFn()
//
// Returns a future whose `Poll(cx)` calls `poll(cx)`. The callable must keep
// the contract of a future (future.h): `poll(cx)` returns a `PollResult`, and
// arranges a wake before returning `kPending`.
template <class F>
  requires internal::kIsPollResult<
      std::invoke_result_t<std::decay_t<F>&, Context&>>
PollFnFuture<std::decay_t<F>> PollFn(F&& poll) {
  return PollFnFuture<std::decay_t<F>>(std::forward<F>(poll));
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_POLL_FN_H_

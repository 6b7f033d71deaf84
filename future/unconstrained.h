// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unconstrained.h
// -----------------------------------------------------------------------------
//
// Runs a future without the cooperative budget (see context.h):
//
//   co_await rouse::Unconstrained(Drain(channel));

#ifndef ROUSE_FUTURE_UNCONSTRAINED_H_
#define ROUSE_FUTURE_UNCONSTRAINED_H_

#include <utility>

#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// UnconstrainedFuture
//
// See `Unconstrained()`.
template <class F>
class [[nodiscard]] UnconstrainedFuture {
 public:
  explicit UnconstrainedFuture(F&& future) : future_(std::forward<F>(future)) {}

  PollResult<FutureOutput<F>> Poll(Context& cx) {
    const UnconstrainedScope scope(cx);
    return future_.get().Poll(cx);
  }

  bool BorrowsClosure() const {
    return internal::BorrowsClosure(future_.get());
  }
  void Trace(AwaitTrace& trace) const { trace.Add(future_.get()); }

 private:
  internal::OwnedOrRef<F> future_;
};

// Unconstrained()
//
// Returns a future that runs `future` without the budget: the budget never
// makes `future` wait, and `future` takes nothing from the budget. A future
// that is always ready keeps all other tasks of its thread from running, and
// the task cannot be aborted in the meantime.
//
// An rvalue is moved in. An lvalue is polled in place and must outlive the
// result.
template <Future F>
UnconstrainedFuture<F> Unconstrained(F&& future) {
  return UnconstrainedFuture<F>(std::forward<F>(future));
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_UNCONSTRAINED_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fuse.h
// -----------------------------------------------------------------------------
//
// Makes a future that may be polled after it was ready, and is then pending:
//
//   auto reply = rouse::Fuse(Ask(server));
//   for (;;) {
//     // The reply comes once. Later rounds wait for the timer alone.
//     auto first = co_await rouse::Select(reply, timer.Tick());
//     ...
//   }

#ifndef ROUSE_FUTURE_SINGLE_FUSE_H_
#define ROUSE_FUTURE_SINGLE_FUSE_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/exceptions.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// FuseFuture
//
// See `Fuse()`. Not thread-safe. Can be moved when the future inside can.
template <class F>
class [[nodiscard]] FuseFuture {
 public:
  using Output = FutureOutput<F>;

  // Makes a future that counts as finished, and waits for `Reset()`.
  FuseFuture() = default;
  explicit FuseFuture(F&& future)
      : future_(std::in_place, std::forward<F>(future)) {}

  PollResult<Output> Poll(Context& cx) {
    if (!future_.has_value()) return kPending;
    ROUSE_TRY {
      PollResult<Output> result = future_->get().Poll(cx);
      if (result.IsReady()) future_.reset();
      return result;
    }
    ROUSE_CATCH_ALL {
      future_.reset();
      ROUSE_RETHROW;
    }
  }

  // Returns whether the future has ended, so that polls are pending.
  bool IsFinished() const { return !future_.has_value(); }

  // Continues with `future`, and destroys the future before, which cancels it.
  // Wakes nothing: the caller must poll again.
  void Reset(F&& future) { future_.emplace(std::forward<F>(future)); }
  // Destroys the future, if any. Polls are then pending.
  void Reset() { future_.reset(); }

  bool BorrowsClosure() const {
    return future_.has_value() && internal::BorrowsClosure(future_->get());
  }
  void Trace(AwaitTrace& trace) const {
    if (future_.has_value()) {
      trace.Add(future_->get());
    } else {
      trace.AddLeaf("Fuse", "finished");
    }
  }

 private:
  std::optional<internal::OwnedOrRef<F>> future_;  // empty once finished
};

// Fuse()
//
// Returns a future with the output of `future`. After it was ready or has
// thrown an exception, every further poll is pending and wakes nothing.
//
// An rvalue is moved in, and destroyed when ready. An lvalue is polled in place
// and must outlive the result. A callable that returns a future is kept, as by
// `Join()`.
template <IntoFuture F>
FuseFuture<internal::FutureFrom<F>> Fuse(F&& future) {
  return FuseFuture<internal::FutureFrom<F>>(internal::ToFuture<F>(future));
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_SINGLE_FUSE_H_

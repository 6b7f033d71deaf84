// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unfold.h
// -----------------------------------------------------------------------------
//
// Makes a stream from a state and a function that makes a future of the next
// item:
//
//   // Pages, each of which names the next.
//   auto pages = rouse::Unfold(Cursor::First(), [&](Cursor& cursor) {
//     return client.FetchPage(cursor);  // Co<std::optional<Page>>
//   });
//
// A `Gen` is often easier to read.

#ifndef ROUSE_FUTURE_STREAMS_UNFOLD_H_
#define ROUSE_FUTURE_STREAMS_UNFOLD_H_

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/exceptions.h"
#include "rouse/future/adapters/optional_result.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/future.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {
// Satisfied if `F` makes a future of a `std::optional` of a state `T`.
template <class F, class T>
concept Unfolds =
    std::invocable<F&, T&> &&
    Future<std::remove_cvref_t<std::invoke_result_t<F&, T&>>> &&
    kIsOptional<
        FutureOutput<std::remove_cvref_t<std::invoke_result_t<F&, T&>>>>;
}  // namespace internal

// UnfoldStream
//
// See `Unfold()`.
template <class T, class F>
class [[nodiscard]] UnfoldStream {
  using Made = std::remove_cvref_t<std::invoke_result_t<F&, T&>>;
  using Output = FutureOutput<Made>;

 public:
  using Item = typename Output::value_type;

  UnfoldStream(T state, F next)
      : state_(std::move(state)), next_(std::move(next)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    if (has_ended_) return std::nullopt;
    if (!future_.has_value()) {
      // The next future may always be ready, so the budget lets other tasks
      // run.
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      future_.emplace(std::invoke(next_, state_));
      unit->MadeProgress();
    }
    PollResult<Output> item = PollFuture(cx);
    if (item.IsPending()) return kPending;
    has_ended_ = !item->has_value();
    future_.reset();
    return item;
  }

  void Trace(AwaitTrace& trace) const {
    if (future_.has_value()) {
      trace.Add(*future_);
    } else {
      trace.AddLeaf(internal::TypeName<UnfoldStream>());
    }
  }

 private:
  PollResult<Output> PollFuture(Context& cx) {
    ROUSE_TRY { return future_->Poll(cx); }
    ROUSE_CATCH_ALL {
      // The future has ended.
      future_.reset();
      ROUSE_RETHROW;
    }
  }

  T state_;
  F next_;
  bool has_ended_ = false;
  std::optional<Made> future_;  // may use `state_` and the captures of `next_`
};

// Unfold()
//
// Returns a stream of the items that the futures `next(state)` give, one after
// another. `state` begins as `initial`, and is passed by reference: the
// reference is valid as long as the stream. Each future has an output of type
// `std::optional`, and `std::nullopt` ends the stream. Each item takes a unit
// of the cooperative budget.
//
// Destroying the stream cancels the running future. An exception from `next` or
// from a future propagates out of the poll, and the next poll calls `next`
// again.
template <class T, class F>
  requires internal::Unfolds<std::decay_t<F>, std::decay_t<T>>
UnfoldStream<std::decay_t<T>, std::decay_t<F>> Unfold(T&& initial, F&& next) {
  return UnfoldStream<std::decay_t<T>, std::decay_t<F>>(
      std::forward<T>(initial), std::forward<F>(next));
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_STREAMS_UNFOLD_H_

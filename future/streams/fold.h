// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fold.h
// -----------------------------------------------------------------------------
//
// Combines all items of a stream into one value:
//
//   int total = co_await (std::move(numbers) | rouse::Fold(0, std::plus<>()));

#ifndef ROUSE_FUTURE_STREAMS_FOLD_H_
#define ROUSE_FUTURE_STREAMS_FOLD_H_

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/panic.h"
#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {
// Satisfied if `F` combines a `T` and an item of the stream `S` into a `T`.
template <class F, class T, class S>
concept FoldsItemsOf =
    std::invocable<F&, T, StreamItem<S>> &&
    std::convertible_to<std::invoke_result_t<F&, T, StreamItem<S>>, T>;
}  // namespace internal

// FoldFuture
//
// See `Fold()`.
template <class S, class T, class F>
class [[nodiscard]] FoldFuture : public internal::EndingStream<S> {
 public:
  FoldFuture(S&& stream, T initial, F fold)
      : internal::EndingStream<S>(std::forward<S>(stream)),
        value_(std::in_place, std::move(initial)),
        fold_(std::move(fold)) {}

  PollResult<T> Poll(Context& cx) {
    if (this->HasEnded()) {
      Panic("Fold was polled after it completed; keep the result");
    }
    for (;;) {
      PollResult<std::optional<StreamItem<S>>> item = this->PollSource(cx);
      if (item.IsPending()) return kPending;
      if (!item->has_value()) return *std::move(value_);
      // The value need not be assignable.
      T next = std::invoke(fold_, *std::move(value_), **std::move(item));
      value_.emplace(std::move(next));
      // A next item may always be available, so the budget lets other tasks
      // run.
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
    }
  }

 private:
  std::optional<T> value_;
  F fold_;
};

// Fold()
//
// Returns a future of `fold(...fold(fold(initial, item1), item2)..., itemN)`,
// for the items of `stream`, or of `initial` if there are no items. The value
// is moved into `fold`. `fold` must not wait. Each item takes a unit of the
// cooperative budget.
//
// Destroying the future loses the value. An exception from `fold` propagates
// out of the poll, and the value is what `fold` has left.
template <Stream S, class T, class F>
  requires internal::FoldsItemsOf<std::decay_t<F>, std::decay_t<T>, S>
FoldFuture<S, std::decay_t<T>, std::decay_t<F>> Fold(S&& stream, T&& initial,
                                                     F&& fold) {
  return FoldFuture<S, std::decay_t<T>, std::decay_t<F>>(
      std::forward<S>(stream), std::forward<T>(initial), std::forward<F>(fold));
}

// Returns an adapter: `stream | Fold(initial, fold)` is
// `Fold(stream, initial, fold)`.
template <class T, class F>
auto Fold(T&& initial, F&& fold) {
  return StreamAdapter([initial = std::decay_t<T>(std::forward<T>(initial)),
                        fold = std::decay_t<F>(std::forward<F>(
                            fold))]<Stream S>(S&& stream) mutable {
    static_assert(
        internal::FoldsItemsOf<std::decay_t<F>, std::decay_t<T>, S>,
        "stream | Fold(initial, f): f must take the value and an item of "
        "the stream, and return the next value");
    return Fold(std::forward<S>(stream), std::move(initial), std::move(fold));
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_STREAMS_FOLD_H_

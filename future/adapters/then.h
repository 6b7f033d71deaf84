// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: then.h
// -----------------------------------------------------------------------------
//
// Makes a stream that awaits a future for each item of another stream, one
// after another:
//
//   auto users = std::move(ids) |
//                rouse::Then([&](int id) { return database.Load(id); });
//
// To run several of the futures at once, use `Map()` and `Buffered()`.

#ifndef ROUSE_FUTURE_ADAPTERS_THEN_H_
#define ROUSE_FUTURE_ADAPTERS_THEN_H_

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/exceptions.h"
#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/future.h"
#include "rouse/future/many/child_item.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {
// Names the future that `F` makes of an item of the stream `S`.
template <class F, class S>
using FutureOfItem =
    std::remove_cvref_t<std::invoke_result_t<F&, StreamItem<S>>>;

// Satisfied if `F` makes a future of each item of the stream `S`.
template <class F, class S>
concept MakesFuturesOf =
    std::invocable<F&, StreamItem<S>> && Future<FutureOfItem<F, S>>;
}  // namespace internal

// ThenStream
//
// See `Then()`.
template <class S, class F>
class [[nodiscard]] ThenStream : public internal::AdaptedStream<S> {
  using Made = internal::FutureOfItem<F, S>;
  using Output = FutureOutput<Made>;

 public:
  // The output of a future: a `std::reference_wrapper` in place of a reference,
  // and `std::monostate` in place of void.
  using Item = internal::ChildItem<Output>;

  ThenStream(S&& stream, F then)
      : internal::AdaptedStream<S>(std::forward<S>(stream)),
        then_(std::move(then)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    if (!future_.has_value()) {
      PollResult<std::optional<StreamItem<S>>> item = this->PollSource(cx);
      if (item.IsPending()) return kPending;
      if (!item->has_value()) return std::nullopt;
      future_.emplace(std::invoke(then_, **std::move(item)));
    }
    PollResult<Output> output = PollFuture(cx);
    if (output.IsPending()) return kPending;
    PollResult<std::optional<Item>> result(
        std::in_place, internal::ToChildItem(std::move(output)));
    future_.reset();
    return result;
  }

  void Trace(AwaitTrace& trace) const {
    if (future_.has_value()) {
      trace.Add(*future_);
    } else {
      internal::AdaptedStream<S>::Trace(trace);
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

  F then_;
  std::optional<Made> future_;  // may use the captures of `then_`
};

// Then()
//
// Returns a stream of the outputs of the futures `then(item)`, for each item of
// `stream` in order. The next item is not taken from `stream` before the future
// of the item before is ready.
//
// Cancellation: destroying the stream cancels the running future, whose item is
// lost. Destroying a `Next()` of the stream loses nothing.
//
// An exception from `then` or from a future propagates out of the poll. The
// stream continues with the next item.
template <Stream S, class F>
  requires internal::MakesFuturesOf<std::decay_t<F>, S>
ThenStream<S, std::decay_t<F>> Then(S&& stream, F&& then) {
  return ThenStream<S, std::decay_t<F>>(std::forward<S>(stream),
                                        std::forward<F>(then));
}

// Returns an adapter: `stream | Then(then)` is `Then(stream, then)`.
template <class F>
auto Then(F&& then) {
  return StreamAdapter([then = std::decay_t<F>(std::forward<F>(
                            then))]<Stream S>(S&& stream) mutable {
    static_assert(internal::MakesFuturesOf<std::decay_t<F>, S>,
                  "stream | Then(f): f must take an item of the stream, and "
                  "return a future; for a function that returns a value, use "
                  "Map(f)");
    return Then(std::forward<S>(stream), std::move(then));
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_ADAPTERS_THEN_H_

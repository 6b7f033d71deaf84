// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: once.h
// -----------------------------------------------------------------------------
//
// Makes a stream of one item:
//
//   auto greeting = rouse::Once(Message("hello"));
//   auto reply = rouse::Once(Ask(server));  // the output of a future

#ifndef ROUSE_FUTURE_STREAMS_ONCE_H_
#define ROUSE_FUTURE_STREAMS_ONCE_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/exceptions.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/future/many/child_item.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// OnceStream
//
// See `Once()`.
template <class T>
class [[nodiscard]] OnceStream {
 public:
  using Item = T;

  explicit OnceStream(T item) : item_(std::in_place, std::move(item)) {}

  PollResult<std::optional<T>> PollNext(Context&) {
    PollResult<std::optional<T>> item(std::in_place, std::move(item_));
    item_.reset();
    return item;
  }

 private:
  std::optional<T> item_;
};

// OnceFutureStream
//
// See `Once()`.
template <class F>
class [[nodiscard]] OnceFutureStream {
 public:
  using Item = internal::ChildItem<FutureOutput<F>>;

  explicit OnceFutureStream(F&& future)
      : future_(std::in_place, std::forward<F>(future)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    if (!future_.has_value()) return std::nullopt;
    PollResult<FutureOutput<F>> output = PollFuture(cx);
    if (output.IsPending()) return kPending;
    PollResult<std::optional<Item>> item(
        std::in_place, internal::ToChildItem(std::move(output)));
    future_.reset();
    return item;
  }

  bool BorrowsClosure() const {
    return future_.has_value() && internal::BorrowsClosure(future_->get());
  }

  void Trace(AwaitTrace& trace) const {
    if (future_.has_value()) trace.Add(future_->get());
  }

 private:
  // Polls the future. If the future throws, ends the stream.
  PollResult<FutureOutput<F>> PollFuture(Context& cx) {
    ROUSE_TRY { return future_->get().Poll(cx); }
    ROUSE_CATCH_ALL {
      future_.reset();
      ROUSE_RETHROW;
    }
  }

  std::optional<internal::OwnedOrRef<F>> future_;  // empty once finished
};

// Once()
//
// Returns a stream of one item, `item`, which is ready at once. Takes nothing
// of the budget.
template <class T>
  requires(!Future<T>)
OnceStream<std::decay_t<T>> Once(T&& item) {
  return OnceStream<std::decay_t<T>>(std::forward<T>(item));
}

// Returns a stream of the output of `future`: a `std::reference_wrapper` in
// place of a reference, and `std::monostate` in place of void. Destroying the
// stream cancels the future, unless it was passed as an lvalue. An exception
// from the future propagates out of the poll, and the stream has then ended.
template <Future F>
OnceFutureStream<F> Once(F&& future) {
  return OnceFutureStream<F>(std::forward<F>(future));
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_STREAMS_ONCE_H_

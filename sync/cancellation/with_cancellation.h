// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: with_cancellation.h
// -----------------------------------------------------------------------------
//
// Ends a future or a stream when a `CancellationToken` is cancelled:
//
//   absl::StatusOr<Reply> reply =
//       co_await rouse::WithCancellation(stop, Ask(database));
//
//   auto requests = rouse::WithCancellation(stop, std::move(receiver));
//   while (auto request = co_await rouse::Next(requests)) Handle(*request);
//
// `CancellationToken::RunUntilCancelled()` does the same for a future, and
// returns an optional instead of a status.

#ifndef ROUSE_SYNC_CANCELLATION_WITH_CANCELLATION_H_
#define ROUSE_SYNC_CANCELLATION_WITH_CANCELLATION_H_

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/future/single/status_output.h"
#include "rouse/future/stream.h"
#include "rouse/sync/cancellation/cancellation_token.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// WithCancellationFuture
//
// See `WithCancellation()`. Can be moved only before the first poll.
template <class F>
class [[nodiscard]] WithCancellationFuture {
  using T = FutureOutput<F>;

 public:
  using Output = internal::StatusOutput<T>;

  WithCancellationFuture(CancellationToken token, F&& future)
      : run_(std::move(token), std::forward<F>(future)) {}

  PollResult<Output> Poll(Context& cx) {
    auto result = run_.Poll(cx);
    if (result.IsPending()) return kPending;
    if (!result->has_value()) {
      return PollResult<Output>(
          std::in_place, internal::StatusOutputError<T>(absl::CancelledError(
                             "the CancellationToken was cancelled")));
    }
    if constexpr (std::is_void_v<T>) {
      return PollResult<Output>(absl::OkStatus());
    } else if constexpr (std::is_same_v<T, std::decay_t<T>&> &&
                         std::is_same_v<Output, absl::Status>) {
      return PollResult<Output>(std::in_place, (*result)->get());
    } else {
      return PollResult<Output>(std::in_place, **std::move(result));
    }
  }

  bool BorrowsClosure() const { return run_.BorrowsClosure(); }
  void Trace(AwaitTrace& trace) const { run_.Trace(trace); }

 private:
  RunUntilCancelledFuture<F> run_;
};

// WithCancellationStream
//
// See `WithCancellation()`. Can be moved only before the first poll.
template <class S>
class [[nodiscard]] WithCancellationStream {
  using Item = StreamItem<S>;

 public:
  WithCancellationStream(CancellationToken token, S&& stream)
      : cancelled_(token.CancelledOwned()),
        token_(std::move(token)),
        stream_(std::in_place, std::forward<S>(stream)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    if (!stream_.has_value()) return std::nullopt;
    if (!token_.IsCancelled()) {
      PollResult<std::optional<Item>> item = stream_->get().PollNext(cx);
      if (item.IsReady()) {
        if (!item->has_value()) End();
        return item;
      }
      // The first check takes no budget, because `stream` may have left none.
      if (!token_.IsCancelled() && cancelled_->Poll(cx).IsPending()) {
        return kPending;
      }
    }
    End();
    return std::nullopt;
  }

  bool BorrowsClosure() const {
    return stream_.has_value() && internal::BorrowsClosure(stream_->get());
  }
  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "WithCancellation");
    if (stream_.has_value()) branches.Add(stream_->get());
  }

 private:
  void End() {
    stream_.reset();
    cancelled_.reset();
  }

  // Empty once the stream has ended, as is `stream_`.
  std::optional<CancellationToken::OwnedCancelledFuture> cancelled_;
  CancellationToken token_;
  std::optional<internal::OwnedOrRef<S>> stream_;
};

// WithCancellation()
//
// Returns a future with the output of `future`, or with an error if `token` is
// cancelled first. The output is `absl::Status` for void and for a status, and
// otherwise `absl::StatusOr<T>`. A `StatusOr` is not nested, and a reference is
// a `std::reference_wrapper`.
//
// A token cancelled before the first poll wins: `future` is never polled.
// Later, a ready `future` wins: see `CancellationToken::RunUntilCancelled()`.
//
// An rvalue is moved in, and destroyed before the result is ready. An lvalue is
// polled in place and must outlive the result. A callable that returns a future
// is kept, as by `Join()`. The result keeps a copy of the token.
//
// Errors: `kCancelled` if the token is cancelled. Errors of `future` are passed
// on.
template <IntoFuture F>
WithCancellationFuture<internal::FutureFrom<F>> WithCancellation(
    CancellationToken token, F&& future) {
  return WithCancellationFuture<internal::FutureFrom<F>>(
      std::move(token), internal::ToFuture<F>(future));
}

// WithCancellation()
//
// Returns a stream of the items of `stream` that ends when `token` is
// cancelled. Each poll checks the token before `stream`, so that a stream whose
// items are always ready ends, too. An item is never lost: once the token is
// cancelled, no further item is taken from `stream`.
//
// An rvalue is moved in, and destroyed at the end. An lvalue is polled in place
// and must outlive the result. The result keeps a copy of the token.
template <Stream S>
  requires(!IntoFuture<S>)
WithCancellationStream<S> WithCancellation(CancellationToken token,
                                           S&& stream) {
  return WithCancellationStream<S>(std::move(token), std::forward<S>(stream));
}

}  // namespace rouse

#endif  // ROUSE_SYNC_CANCELLATION_WITH_CANCELLATION_H_

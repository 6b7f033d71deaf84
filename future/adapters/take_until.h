// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: take_until.h
// -----------------------------------------------------------------------------
//
// Makes a stream that ends when a future is ready:
//
//   auto messages = std::move(inbox) | rouse::TakeUntil(stop.Cancelled());

#ifndef ROUSE_FUTURE_ADAPTERS_TAKE_UNTIL_H_
#define ROUSE_FUTURE_ADAPTERS_TAKE_UNTIL_H_

#include <optional>
#include <utility>

#include "rouse/base/exceptions.h"
#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// TakeUntilStream
//
// See `TakeUntil()`.
template <class S, class F>
class [[nodiscard]] TakeUntilStream : public internal::EndingStream<S> {
  using Base = internal::EndingStream<S>;

 public:
  using Item = StreamItem<S>;

  TakeUntilStream(S&& stream, F&& until)
      : Base(std::forward<S>(stream)),
        until_(std::in_place, std::forward<F>(until)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    if (this->HasEnded()) return std::nullopt;
    if (PollUntil(cx)) {
      until_.reset();
      this->End();
      return std::nullopt;
    }
    PollResult<std::optional<Item>> item = this->PollSource(cx);
    if (this->HasEnded()) until_.reset();
    return item;
  }

  bool BorrowsClosure() const {
    return Base::BorrowsClosure() ||
           (until_.has_value() && internal::BorrowsClosure(until_->get()));
  }

  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "TakeUntil");
    if (this->HasEnded()) return;
    branches.Add(static_cast<const Base&>(*this));
    branches.Add(until_->get());
  }

 private:
  // Returns whether `until_` is ready. If it throws, ends the stream.
  bool PollUntil(Context& cx) {
    ROUSE_TRY { return until_->get().Poll(cx).IsReady(); }
    ROUSE_CATCH_ALL {
      until_.reset();
      this->End();
      ROUSE_RETHROW;
    }
  }

  std::optional<internal::OwnedOrRef<F>> until_;  // while there is a stream
};

// TakeUntil()
//
// Returns a stream of the items of `stream` until `until`, a future or a
// callable that returns a future, is ready. `until` is polled first: an item
// that is ready at the same time stays in `stream`. The output of `until` is
// dropped. At the end, a moved-in stream and a moved-in future are destroyed.
//
// Cancellation: destroying the stream cancels `until`, unless `until` was
// passed as an lvalue. An exception from `until` propagates out of the poll,
// and the stream has then ended.
template <Stream S, IntoFuture F>
TakeUntilStream<S, internal::FutureFrom<F>> TakeUntil(S&& stream, F&& until) {
  return TakeUntilStream<S, internal::FutureFrom<F>>(
      std::forward<S>(stream), internal::ToFuture<F>(until));
}

// Returns an adapter: `stream | TakeUntil(until)` is
// `TakeUntil(stream, until)`.
template <IntoFuture F>
auto TakeUntil(F&& until) {
  using Until = internal::OwnedOrRef<internal::FutureFrom<F>>;
  return StreamAdapter([until = Until(internal::ToFuture<F>(until))]<Stream S>(
                           S&& stream) mutable {
    return TakeUntil(std::forward<S>(stream),
                     static_cast<internal::FutureFrom<F>&&>(until.get()));
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_ADAPTERS_TAKE_UNTIL_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: forward.h
// -----------------------------------------------------------------------------
//
// Sends all items of a stream to a sink, such as the sender of a channel or a
// `Framed`:
//
//   absl::Status status = co_await (std::move(lines) | rouse::Forward(tx));

#ifndef ROUSE_FUTURE_STREAMS_FORWARD_H_
#define ROUSE_FUTURE_STREAMS_FORWARD_H_

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/future/streams/sink.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ForwardFuture
//
// See `Forward()`.
template <class S, class K>
class [[nodiscard]] ForwardFuture {
  using T = StreamItem<S>;
  using Sent =
      std::remove_cvref_t<decltype(std::declval<K&>().Send(std::declval<T>()))>;
  static constexpr bool kWaits = Future<Sent>;

 public:
  ForwardFuture(S&& stream, K&& sink)
      : stream_(std::in_place, std::forward<S>(stream)),
        sink_(std::in_place, std::forward<K>(sink)) {}

  PollResult<absl::Status> Poll(Context& cx) {
    if (!stream_.has_value()) {
      Panic("Forward was polled after it completed; call Forward() again");
    }
    for (;;) {
      PollResult<absl::Status> sent = PollSend(cx);
      if (sent.IsPending()) return kPending;
      if (!sent->ok()) {
        End();
        return sent;
      }
      PollResult<std::optional<T>> item = stream_->get().PollNext(cx);
      if (item.IsPending()) return kPending;
      if (!item->has_value()) {
        End();
        return absl::OkStatus();
      }
      unsent_.emplace(**std::move(item));
      // A next item may always be available, so the budget lets other tasks
      // run.
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
    }
  }

  // Returns the item that was taken from the stream and not sent, if any, and
  // if the sink gives it back: after an error, or before a pending future is
  // destroyed. The future must not be polled afterwards.
  std::optional<T> TakeUnsent() {
    KeepUnsent();
    std::optional<T> item = std::move(unsent_);
    unsent_.reset();
    return item;
  }

  bool BorrowsClosure() const {
    return stream_.has_value() && (internal::BorrowsClosure(stream_->get()) ||
                                   internal::BorrowsClosure(sink_->get()));
  }

  void Trace(AwaitTrace& trace) const {
    if constexpr (kWaits) {
      if (send_.has_value()) return trace.Add(*send_);
    }
    if (stream_.has_value()) trace.Add(stream_->get());
  }

 private:
  struct Nothing {};

  template <class Outcome>
  static absl::Status ToStatus(Outcome&& outcome) {
    if constexpr (std::convertible_to<Outcome, absl::Status>) {
      return std::forward<Outcome>(outcome);
    } else {
      return std::forward<Outcome>(outcome).status();
    }
  }

  // Sends the item that was taken from the stream, if any.
  PollResult<absl::Status> PollSend(Context& cx) {
    if constexpr (kWaits) {
      if (!send_.has_value()) {
        if (!unsent_.has_value()) return absl::OkStatus();
        ROUSE_TRY { send_.emplace(sink_->get().Send(*std::move(unsent_))); }
        ROUSE_CATCH_ALL {
          // The item may have been moved from.
          unsent_.reset();
          ROUSE_RETHROW;
        }
        unsent_.reset();
      }
      return PollFuture(cx);
    } else {
      if (!unsent_.has_value()) return absl::OkStatus();
      ROUSE_TRY {
        absl::Status status = ToStatus(sink_->get().Send(*std::move(unsent_)));
        if (status.ok()) unsent_.reset();
        return status;
      }
      ROUSE_CATCH_ALL {
        unsent_.reset();
        ROUSE_RETHROW;
      }
    }
  }

  PollResult<absl::Status> PollFuture(Context& cx) {
    ROUSE_TRY {
      auto outcome = send_->Poll(cx);
      if (outcome.IsPending()) return kPending;
      absl::Status status = ToStatus(*std::move(outcome));
      if (!status.ok()) KeepUnsent();
      send_.reset();
      return status;
    }
    ROUSE_CATCH_ALL {
      // The future has ended.
      send_.reset();
      ROUSE_RETHROW;
    }
  }

  // Takes an item that was not sent back from the future of the sink.
  void KeepUnsent() {
    if constexpr (kWaits) {
      if (!send_.has_value()) return;
      if constexpr (requires(Sent& send) {
                      { send.TakeValue() } -> std::convertible_to<T>;
                    }) {
        unsent_.emplace(send_->TakeValue());
      }
      send_.reset();
    }
  }

  void End() {
    stream_.reset();
    sink_.reset();
  }

  // Both are empty once finished.
  std::optional<internal::OwnedOrRef<S>> stream_;
  std::optional<internal::OwnedOrRef<K>> sink_;
  std::optional<T> unsent_;
  // Refers to the sink.
  [[no_unique_address]] std::conditional_t<kWaits, std::optional<Sent>, Nothing>
      send_;
};

// Forward()
//
// Returns a future that sends each item of `stream` to `sink`, one after
// another. The output is `absl::OkStatus()` when the stream has ended and its
// last item is sent, or the first error of the sink. A moved-in stream and a
// moved-in sink are then destroyed: the channel of the last sender is closed.
// To send to a sink from several streams, pass a copy of the sender.
//
// The item that caused an error is not lost if the sink gives it back, as the
// senders of mpsc channels do: see `ForwardFuture::TakeUnsent()`. The items
// behind it are left in an lvalue.
//
// Cancellation: destroying the future loses an item that is being sent, unless
// `TakeUnsent()` is called before.
//
// Each item takes a unit of the cooperative budget. An exception from the
// stream or the sink propagates out of the poll. The next poll continues
// without an item whose send has thrown.
template <Stream S, class K>
  requires Sink<K, StreamItem<S>>
ForwardFuture<S, K> Forward(S&& stream, K&& sink) {
  return ForwardFuture<S, K>(std::forward<S>(stream), std::forward<K>(sink));
}

// Returns an adapter: `stream | Forward(sink)` is `Forward(stream, sink)`.
template <class K>
auto Forward(K&& sink) {
  return StreamAdapter([sink = internal::OwnedOrRef<K>(std::forward<K>(
                            sink))]<Stream S>(S&& stream) mutable {
    static_assert(Sink<K, StreamItem<S>>,
                  "stream | Forward(sink): the sink must have a function "
                  "Send(item) for the items of the stream, which returns an "
                  "absl::Status or a future of an absl::Status");
    return Forward(std::forward<S>(stream), static_cast<K&&>(sink.get()));
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_STREAMS_FORWARD_H_

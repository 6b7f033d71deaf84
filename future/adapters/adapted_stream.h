// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: adapted_stream.h
// -----------------------------------------------------------------------------
//
// Defines the base classes of streams and futures that are made of one stream.
// Internal to this project.

#ifndef ROUSE_FUTURE_ADAPTERS_ADAPTED_STREAM_H_
#define ROUSE_FUTURE_ADAPTERS_ADAPTED_STREAM_H_

#include <optional>
#include <utility>

#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/future/stream.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// AdaptedStream
//
// Holds the stream `S` as long as the adapter lives.
template <class S>
class AdaptedStream {
 public:
  // Returns false for what a function of the adapter makes: the adapter owns
  // the function.
  bool BorrowsClosure() const {
    return internal::BorrowsClosure(stream_.get());
  }

  void Trace(AwaitTrace& trace) const { trace.Add(stream_.get()); }

 protected:
  explicit AdaptedStream(S&& stream) : stream_(std::forward<S>(stream)) {}

  PollResult<std::optional<StreamItem<S>>> PollSource(Context& cx) {
    return stream_.get().PollNext(cx);
  }

  OwnedOrRef<S> stream_;
};

// EndingStream
//
// Holds the stream `S` until the stream ends, or until the adapter calls
// `End()`. A moved-in stream is then destroyed.
template <class S>
class EndingStream {
 public:
  bool BorrowsClosure() const {
    return stream_.has_value() && internal::BorrowsClosure(stream_->get());
  }

  void Trace(AwaitTrace& trace) const {
    if (stream_.has_value()) trace.Add(stream_->get());
  }

 protected:
  explicit EndingStream(S&& stream)
      : stream_(std::in_place, std::forward<S>(stream)) {}

  bool HasEnded() const { return !stream_.has_value(); }
  void End() { stream_.reset(); }

  // Polls the stream. After the end, returns `std::nullopt`.
  PollResult<std::optional<StreamItem<S>>> PollSource(Context& cx) {
    if (!stream_.has_value()) return std::nullopt;
    PollResult<std::optional<StreamItem<S>>> item = stream_->get().PollNext(cx);
    if (item.IsReady() && !item->has_value()) End();
    return item;
  }

 private:
  std::optional<OwnedOrRef<S>> stream_;
};

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_FUTURE_ADAPTERS_ADAPTED_STREAM_H_

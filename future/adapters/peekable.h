// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: peekable.h
// -----------------------------------------------------------------------------
//
// Makes a stream whose next item can be looked at before it is taken:
//
//   auto tokens = std::move(stream) | rouse::Peekable();
//   const Token* token = co_await tokens.Peek();
//   if (token != nullptr && token->IsNumber()) ...
//
//   // Takes the digits, and leaves the first other token in the stream.
//   while (auto digit = co_await tokens.NextIf(&Token::IsDigit)) ...

#ifndef ROUSE_FUTURE_ADAPTERS_PEEKABLE_H_
#define ROUSE_FUTURE_ADAPTERS_PEEKABLE_H_

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/base/panic.h"
#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

template <class S>
class PeekFuture;
template <class S, class F>
class NextIfFuture;

// PeekableStream
//
// See `Peekable()`. Keeps an item, or the end of the stream, between a peek and
// the next item. Destroying the `PeekableStream` loses the kept item, even if
// the stream was passed as an lvalue.
template <class S>
class [[nodiscard]] PeekableStream : public internal::AdaptedStream<S> {
 public:
  using Item = StreamItem<S>;

  explicit PeekableStream(S&& stream)
      : internal::AdaptedStream<S>(std::forward<S>(stream)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    if (!peeked_.has_value()) return this->PollSource(cx);
    PollResult<std::optional<Item>> item(std::in_place, *std::move(peeked_));
    peeked_.reset();
    return item;
  }

  // Returns a future of a pointer to the next item, or of null at the end of
  // the stream. The item stays in the stream, and may be changed. The pointer
  // is valid until the next item is taken or the stream is moved or destroyed.
  // Destroying the future loses nothing.
  PeekFuture<S> Peek() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return PeekFuture<S>(*this);
  }

  // Polls for the next item as the future of `Peek()` does.
  PollResult<Item*> PollPeek(Context& cx) {
    if (!peeked_.has_value()) {
      PollResult<std::optional<Item>> item = this->PollSource(cx);
      if (item.IsPending()) return kPending;
      peeked_.emplace(*std::move(item));
    }
    return peeked_->has_value() ? &**peeked_ : nullptr;
  }

  // Returns a future of the next item if `takes(item)` is true, and of
  // `std::nullopt` otherwise or at the end of the stream. An item for which
  // `takes` is false, or throws an exception, stays in the stream. Destroying
  // the future loses nothing. `takes` must not wait.
  template <class F>
    requires std::predicate<std::decay_t<F>&, const StreamItem<S>&>
  NextIfFuture<S, std::decay_t<F>> NextIf(F&& takes)
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return NextIfFuture<S, std::decay_t<F>>(*this, std::forward<F>(takes));
  }

 private:
  // The next item, or the end of the stream, if known.
  std::optional<std::optional<Item>> peeked_;
};

// PeekFuture
//
// See `PeekableStream::Peek()`. Can be moved at any time.
template <class S>
class [[nodiscard]] PeekFuture {
 public:
  explicit PeekFuture(PeekableStream<S>& stream) : stream_(&stream) {}

  PollResult<StreamItem<S>*> Poll(Context& cx) {
    if (stream_ == nullptr) {
      Panic("Peek was polled after it completed; call Peek() again");
    }
    PollResult<StreamItem<S>*> item = stream_->PollPeek(cx);
    if (item.IsReady()) stream_ = nullptr;
    return item;
  }

  void Trace(AwaitTrace& trace) const {
    if (stream_ != nullptr) stream_->Trace(trace);
  }

 private:
  PeekableStream<S>* stream_;  // null once finished
};

// NextIfFuture
//
// See `PeekableStream::NextIf()`. Can be moved at any time.
template <class S, class F>
class [[nodiscard]] NextIfFuture {
 public:
  NextIfFuture(PeekableStream<S>& stream, F takes)
      : stream_(&stream), takes_(std::move(takes)) {}

  PollResult<std::optional<StreamItem<S>>> Poll(Context& cx) {
    if (stream_ == nullptr) {
      Panic("NextIf was polled after it completed; call NextIf() again");
    }
    PollResult<StreamItem<S>*> item = stream_->PollPeek(cx);
    if (item.IsPending()) return kPending;
    PeekableStream<S>& stream = *std::exchange(stream_, nullptr);
    if (*item == nullptr || !std::invoke(takes_, std::as_const(**item))) {
      return std::nullopt;
    }
    return stream.PollNext(cx);
  }

  void Trace(AwaitTrace& trace) const {
    if (stream_ != nullptr) stream_->Trace(trace);
  }

 private:
  PeekableStream<S>* stream_;  // null once finished
  F takes_;
};

// Peekable()
//
// Returns a stream of the items of `stream`, with the functions `Peek()` and
// `NextIf()`.
template <Stream S>
PeekableStream<S> Peekable(S&& stream) {
  return PeekableStream<S>(std::forward<S>(stream));
}

// Returns an adapter: `stream | Peekable()` is `Peekable(stream)`.
inline auto Peekable() {
  return StreamAdapter(
      []<Stream S>(S&& stream) { return Peekable(std::forward<S>(stream)); });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_ADAPTERS_PEEKABLE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: take_while.h
// -----------------------------------------------------------------------------
//
// Makes a stream of the items of another stream up to the first item that does
// not belong:
//
//   auto headers = rouse::TakeWhile(lines, [](const std::string& line) {
//     return !line.empty();
//   });

#ifndef ROUSE_FUTURE_ADAPTERS_TAKE_WHILE_H_
#define ROUSE_FUTURE_ADAPTERS_TAKE_WHILE_H_

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// TakeWhileStream
//
// See `TakeWhile()`.
template <class S, class F>
class [[nodiscard]] TakeWhileStream : public internal::EndingStream<S> {
 public:
  using Item = StreamItem<S>;

  TakeWhileStream(S&& stream, F takes)
      : internal::EndingStream<S>(std::forward<S>(stream)),
        takes_(std::move(takes)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    PollResult<std::optional<Item>> item = this->PollSource(cx);
    if (item.IsPending() || !item->has_value()) return item;
    if (std::invoke(takes_, std::as_const(**item))) return item;
    this->End();
    return std::nullopt;
  }

 private:
  F takes_;
};

// TakeWhile()
//
// Returns a stream of the items of `stream` before the first item for which
// `takes(item)` is false. This item is lost: to keep it in a stream, use
// `NextIf()` of a `Peekable()`. The remaining items of an lvalue are left in
// the stream. A moved-in stream is destroyed at the end. `takes` must not wait.
// An exception from `takes` propagates out of the poll, and the item is lost.
template <Stream S, class F>
  requires std::predicate<std::decay_t<F>&, const StreamItem<S>&>
TakeWhileStream<S, std::decay_t<F>> TakeWhile(S&& stream, F&& takes) {
  return TakeWhileStream<S, std::decay_t<F>>(std::forward<S>(stream),
                                             std::forward<F>(takes));
}

// Returns an adapter: `stream | TakeWhile(takes)` is
// `TakeWhile(stream, takes)`.
template <class F>
auto TakeWhile(F&& takes) {
  return StreamAdapter([takes = std::decay_t<F>(std::forward<F>(
                            takes))]<Stream S>(S&& stream) mutable {
    static_assert(std::predicate<std::decay_t<F>&, const StreamItem<S>&>,
                  "stream | TakeWhile(takes): takes must take an item of the "
                  "stream as a const reference, and return a bool");
    return TakeWhile(std::forward<S>(stream), std::move(takes));
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_ADAPTERS_TAKE_WHILE_H_

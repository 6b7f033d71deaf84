// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: map_while.h
// -----------------------------------------------------------------------------
//
// Makes a stream that changes the items of another stream, up to the first item
// that cannot be changed:
//
//   auto frames = std::move(packets) | rouse::MapWhile(&DecodeFrame);
//
// where `DecodeFrame` returns a `std::optional<Frame>`.

#ifndef ROUSE_FUTURE_ADAPTERS_MAP_WHILE_H_
#define ROUSE_FUTURE_ADAPTERS_MAP_WHILE_H_

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/adapters/optional_result.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// MapWhileStream
//
// See `MapWhile()`.
template <class S, class F>
class [[nodiscard]] MapWhileStream : public internal::EndingStream<S> {
 public:
  using Item = typename internal::OptionalResult<F&, StreamItem<S>>::value_type;

  MapWhileStream(S&& stream, F map)
      : internal::EndingStream<S>(std::forward<S>(stream)),
        map_(std::move(map)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    PollResult<std::optional<StreamItem<S>>> item = this->PollSource(cx);
    if (item.IsPending()) return kPending;
    if (!item->has_value()) return std::nullopt;
    std::optional<Item> mapped = std::invoke(map_, **std::move(item));
    if (!mapped.has_value()) this->End();
    return mapped;
  }

 private:
  F map_;
};

// MapWhile()
//
// Returns a stream of the values in `map(item)`, a `std::optional`, for each
// item of `stream`. The stream ends when `map` returns `std::nullopt`. The item
// is lost then. The remaining items of an lvalue are left in the stream. A
// moved-in stream is destroyed at the end. `map` must not wait. An exception
// from `map` propagates out of the poll, and the item is lost.
template <Stream S, class F>
  requires internal::ReturnsOptional<std::decay_t<F>&, StreamItem<S>>
MapWhileStream<S, std::decay_t<F>> MapWhile(S&& stream, F&& map) {
  return MapWhileStream<S, std::decay_t<F>>(std::forward<S>(stream),
                                            std::forward<F>(map));
}

// Returns an adapter: `stream | MapWhile(map)` is `MapWhile(stream, map)`.
template <class F>
auto MapWhile(F&& map) {
  return StreamAdapter([map = std::decay_t<F>(std::forward<F>(map))]<Stream S>(
                           S&& stream) mutable {
    static_assert(
        internal::ReturnsOptional<std::decay_t<F>&, StreamItem<S>>,
        "stream | MapWhile(f): f must take an item of the stream, and return "
        "a std::optional");
    return MapWhile(std::forward<S>(stream), std::move(map));
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_ADAPTERS_MAP_WHILE_H_

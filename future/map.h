// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: map.h
// -----------------------------------------------------------------------------
//
// Makes a stream that applies a function to each item of another stream:
//
//   auto lengths = rouse::Map(std::move(lines), [](std::string line) {
//     return line.size();
//   });
//
// or, from left to right (stream_pipe.h):
//
//   auto lengths = std::move(lines) | rouse::Map(&std::string::size);

#ifndef ROUSE_FUTURE_MAP_H_
#define ROUSE_FUTURE_MAP_H_

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/future/await_trace.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {
// Satisfied if `F` makes a value of each item of the stream `S`.
template <class F, class S>
concept MapsItemsOf = std::invocable<F&, StreamItem<S>> &&
                      !std::is_void_v<std::invoke_result_t<F&, StreamItem<S>>>;
}  // namespace internal

// MapStream
//
// See `Map()`.
template <class S, class F>
class [[nodiscard]] MapStream {
 public:
  using Item = std::remove_cvref_t<std::invoke_result_t<F&, StreamItem<S>>>;

  MapStream(S&& stream, F map)
      : stream_(std::forward<S>(stream)), map_(std::move(map)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    PollResult<std::optional<StreamItem<S>>> item = stream_.get().PollNext(cx);
    if (item.IsPending()) return kPending;
    if (!item->has_value()) return std::nullopt;
    return PollResult<std::optional<Item>>(
        std::in_place, std::invoke(map_, **std::move(item)));
  }

  void Trace(AwaitTrace& trace) const { trace.Add(stream_.get()); }

 private:
  internal::OwnedOrRef<S> stream_;
  F map_;
};

// Map()
//
// Returns a stream of `map(item)` for each item of `stream`. `map` must not
// wait. An exception from `map` propagates out of the poll, and the item is
// lost.
template <Stream S, class F>
  requires internal::MapsItemsOf<std::decay_t<F>, S>
MapStream<S, std::decay_t<F>> Map(S&& stream, F&& map) {
  return MapStream<S, std::decay_t<F>>(std::forward<S>(stream),
                                       std::forward<F>(map));
}

// Returns an adapter: `stream | Map(map)` is `Map(stream, map)`.
template <class F>
auto Map(F&& map) {
  return StreamAdapter([map = std::decay_t<F>(std::forward<F>(map))]<Stream S>(
                           S&& stream) mutable {
    static_assert(internal::MapsItemsOf<std::decay_t<F>, S>,
                  "stream | Map(f): f must take an item of the stream, and "
                  "return a value");
    return Map(std::forward<S>(stream), std::move(map));
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_MAP_H_

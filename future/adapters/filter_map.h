// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: filter_map.h
// -----------------------------------------------------------------------------
//
// Makes a stream that selects and changes the items of another stream with one
// function:
//
//   auto numbers = std::move(lines) | rouse::FilterMap(&ParseNumber);
//
// where `ParseNumber` returns a `std::optional<int>`.

#ifndef ROUSE_FUTURE_ADAPTERS_FILTER_MAP_H_
#define ROUSE_FUTURE_ADAPTERS_FILTER_MAP_H_

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

// FilterMapStream
//
// See `FilterMap()`.
template <class S, class F>
class [[nodiscard]] FilterMapStream : public internal::AdaptedStream<S> {
 public:
  using Item = typename internal::OptionalResult<F&, StreamItem<S>>::value_type;

  FilterMapStream(S&& stream, F map)
      : internal::AdaptedStream<S>(std::forward<S>(stream)),
        map_(std::move(map)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    for (;;) {
      PollResult<std::optional<StreamItem<S>>> item = this->PollSource(cx);
      if (item.IsPending()) return kPending;
      if (!item->has_value()) return std::nullopt;
      std::optional<Item> mapped = std::invoke(map_, **std::move(item));
      if (mapped.has_value()) return mapped;
      // Dropping items is work without a visible result, so the budget bounds
      // it.
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
    }
  }

 private:
  F map_;
};

// FilterMap()
//
// Returns a stream of the values in `map(item)`, a `std::optional`, for each
// item of `stream`. An item for which `map` returns `std::nullopt` is dropped.
// `map` must not wait. Each dropped item takes a unit of the cooperative
// budget. An exception from `map` propagates out of the poll, and the item is
// lost.
template <Stream S, class F>
  requires internal::ReturnsOptional<std::decay_t<F>&, StreamItem<S>>
FilterMapStream<S, std::decay_t<F>> FilterMap(S&& stream, F&& map) {
  return FilterMapStream<S, std::decay_t<F>>(std::forward<S>(stream),
                                             std::forward<F>(map));
}

// Returns an adapter: `stream | FilterMap(map)` is `FilterMap(stream, map)`.
template <class F>
auto FilterMap(F&& map) {
  return StreamAdapter([map = std::decay_t<F>(std::forward<F>(map))]<Stream S>(
                           S&& stream) mutable {
    static_assert(
        internal::ReturnsOptional<std::decay_t<F>&, StreamItem<S>>,
        "stream | FilterMap(f): f must take an item of the stream, and return "
        "a std::optional");
    return FilterMap(std::forward<S>(stream), std::move(map));
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_ADAPTERS_FILTER_MAP_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: flatten.h
// -----------------------------------------------------------------------------
//
// Makes a stream of the items of the streams that another stream gives, one
// stream after another:
//
//   // All lines of all files.
//   auto lines = rouse::Iter(std::move(files)) | rouse::FlatMap(&ReadLines);
//
// To take the items of several streams as they come, use `MergeAll()`.

#ifndef ROUSE_FUTURE_ADAPTERS_FLATTEN_H_
#define ROUSE_FUTURE_ADAPTERS_FLATTEN_H_

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/map.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// FlattenStream
//
// See `Flatten()`.
template <class S>
class [[nodiscard]] FlattenStream : public internal::AdaptedStream<S> {
  using Inner = StreamItem<S>;

 public:
  using Item = StreamItem<Inner>;

  explicit FlattenStream(S&& stream)
      : internal::AdaptedStream<S>(std::forward<S>(stream)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    for (;;) {
      if (!inner_.has_value()) {
        PollResult<std::optional<Inner>> next = this->PollSource(cx);
        if (next.IsPending()) return kPending;
        if (!next->has_value()) return std::nullopt;
        inner_.emplace(**std::move(next));
      }
      PollResult<std::optional<Item>> item = inner_->PollNext(cx);
      if (item.IsPending() || item->has_value()) return item;
      inner_.reset();
      // There may always be another empty stream, so the budget lets other
      // tasks run.
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
    }
  }

  void Trace(AwaitTrace& trace) const {
    if (inner_.has_value()) {
      trace.Add(*inner_);
    } else {
      internal::AdaptedStream<S>::Trace(trace);
    }
  }

 private:
  std::optional<Inner> inner_;  // may use what the outer stream owns
};

// Flatten()
//
// Returns a stream of the items of the streams that `stream` gives. The next
// stream is not taken before the stream before has ended and is destroyed. Each
// stream takes a unit of the cooperative budget. An exception propagates out of
// the poll, and the next poll continues with the same inner stream.
//
// Destroying the result destroys the current inner stream, even if `stream` was
// passed as an lvalue.
template <Stream S>
  requires Stream<StreamItem<S>>
FlattenStream<S> Flatten(S&& stream) {
  return FlattenStream<S>(std::forward<S>(stream));
}

// Returns an adapter: `stream | Flatten()` is `Flatten(stream)`.
inline auto Flatten() {
  return StreamAdapter([]<Stream S>(S&& stream) {
    static_assert(Stream<StreamItem<S>>,
                  "stream | Flatten(): the items of the stream must be "
                  "streams; make a stream of a container with "
                  "Iter(container)");
    return Flatten(std::forward<S>(stream));
  });
}

namespace internal {
// Satisfied if `F` makes a stream of each item of the stream `S`.
template <class F, class S>
concept MakesStreamsOf =
    MapsItemsOf<F, S> &&
    Stream<std::remove_cvref_t<std::invoke_result_t<F&, StreamItem<S>>>>;
}  // namespace internal

// FlatMap()
//
// Returns a stream of the items of the streams `map(item)`, for each item of
// `stream`. The same as `Flatten(Map(stream, map))`.
template <Stream S, class F>
  requires internal::MakesStreamsOf<std::decay_t<F>, S>
FlattenStream<MapStream<S, std::decay_t<F>>> FlatMap(S&& stream, F&& map) {
  return Flatten(Map(std::forward<S>(stream), std::forward<F>(map)));
}

// Returns an adapter: `stream | FlatMap(map)` is `FlatMap(stream, map)`.
template <class F>
auto FlatMap(F&& map) {
  return StreamAdapter([map = std::decay_t<F>(std::forward<F>(map))]<Stream S>(
                           S&& stream) mutable {
    static_assert(internal::MakesStreamsOf<std::decay_t<F>, S>,
                  "stream | FlatMap(f): f must take an item of the stream, and "
                  "return a stream; make a stream of a container with "
                  "Iter(container)");
    return FlatMap(std::forward<S>(stream), std::move(map));
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_ADAPTERS_FLATTEN_H_

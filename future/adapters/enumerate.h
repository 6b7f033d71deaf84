// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: enumerate.h
// -----------------------------------------------------------------------------
//
// Makes a stream that numbers the items of another stream from 0:
//
//   auto lines = std::move(text) | rouse::Enumerate();
//   while (auto line = co_await rouse::Next(lines)) {
//     Print(line->first, line->second);
//   }

#ifndef ROUSE_FUTURE_ADAPTERS_ENUMERATE_H_
#define ROUSE_FUTURE_ADAPTERS_ENUMERATE_H_

#include <cstddef>
#include <optional>
#include <utility>

#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// EnumerateStream
//
// See `Enumerate()`.
template <class S>
class [[nodiscard]] EnumerateStream : public internal::AdaptedStream<S> {
 public:
  using Item = std::pair<size_t, StreamItem<S>>;

  explicit EnumerateStream(S&& stream)
      : internal::AdaptedStream<S>(std::forward<S>(stream)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    PollResult<std::optional<StreamItem<S>>> item = this->PollSource(cx);
    if (item.IsPending()) return kPending;
    if (!item->has_value()) return std::nullopt;
    return PollResult<std::optional<Item>>(std::in_place, std::in_place,
                                           next_++, **std::move(item));
  }

 private:
  size_t next_ = 0;
};

// Enumerate()
//
// Returns a stream of a `std::pair` for each item of `stream`: the number of
// the item, from 0, and the item.
template <Stream S>
EnumerateStream<S> Enumerate(S&& stream) {
  return EnumerateStream<S>(std::forward<S>(stream));
}

// Returns an adapter: `stream | Enumerate()` is `Enumerate(stream)`.
inline auto Enumerate() {
  return StreamAdapter(
      []<Stream S>(S&& stream) { return Enumerate(std::forward<S>(stream)); });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_ADAPTERS_ENUMERATE_H_

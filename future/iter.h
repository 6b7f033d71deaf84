// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: iter.h
// -----------------------------------------------------------------------------
//
// Makes a stream of the elements of a container:
//
//   auto squares = rouse::Map(rouse::Iter(std::vector{1, 2, 3}),
//                             [](int x) { return x * x; });

#ifndef ROUSE_FUTURE_ITER_H_
#define ROUSE_FUTURE_ITER_H_

#include <optional>
#include <ranges>
#include <utility>

#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// IterStream
//
// See `Iter()`.
template <class C>
class [[nodiscard]] IterStream {
 public:
  using Item = std::ranges::range_value_t<C>;

  explicit IterStream(C container) : container_(std::move(container)) {}

  PollResult<std::optional<Item>> PollNext(Context&) {
    if (!next_.has_value()) next_.emplace(std::ranges::begin(container_));
    if (*next_ == std::ranges::end(container_)) return std::nullopt;
    return PollResult<std::optional<Item>>(std::in_place,
                                           std::move(*(*next_)++));
  }

 private:
  C container_;
  // Empty until the first poll: the container may move before.
  std::optional<std::ranges::iterator_t<C>> next_;
};

// Iter()
//
// Returns a stream that moves out the elements of `container`, from the first
// to the last. Always ready, and takes nothing of the budget. Can be moved only
// before the first poll.
template <std::ranges::input_range C>
IterStream<C> Iter(C container) {
  return IterStream<C>(std::move(container));
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_ITER_H_

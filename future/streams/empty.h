// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: empty.h
// -----------------------------------------------------------------------------
//
// Makes a stream without items:
//
//   auto none = rouse::Empty<int>();

#ifndef ROUSE_FUTURE_STREAMS_EMPTY_H_
#define ROUSE_FUTURE_STREAMS_EMPTY_H_

#include <optional>

#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// EmptyStream
//
// See `Empty()`.
template <class T>
class [[nodiscard]] EmptyStream {
 public:
  EmptyStream() = default;

  PollResult<std::optional<T>> PollNext(Context&) { return std::nullopt; }
};

// Empty()
//
// Returns a stream of items of type `T` that has ended.
template <class T>
EmptyStream<T> Empty() {
  return {};
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_STREAMS_EMPTY_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fuse.h
// -----------------------------------------------------------------------------
//
// Makes a stream that ends for good out of a stream that can continue after its
// end, such as a `FuturesUnordered`:
//
//   auto outputs = std::move(futures) | rouse::Fuse();

#ifndef ROUSE_FUTURE_ADAPTERS_FUSE_H_
#define ROUSE_FUTURE_ADAPTERS_FUSE_H_

#include <optional>
#include <utility>

#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// FuseStream
//
// See `Fuse()`.
template <class S>
class [[nodiscard]] FuseStream : public internal::EndingStream<S> {
 public:
  using Item = StreamItem<S>;

  explicit FuseStream(S&& stream)
      : internal::EndingStream<S>(std::forward<S>(stream)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    return this->PollSource(cx);
  }

  // Returns whether the end of the stream has been returned.
  using internal::EndingStream<S>::HasEnded;
};

// Fuse()
//
// Returns a stream of the items of `stream` that ends permanently at the first
// end of `stream`. A moved-in stream is then destroyed, and an lvalue is polled
// no more.
template <Stream S>
FuseStream<S> Fuse(S&& stream) {
  return FuseStream<S>(std::forward<S>(stream));
}

// Returns an adapter: `stream | Fuse()` is `Fuse(stream)`.
inline auto Fuse() {
  return StreamAdapter(
      []<Stream S>(S&& stream) { return Fuse(std::forward<S>(stream)); });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_ADAPTERS_FUSE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ready_chunks.h
// -----------------------------------------------------------------------------
//
// Collects the items that a stream has at present in a vector, so that a reader
// who is late handles many at once:
//
//   auto batches = std::move(messages) | rouse::ReadyChunks(64);

#ifndef ROUSE_FUTURE_ADAPTERS_READY_CHUNKS_H_
#define ROUSE_FUTURE_ADAPTERS_READY_CHUNKS_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/adapters/chunks.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ReadyChunksStream
//
// See `ReadyChunks()`.
template <class S>
class [[nodiscard]] ReadyChunksStream : public internal::EndingStream<S> {
 public:
  using Item = std::vector<StreamItem<S>>;

  ReadyChunksStream(S&& stream, size_t size)
      : internal::EndingStream<S>(std::forward<S>(stream)), size_(size) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    while (chunk_.size() < size_) {
      if (!cx.HasBudget()) {
        if (chunk_.empty()) return YieldForBudget(cx);
        break;
      }
      PollResult<std::optional<StreamItem<S>>> item = this->PollSource(cx);
      if (item.IsPending()) {
        if (chunk_.empty()) return kPending;
        break;
      }
      if (!item->has_value()) {
        if (chunk_.empty()) return std::nullopt;
        break;
      }
      chunk_.push_back(**std::move(item));
      TakeUnitIfAny(cx);
    }
    return std::optional<Item>(std::exchange(chunk_, Item()));
  }

 private:
  const size_t size_;
  Item chunk_;  // empty between two polls, except after an exception
};

// ReadyChunks()
//
// Returns a stream of vectors of the items that `stream` has ready, at most
// `size` and at least one each. Waits only if no item is ready. Panics if
// `size` is 0. Each item takes a unit of the cooperative budget, and a chunk
// ends when the budget does.
//
// Nothing is kept between two polls, so that destroying the stream loses no
// item of an lvalue. An exception from `stream` propagates out of the poll, and
// the items before it come with the next chunk.
template <Stream S>
ReadyChunksStream<S> ReadyChunks(S&& stream, size_t size) {
  return ReadyChunksStream<S>(std::forward<S>(stream),
                              internal::CheckedChunkSize(size, "ReadyChunks"));
}

// Returns an adapter: `stream | ReadyChunks(size)` is
// `ReadyChunks(stream, size)`.
inline auto ReadyChunks(size_t size) {
  internal::CheckedChunkSize(size, "ReadyChunks");
  return StreamAdapter([size]<Stream S>(S&& stream) {
    return ReadyChunks(std::forward<S>(stream), size);
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_ADAPTERS_READY_CHUNKS_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: chunks.h
// -----------------------------------------------------------------------------
//
// Collects the items of a stream in vectors of a fixed size:
//
//   auto batches = std::move(rows) | rouse::Chunks(100);
//   while (std::optional<std::vector<Row>> batch = co_await
//   rouse::Next(batches))
//     co_await rouse::OrReturn(database.Insert(*std::move(batch)));
//
// To wait no longer than a while for a chunk, use `ChunksTimeout()`
// (timer/chunks_timeout.h). To wait for one item only, use `ReadyChunks()`.

#ifndef ROUSE_FUTURE_ADAPTERS_CHUNKS_H_
#define ROUSE_FUTURE_ADAPTERS_CHUNKS_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"
#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {
inline size_t CheckedChunkSize(size_t size, const char* call) {
  if (size == 0) {
    Panic(absl::StrCat(call,
                       ": the size is 0, and no item fits; choose at least 1"));
  }
  return size;
}
}  // namespace internal

// ChunksStream
//
// See `Chunks()`.
template <class S>
class [[nodiscard]] ChunksStream : public internal::EndingStream<S> {
 public:
  using Item = std::vector<StreamItem<S>>;

  ChunksStream(S&& stream, size_t size)
      : internal::EndingStream<S>(std::forward<S>(stream)), size_(size) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    while (chunk_.size() < size_) {
      PollResult<std::optional<StreamItem<S>>> item = this->PollSource(cx);
      if (item.IsPending()) return kPending;
      if (!item->has_value()) {
        if (chunk_.empty()) return std::nullopt;
        break;
      }
      chunk_.push_back(**std::move(item));
      // A next item may always be available, so the budget lets other tasks
      // run.
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
    }
    return std::optional<Item>(std::exchange(chunk_, Item()));
  }

 private:
  const size_t size_;
  Item chunk_;
};

// Chunks()
//
// Returns a stream of vectors of `size` items of `stream` each. The last vector
// may be shorter. Panics if `size` is 0. Each item takes a unit of the
// cooperative budget.
//
// Cancellation: destroying a `Next()` of the stream loses nothing. Destroying
// the stream loses the items of an incomplete chunk, even if `stream` was
// passed as an lvalue. After an exception from `stream`, the incomplete chunk
// is kept.
template <Stream S>
ChunksStream<S> Chunks(S&& stream, size_t size) {
  return ChunksStream<S>(std::forward<S>(stream),
                         internal::CheckedChunkSize(size, "Chunks"));
}

// Returns an adapter: `stream | Chunks(size)` is `Chunks(stream, size)`.
inline auto Chunks(size_t size) {
  internal::CheckedChunkSize(size, "Chunks");
  return StreamAdapter([size]<Stream S>(S&& stream) {
    return Chunks(std::forward<S>(stream), size);
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_ADAPTERS_CHUNKS_H_

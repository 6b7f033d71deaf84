// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: take.h
// -----------------------------------------------------------------------------
//
// Makes a stream of the first items of another stream:
//
//   std::vector<Row> page =
//       co_await rouse::Collect(rouse::Take(std::move(rows), 100));

#ifndef ROUSE_FUTURE_TAKE_H_
#define ROUSE_FUTURE_TAKE_H_

#include <cstddef>
#include <optional>
#include <utility>

#include "rouse/future/await_trace.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// TakeStream
//
// See `Take()`.
template <class S>
class [[nodiscard]] TakeStream {
 public:
  using Item = StreamItem<S>;

  TakeStream(S&& stream, size_t count) : left_(count) {
    if (count > 0) stream_.emplace(std::forward<S>(stream));
  }

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    if (left_ == 0) return std::nullopt;
    PollResult<std::optional<Item>> item = stream_->get().PollNext(cx);
    if (item.IsPending()) return item;
    left_ = item->has_value() ? left_ - 1 : 0;
    if (left_ == 0) stream_.reset();
    return item;
  }

  void Trace(AwaitTrace& trace) const {
    if (stream_.has_value()) trace.Add(stream_->get());
  }

 private:
  std::optional<internal::OwnedOrRef<S>> stream_;  // while `left_` is not 0
  size_t left_;
};

// Take()
//
// Returns a stream of the first `count` items of `stream`, or of all items if
// there are fewer. The result takes no more items from `stream` than it
// returns, so the remaining items of an lvalue are left in the stream. A
// moved-in stream is destroyed as soon as its last item has been taken.
template <Stream S>
TakeStream<S> Take(S&& stream, size_t count) {
  return TakeStream<S>(std::forward<S>(stream), count);
}

// Returns an adapter: `stream | Take(count)` is `Take(stream, count)`.
inline auto Take(size_t count) {
  return StreamAdapter([count]<Stream S>(S&& stream) {
    return Take(std::forward<S>(stream), count);
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_TAKE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: take.h
// -----------------------------------------------------------------------------
//
// The first items of a stream:
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
// A stream of the first `count` items of `stream`, or of all if there are
// fewer. It asks for no more than it gives: of an lvalue the others are left. A
// stream that was moved in is destroyed with its last item.
template <Stream S>
TakeStream<S> Take(S&& stream, size_t count) {
  return TakeStream<S>(std::forward<S>(stream), count);
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_TAKE_H_

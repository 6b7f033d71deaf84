// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: merge.h
// -----------------------------------------------------------------------------
//
// Makes a stream of the items of two streams, as they come:
//
//   auto events = std::move(keys) | rouse::Merge(std::move(clicks));
//
// For many streams, use `MergeAll()`. For streams that come and go, each with a
// name, use a `StreamMap`.

#ifndef ROUSE_FUTURE_STREAMS_MERGE_H_
#define ROUSE_FUTURE_STREAMS_MERGE_H_

#include <optional>
#include <utility>

#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/future/streams/same_items.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// MergeStream
//
// See `Merge()`.
template <class A, class B>
class [[nodiscard]] MergeStream {
 public:
  using Item = StreamItem<A>;

  MergeStream(A&& first, B&& second)
      : first_(std::in_place, std::forward<A>(first)),
        second_(std::in_place, std::forward<B>(second)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    is_second_next_ = !is_second_next_;
    return is_second_next_ ? PollBoth(first_, second_, cx)
                           : PollBoth(second_, first_, cx);
  }

  bool BorrowsClosure() const {
    return (first_.has_value() && internal::BorrowsClosure(first_->get())) ||
           (second_.has_value() && internal::BorrowsClosure(second_->get()));
  }

  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "Merge");
    if (first_.has_value()) branches.Add(first_->get());
    if (second_.has_value()) branches.Add(second_->get());
  }

 private:
  // Polls `one` and then, if it has no item, `other`.
  template <class One, class Other>
  static PollResult<std::optional<Item>> PollBoth(One& one, Other& other,
                                                  Context& cx) {
    PollResult<std::optional<Item>> item = PollSide(one, cx);
    if (item.IsReady() && item->has_value()) return item;
    item = PollSide(other, cx);
    if (item.IsReady() && item->has_value()) return item;
    if (one.has_value() || other.has_value()) return kPending;
    return std::nullopt;
  }

  // Polls a stream, and destroys the stream at its end.
  template <class Side>
  static PollResult<std::optional<Item>> PollSide(Side& side, Context& cx) {
    if (!side.has_value()) return std::nullopt;
    PollResult<std::optional<Item>> item = side->get().PollNext(cx);
    if (item.IsReady() && !item->has_value()) side.reset();
    return item;
  }

  // Each is empty once it has ended.
  std::optional<internal::OwnedOrRef<A>> first_;
  std::optional<internal::OwnedOrRef<B>> second_;
  bool is_second_next_ = false;  // in the next poll
};

// Merge()
//
// Returns a stream of the items of `first` and `second`, in the order in which
// they are ready. The streams take turns at being polled first, so that neither
// stream keeps the other waiting. The result ends when both streams have ended.
// A moved-in stream is destroyed at its end.
//
// Keeps no item: destroying the result loses no item of an lvalue. An exception
// from a stream propagates out of the poll, and both streams stay.
template <Stream A, Stream B>
  requires internal::SameItems<A, B>
MergeStream<A, B> Merge(A&& first, B&& second) {
  return MergeStream<A, B>(std::forward<A>(first), std::forward<B>(second));
}

// Returns an adapter: `first | Merge(second)` is `Merge(first, second)`.
template <Stream B>
auto Merge(B&& second) {
  return StreamAdapter([second = internal::OwnedOrRef<B>(std::forward<B>(
                            second))]<Stream A>(A&& first) mutable {
    static_assert(internal::SameItems<A, B>,
                  "first | Merge(second): both streams must have items of the "
                  "same type; change one of them with Map(f)");
    return Merge(std::forward<A>(first), static_cast<B&&>(second.get()));
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_STREAMS_MERGE_H_

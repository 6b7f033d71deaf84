// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stream_child.h
// -----------------------------------------------------------------------------
//
// Makes a child of a `ChildSet` out of a stream. Internal to this project.

#ifndef ROUSE_FUTURE_MANY_STREAM_CHILD_H_
#define ROUSE_FUTURE_MANY_STREAM_CHILD_H_

#include <optional>
#include <utility>

#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/many/child_item.h"
#include "rouse/future/stream.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// StreamChild
//
// A future of the next item of a stream that the child owns, again and again
// until the stream ends.
template <class S>
class StreamChild {
 public:
  explicit StreamChild(S stream) : stream_(std::move(stream)) {}

  PollResult<std::optional<StreamItem<S>>> Poll(Context& cx) {
    PollResult<std::optional<StreamItem<S>>> item = stream_.PollNext(cx);
    has_ended_ = item.IsReady() && !item->has_value();
    return item;
  }

  bool HasEnded() const { return has_ended_; }

  S& stream() { return stream_; }

  bool BorrowsClosure() const { return internal::BorrowsClosure(stream_); }
  void Trace(AwaitTrace& trace) const { trace.Add(stream_); }

 private:
  S stream_;
  bool has_ended_ = false;
};

template <class S>
inline constexpr bool kStaysInSet<StreamChild<S>> = true;

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_FUTURE_MANY_STREAM_CHILD_H_

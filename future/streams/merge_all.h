// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: merge_all.h
// -----------------------------------------------------------------------------
//
// Makes a stream of the items of any number of streams of one type, as they
// come:
//
//   std::vector<rouse::Gen<Reading>> sensors = ...;
//   auto readings = rouse::MergeAll(std::move(sensors));
//   while (std::optional<Reading> r = co_await rouse::Next(readings)) ...
//
// To merge two streams of different types, use `Merge()`. To name the streams
// and to remove them again, use a `StreamMap`.

#ifndef ROUSE_FUTURE_STREAMS_MERGE_ALL_H_
#define ROUSE_FUTURE_STREAMS_MERGE_ALL_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "rouse/future/await_trace.h"
#include "rouse/future/many/child_set.h"
#include "rouse/future/many/stream_child.h"
#include "rouse/future/stream.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// MergeAllStream
//
// A set of streams that is a stream of their items. A wake of the task polls
// only the streams that were woken, so that many streams cost no more than few.
// The streams that have an item take turns: a stream that is always ready does
// not keep the others waiting. Each item takes a unit of the budget
// (context.h).
//
// Not thread-safe: one task at a time uses the set. The set can be moved while
// no task waits for it; the streams stay in place. Keeps no item. Destroying
// the set destroys its streams.
//
// A stream that has ended is destroyed. An exception from a stream propagates
// out of the poll. This stream is destroyed, and the others stay in the set.
template <Stream S>
class MergeAllStream {
 public:
  using Item = StreamItem<S>;

  MergeAllStream() = default;
  MergeAllStream(MergeAllStream&&) = default;
  MergeAllStream& operator=(MergeAllStream&&) = default;

  // Adds `stream`, which must not have been polled unless its type allows a
  // move afterwards. Wakes the task that waits for the set, if any. A stream of
  // the set may add others while it is polled or destroyed. Allocates once.
  // O(1).
  void Push(S stream) {
    children_.Add(internal::StreamChild<S>(std::move(stream)), 0);
  }

  // Polls the streams that were woken, each once, until one has an item, and
  // returns the item. Returns `std::nullopt` if the set is empty. The stream
  // continues if the set is given new streams after the stream has ended.
  PollResult<std::optional<Item>> PollNext(Context& cx) {
    std::optional<Item> item;
    const PollResult<bool> found = children_.Poll(
        cx, [&item](size_t, PollResult<std::optional<Item>>&& next) {
          // Pending if the stream has thrown.
          if (next.IsPending() || !next->has_value()) return false;
          item.emplace(**std::move(next));
          return true;
        });
    if (found.IsPending()) return kPending;
    if (*found) TakeUnitIfAny(cx);
    return item;
  }

  // Returns the number of streams that have not ended.
  size_t size() const { return children_.size(); }
  bool empty() const { return size() == 0; }

  bool BorrowsClosure() const { return children_.BorrowsClosure(); }

  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "MergeAll");
    children_.Trace(branches);
  }

 private:
  internal::ChildSet<internal::StreamChild<S>> children_;
};

// MergeAll()
//
// Returns a stream of the items of `streams`, which ends when all of them have
// ended. Further streams can be added with `Push()`.
template <Stream S>
MergeAllStream<S> MergeAll(std::vector<S> streams) {
  MergeAllStream<S> merged;
  for (S& stream : streams) merged.Push(std::move(stream));
  return merged;
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_STREAMS_MERGE_ALL_H_

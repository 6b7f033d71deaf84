// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: buffered.h
// -----------------------------------------------------------------------------
//
// Runs the futures that a stream gives, a limited number at once:
//
//   std::vector<Url> urls = ...;
//   auto pages = rouse::Iter(std::move(urls)) | rouse::Map(&Fetch) |
//                rouse::BufferUnordered(8);
//   while (std::optional<Page> page = co_await rouse::Next(pages)) ...

#ifndef ROUSE_FUTURE_MANY_BUFFERED_H_
#define ROUSE_FUTURE_MANY_BUFFERED_H_

#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/future.h"
#include "rouse/future/many/futures_ordered.h"
#include "rouse/future/many/futures_unordered.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// BufferedStream
//
// See `Buffered()` and `BufferUnordered()`. `Set` is `FuturesOrdered` or
// `FuturesUnordered`.
template <class S, class Set>
class [[nodiscard]] BufferedStream {
 public:
  using Item = typename Set::Item;

  BufferedStream(S&& stream, size_t limit, const char* name)
      : stream_(std::forward<S>(stream)), limit_(limit), name_(name) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    bool is_waiting = false;
    while (!has_ended_ && futures_.size() < limit_) {
      PollResult<std::optional<StreamItem<S>>> future =
          stream_.get().PollNext(cx);
      if (future.IsPending()) {
        is_waiting = true;
        break;
      }
      if (future->has_value()) {
        futures_.Push(**std::move(future));
      } else {
        has_ended_ = true;
      }
    }
    PollResult<std::optional<Item>> item = futures_.PollNext(cx);
    // No future is left, but the stream may give more.
    if (item.IsReady() && !item->has_value() && is_waiting) return kPending;
    return item;
  }

  bool BorrowsClosure() const {
    // The futures can use what the stream owns.
    return internal::BorrowsClosure(stream_.get());
  }

  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, name_);
    if (!has_ended_) branches.Add(stream_.get());
    branches.Add(futures_);
  }

 private:
  internal::OwnedOrRef<S> stream_;
  const size_t limit_;
  const char* const name_;
  bool has_ended_ = false;
  Set futures_;
};

namespace internal {
inline size_t CheckedLimit(size_t limit, const char* call) {
  if (limit == 0) {
    Panic(absl::StrCat(
        call, ": the limit is 0, and no future would run; choose at least 1"));
  }
  return limit;
}
}  // namespace internal

// Buffered()
//
// Returns a stream of the outputs of the futures that `stream` gives, in their
// order. Takes a future from `stream` while fewer than `limit` futures run or
// have outputs that were not returned. Panics if `limit` is 0.
template <Stream S>
  requires Future<StreamItem<S>>
BufferedStream<S, FuturesOrdered<StreamItem<S>>> Buffered(S&& stream,
                                                          size_t limit) {
  return BufferedStream<S, FuturesOrdered<StreamItem<S>>>(
      std::forward<S>(stream), internal::CheckedLimit(limit, "Buffered"),
      "Buffered");
}

// Returns an adapter: `stream | Buffered(limit)` is `Buffered(stream, limit)`.
inline auto Buffered(size_t limit) {
  return StreamAdapter([limit]<Stream S>(S&& stream) {
    static_assert(Future<StreamItem<S>>,
                  "stream | Buffered(limit): the items of the stream must be "
                  "futures; make them with Map(f), where f returns a future");
    return Buffered(std::forward<S>(stream), limit);
  });
}

// BufferUnordered()
//
// Like `Buffered()`, but the outputs come in the order in which the futures
// become ready.
template <Stream S>
  requires Future<StreamItem<S>>
BufferedStream<S, FuturesUnordered<StreamItem<S>>> BufferUnordered(
    S&& stream, size_t limit) {
  return BufferedStream<S, FuturesUnordered<StreamItem<S>>>(
      std::forward<S>(stream), internal::CheckedLimit(limit, "BufferUnordered"),
      "BufferUnordered");
}

// Returns an adapter: `stream | BufferUnordered(limit)` is
// `BufferUnordered(stream, limit)`.
inline auto BufferUnordered(size_t limit) {
  return StreamAdapter([limit]<Stream S>(S&& stream) {
    static_assert(Future<StreamItem<S>>,
                  "stream | BufferUnordered(limit): the items of the stream "
                  "must be futures; make them with Map(f), where f returns a "
                  "future");
    return BufferUnordered(std::forward<S>(stream), limit);
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_MANY_BUFFERED_H_

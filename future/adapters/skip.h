// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: skip.h
// -----------------------------------------------------------------------------
//
// Makes a stream that leaves out the first items of another stream:
//
//   auto rows = std::move(lines) | rouse::Skip(1);  // without the heading

#ifndef ROUSE_FUTURE_ADAPTERS_SKIP_H_
#define ROUSE_FUTURE_ADAPTERS_SKIP_H_

#include <cstddef>
#include <optional>
#include <utility>

#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// SkipStream
//
// See `Skip()`.
template <class S>
class [[nodiscard]] SkipStream : public internal::AdaptedStream<S> {
 public:
  using Item = StreamItem<S>;

  SkipStream(S&& stream, size_t count)
      : internal::AdaptedStream<S>(std::forward<S>(stream)), left_(count) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    for (;;) {
      PollResult<std::optional<Item>> item = this->PollSource(cx);
      if (item.IsPending() || !item->has_value() || left_ == 0) return item;
      --left_;
      // Dropping items is work without a visible result, so the budget bounds
      // it.
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
    }
  }

 private:
  size_t left_;
};

// Skip()
//
// Returns a stream of the items of `stream` without the first `count` items.
// Each dropped item takes a unit of the cooperative budget.
template <Stream S>
SkipStream<S> Skip(S&& stream, size_t count) {
  return SkipStream<S>(std::forward<S>(stream), count);
}

// Returns an adapter: `stream | Skip(count)` is `Skip(stream, count)`.
inline auto Skip(size_t count) {
  return StreamAdapter([count]<Stream S>(S&& stream) {
    return Skip(std::forward<S>(stream), count);
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_ADAPTERS_SKIP_H_

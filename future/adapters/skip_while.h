// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: skip_while.h
// -----------------------------------------------------------------------------
//
// Makes a stream that leaves out the items of another stream up to the first
// item that matters:
//
//   auto body = std::move(lines) | rouse::SkipWhile(&IsComment);

#ifndef ROUSE_FUTURE_ADAPTERS_SKIP_WHILE_H_
#define ROUSE_FUTURE_ADAPTERS_SKIP_WHILE_H_

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// SkipWhileStream
//
// See `SkipWhile()`.
template <class S, class F>
class [[nodiscard]] SkipWhileStream : public internal::AdaptedStream<S> {
 public:
  using Item = StreamItem<S>;

  SkipWhileStream(S&& stream, F skips)
      : internal::AdaptedStream<S>(std::forward<S>(stream)),
        skips_(std::move(skips)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    for (;;) {
      PollResult<std::optional<Item>> item = this->PollSource(cx);
      if (item.IsPending() || !item->has_value() || !is_skipping_) return item;
      if (!std::invoke(skips_, std::as_const(**item))) {
        is_skipping_ = false;
        return item;
      }
      // Dropping items is work without a visible result, so the budget bounds
      // it.
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
    }
  }

 private:
  F skips_;
  bool is_skipping_ = true;
};

// SkipWhile()
//
// Returns a stream of the items of `stream` from the first item for which
// `skips(item)` is false. `skips` must not wait, and is not called again after
// it has returned false. Each dropped item takes a unit of the cooperative
// budget. An exception from `skips` propagates out of the poll, and the item is
// lost.
template <Stream S, class F>
  requires std::predicate<std::decay_t<F>&, const StreamItem<S>&>
SkipWhileStream<S, std::decay_t<F>> SkipWhile(S&& stream, F&& skips) {
  return SkipWhileStream<S, std::decay_t<F>>(std::forward<S>(stream),
                                             std::forward<F>(skips));
}

// Returns an adapter: `stream | SkipWhile(skips)` is
// `SkipWhile(stream, skips)`.
template <class F>
auto SkipWhile(F&& skips) {
  return StreamAdapter([skips = std::decay_t<F>(std::forward<F>(
                            skips))]<Stream S>(S&& stream) mutable {
    static_assert(std::predicate<std::decay_t<F>&, const StreamItem<S>&>,
                  "stream | SkipWhile(skips): skips must take an item of the "
                  "stream as a const reference, and return a bool");
    return SkipWhile(std::forward<S>(stream), std::move(skips));
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_ADAPTERS_SKIP_WHILE_H_

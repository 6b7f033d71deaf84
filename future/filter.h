// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: filter.h
// -----------------------------------------------------------------------------
//
// Makes a stream of selected items of another stream:
//
//   auto errors = rouse::Filter(std::move(lines), [](const Line& line) {
//     return line.severity >= Severity::kError;
//   });

#ifndef ROUSE_FUTURE_FILTER_H_
#define ROUSE_FUTURE_FILTER_H_

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/future/await_trace.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// FilterStream
//
// See `Filter()`.
template <class S, class F>
class [[nodiscard]] FilterStream {
 public:
  using Item = StreamItem<S>;

  FilterStream(S&& stream, F keep)
      : stream_(std::forward<S>(stream)), keep_(std::move(keep)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    for (;;) {
      PollResult<std::optional<Item>> item = stream_.get().PollNext(cx);
      if (item.IsPending()) return item;
      if (!item->has_value() || std::invoke(keep_, std::as_const(**item))) {
        return item;
      }
      // Dropping items is work without a visible result, so the budget bounds
      // it.
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
    }
  }

  void Trace(AwaitTrace& trace) const { trace.Add(stream_.get()); }

 private:
  internal::OwnedOrRef<S> stream_;
  F keep_;
};

// Filter()
//
// Returns a stream of the items of `stream` for which `keep(item)` is true.
// `keep` must not wait. Each dropped item takes a unit of the cooperative
// budget.
template <Stream S, class F>
  requires std::predicate<std::decay_t<F>&, const StreamItem<S>&>
FilterStream<S, std::decay_t<F>> Filter(S&& stream, F&& keep) {
  return FilterStream<S, std::decay_t<F>>(std::forward<S>(stream),
                                          std::forward<F>(keep));
}

// Returns an adapter: `stream | Filter(keep)` is `Filter(stream, keep)`.
template <class F>
auto Filter(F&& keep) {
  return StreamAdapter([keep = std::decay_t<F>(std::forward<F>(
                            keep))]<Stream S>(S&& stream) mutable {
    static_assert(std::predicate<std::decay_t<F>&, const StreamItem<S>&>,
                  "stream | Filter(keep): keep must take an item of the "
                  "stream as a const reference, and return a bool");
    return Filter(std::forward<S>(stream), std::move(keep));
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_FILTER_H_

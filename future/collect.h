// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: collect.h
// -----------------------------------------------------------------------------
//
// Collects all items of a stream in a vector:
//
//   std::vector<Row> rows = co_await rouse::Collect(std::move(stream));

#ifndef ROUSE_FUTURE_COLLECT_H_
#define ROUSE_FUTURE_COLLECT_H_

#include <optional>
#include <utility>
#include <vector>

#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// CollectFuture
//
// See `Collect()`.
template <class S>
class [[nodiscard]] CollectFuture {
 public:
  using Item = StreamItem<S>;

  explicit CollectFuture(S&& stream)
      : stream_(std::in_place, std::forward<S>(stream)) {}

  PollResult<std::vector<Item>> Poll(Context& cx) {
    if (!stream_.has_value()) {
      Panic("Collect was polled after it completed; keep the result");
    }
    for (;;) {
      PollResult<std::optional<Item>> item = stream_->get().PollNext(cx);
      if (item.IsPending()) return kPending;
      if (!item->has_value()) {
        stream_.reset();
        return std::move(items_);
      }
      items_.push_back(**std::move(item));
      // A next item may always be available, so the budget lets other tasks
      // run.
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
    }
  }

  void Trace(AwaitTrace& trace) const {
    if (stream_.has_value()) trace.Add(stream_->get());
  }

 private:
  std::optional<internal::OwnedOrRef<S>> stream_;  // empty once finished
  std::vector<Item> items_;
};

// Collect()
//
// Returns a future of all items of `stream`, in order. The future is ready when
// the stream has ended. All items are kept in memory: limit their number with
// `Take()` if the stream is not under your control. Each item takes a unit of
// the cooperative budget. Destroying the future loses the items collected so
// far.
template <Stream S>
CollectFuture<S> Collect(S&& stream) {
  return CollectFuture<S>(std::forward<S>(stream));
}

// Returns an adapter: `stream | Collect()` is `Collect(stream)`.
inline auto Collect() {
  return StreamAdapter(
      []<Stream S>(S&& stream) { return Collect(std::forward<S>(stream)); });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_COLLECT_H_

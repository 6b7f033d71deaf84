// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: try_collect.h
// -----------------------------------------------------------------------------
//
// Collects the values of a stream in a vector, up to the first error:
//
//   std::vector<Row> rows =
//       co_await rouse::OrReturn(ReadRows() | rouse::TryCollect());

#ifndef ROUSE_FUTURE_STREAMS_TRY_COLLECT_H_
#define ROUSE_FUTURE_STREAMS_TRY_COLLECT_H_

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "rouse/base/panic.h"
#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

template <class T>
inline constexpr bool kIsStatusOr = false;
template <class T>
inline constexpr bool kIsStatusOr<absl::StatusOr<T>> = true;

// Satisfied if the items of the stream `S` are `absl::StatusOr`s.
template <class S>
concept GivesStatusOrs = kIsStatusOr<StreamItem<S>>;

}  // namespace internal

// TryCollectFuture
//
// See `TryCollect()`.
template <class S>
class [[nodiscard]] TryCollectFuture : public internal::EndingStream<S> {
 public:
  using Value = typename StreamItem<S>::value_type;
  using Output = absl::StatusOr<std::vector<Value>>;

  explicit TryCollectFuture(S&& stream)
      : internal::EndingStream<S>(std::forward<S>(stream)) {}

  PollResult<Output> Poll(Context& cx) {
    if (this->HasEnded()) {
      Panic("TryCollect was polled after it completed; keep the result");
    }
    for (;;) {
      PollResult<std::optional<StreamItem<S>>> item = this->PollSource(cx);
      if (item.IsPending()) return kPending;
      if (!item->has_value()) return Output(std::move(values_));
      StreamItem<S>& value = **item;
      if (!value.ok()) {
        this->End();
        values_.clear();
        return Output(std::move(value).status());
      }
      values_.push_back(*std::move(value));
      // A next item may always be available, so the budget lets other tasks
      // run.
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
    }
  }

 private:
  std::vector<Value> values_;
};

// TryCollect()
//
// Returns a future of an `absl::StatusOr<std::vector<T>>`, for a stream of
// `absl::StatusOr<T>`: the values of all items, in order, or the first error.
// An error ends the future, and destroys the values before the error. A stream
// that was passed as an lvalue keeps the items after the error; a stream that
// was moved in is destroyed.
//
// All values are kept in memory: limit their number with `Take()` if the stream
// is not under your control. Each item takes a unit of the cooperative budget.
// Destroying the future loses the values collected so far.
template <Stream S>
  requires internal::GivesStatusOrs<S>
TryCollectFuture<S> TryCollect(S&& stream) {
  return TryCollectFuture<S>(std::forward<S>(stream));
}

// Returns an adapter: `stream | TryCollect()` is `TryCollect(stream)`.
inline auto TryCollect() {
  return StreamAdapter([]<Stream S>(S&& stream) {
    static_assert(internal::GivesStatusOrs<S>,
                  "stream | TryCollect(): the items of the stream must be "
                  "absl::StatusOr; use Collect() for others");
    return TryCollect(std::forward<S>(stream));
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_STREAMS_TRY_COLLECT_H_

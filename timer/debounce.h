// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: debounce.h
// -----------------------------------------------------------------------------
//
// Makes a stream that gives an item of another stream when no further item has
// come for a while, and drops the items before:
//
//   // Reads the file again when its writer has paused.
//   auto changes = std::move(events) |
//   rouse::Debounce(absl::Milliseconds(200));

#ifndef ROUSE_TIMER_DEBOUNCE_H_
#define ROUSE_TIMER_DEBOUNCE_H_

#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// DebounceStream
//
// See `Debounce()`. Can be moved until it is first polled.
template <class S>
class [[nodiscard]] DebounceStream : public internal::EndingStream<S> {
 public:
  using Item = StreamItem<S>;

  DebounceStream(S&& stream, AnyDuration quiet)
      : internal::EndingStream<S>(std::forward<S>(stream)),
        quiet_(quiet),
        sleep_(quiet) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    if (latest_.has_value()) {
      // The stream may have paused while nothing polled this stream.
      PollResult<SleepResult> up = sleep_.Poll(cx);
      if (up.IsReady()) {
        if (!up->ok()) this->End();
        return TakeLatest();
      }
    }
    const bool had_budget = cx.HasBudget();
    for (;;) {
      PollResult<std::optional<Item>> item = this->PollSource(cx);
      if (item.IsPending()) break;
      if (!item->has_value()) return TakeLatest();
      latest_.emplace(**std::move(item));
      sleep_.Reset(quiet_);
      // A next item may always be available, so the budget lets other tasks
      // run.
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) break;
      unit->MadeProgress();
    }
    if (!latest_.has_value()) return kPending;
    // A stream that uses up the budget does not keep time from being up.
    std::optional<UnconstrainedScope> unconstrained;
    if (had_budget && !cx.HasBudget()) unconstrained.emplace(cx);
    PollResult<SleepResult> up = sleep_.Poll(cx);
    if (up.IsPending()) return kPending;
    if (!up->ok()) this->End();
    return TakeLatest();
  }

 private:
  std::optional<Item> TakeLatest() {
    std::optional<Item> item = std::move(latest_);
    latest_.reset();
    return item;
  }

  const absl::Duration quiet_;
  Sleep sleep_;  // runs, or has been up, while there is a latest item
  std::optional<Item> latest_;
};

// Debounce()
//
// Returns a stream of the items of `stream` after which no further item has
// come for the time `quiet`. Items that are followed by another item sooner are
// dropped. At the end of `stream`, the latest item is given at once. A stream
// that never pauses gives nothing.
//
// Time is measured as by a `Sleep`, on the clock of the current driver, from
// the poll that takes the item from `stream`. If the driver has shut down, the
// stream gives the latest item and then ends.
//
// Cancellation: destroying a `Next()` of the stream loses nothing. Destroying
// the stream loses the latest item, even if `stream` was passed as an lvalue.
//
// Each item takes a unit of the cooperative budget, and costs one reset of a
// sleep, O(1).
template <Stream S>
DebounceStream<S> Debounce(S&& stream, AnyDuration quiet) {
  return DebounceStream<S>(std::forward<S>(stream), quiet);
}

// Returns an adapter: `stream | Debounce(quiet)` is `Debounce(stream, quiet)`.
inline auto Debounce(AnyDuration quiet) {
  return StreamAdapter([quiet]<Stream S>(S&& stream) {
    return Debounce(std::forward<S>(stream), quiet);
  });
}

}  // namespace rouse

#endif  // ROUSE_TIMER_DEBOUNCE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: throttle.h
// -----------------------------------------------------------------------------
//
// Makes a stream that gives the items of another stream at a limited rate:
//
//   // At most ten requests in a second.
//   auto requests = std::move(urls) | rouse::Throttle(absl::Milliseconds(100));

#ifndef ROUSE_TIMER_THROTTLE_H_
#define ROUSE_TIMER_THROTTLE_H_

#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ThrottleStream
//
// See `Throttle()`. Can be moved until it is first polled.
template <class S>
class [[nodiscard]] ThrottleStream : public internal::EndingStream<S> {
 public:
  using Item = StreamItem<S>;

  ThrottleStream(S&& stream, AnyDuration period)
      : internal::EndingStream<S>(std::forward<S>(stream)),
        period_(period),
        sleep_(period) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    if (is_waiting_) {
      PollResult<SleepResult> up = sleep_.Poll(cx);
      if (up.IsPending()) return kPending;
      is_waiting_ = false;
      if (!up->ok()) this->End();
    }
    PollResult<std::optional<Item>> item = this->PollSource(cx);
    if (item.IsReady() && item->has_value()) {
      // Time starts now, and not at the next poll.
      sleep_.ResetAt(Now() + period_);
      is_waiting_ = true;
    }
    return item;
  }

  void Trace(AwaitTrace& trace) const {
    if (is_waiting_) {
      trace.Add(sleep_);
    } else {
      internal::EndingStream<S>::Trace(trace);
    }
  }

 private:
  const absl::Duration period_;
  Sleep sleep_;
  bool is_waiting_ = false;  // for the sleep
};

// Throttle()
//
// Returns a stream of the items of `stream`, in which an item is given `period`
// after the item before, or later. The first item is not delayed. No item is
// dropped: `stream` is not polled in the meantime, and so its producer waits.
//
// Time is measured as by a `Sleep`, on the clock of the current driver; without
// a current driver, polling is a `Panic()`. If the driver has shut down, the
// stream ends, and an lvalue keeps the remaining items.
//
// Keeps no item. An item costs one reset of a sleep, O(1).
template <Stream S>
ThrottleStream<S> Throttle(S&& stream, AnyDuration period) {
  return ThrottleStream<S>(std::forward<S>(stream), period);
}

// Returns an adapter: `stream | Throttle(period)` is
// `Throttle(stream, period)`.
inline auto Throttle(AnyDuration period) {
  return StreamAdapter([period]<Stream S>(S&& stream) {
    return Throttle(std::forward<S>(stream), period);
  });
}

}  // namespace rouse

#endif  // ROUSE_TIMER_THROTTLE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: poll_stream_timeout.h
// -----------------------------------------------------------------------------
//
// For timer/: what all timeouts of streams have in common, however they wait.

#ifndef ROUSE_TIMER_POLL_STREAM_TIMEOUT_H_
#define ROUSE_TIMER_POLL_STREAM_TIMEOUT_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "rouse/base/error_for.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/stream.h"
#include "rouse/timer/poll_timeout.h"
#include "rouse/timer/timed_out.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// AfterTimeout
//
// What a `StreamTimeout` does when it has said that time is up.
enum class AfterTimeout {
  // Waits for the item, however long: between two items there is one error.
  kWait,
  // Gives the item the same time once more: an error each time that it is up.
  kRepeat,
};

namespace internal {

// TimedStream
//
// A stream, and a time that limits it. `Time` waits:
//
//   // Begins the time, from now on; anew if it has begun.
//   void Start();
//   // Of what was started: OK when time is up, else why there is no waiting.
//   PollResult<absl::Status> Poll(Context& cx);
//   // For good.
//   void Stop();
template <class S, class Time>
class TimedStream {
 public:
  using Item =
      typename TimeoutOutput<StreamItem<std::remove_reference_t<S>>>::type;

  // The time is for each item.
  TimedStream(S&& stream, Time time, AfterTimeout after)
      : stream_(std::forward<S>(stream)),
        time_(std::move(time)),
        limit_(after == AfterTimeout::kWait ? Limit::kEachOnce
                                            : Limit::kEachAgain) {}
  // It is for all of them.
  TimedStream(S&& stream, Time time)
      : stream_(std::forward<S>(stream)),
        time_(std::move(time)),
        limit_(Limit::kAll) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    if (stream_.get() == nullptr) return std::nullopt;
    return limit_ == Limit::kAll ? PollAll(cx) : PollEach(cx);
  }

  void Trace(AwaitTrace& trace) const {
    if (const auto* stream = stream_.get()) trace.Add(*stream);
  }

 private:
  // What the time is for.
  enum class Limit {
    kEachOnce,   // each item, of which one error is given
    kEachAgain,  // each item, which is given the same time after each error
    kAll,        // all items together
  };
  enum class State {
    kIdle,     // time does not run
    kRunning,  // it runs, or has run out and nobody knows
    kUp,       // it was up, and does not limit this item any more
  };

  PollResult<std::optional<Item>> PollEach(Context& cx) {
    const bool had_budget = cx.HasBudget();
    auto item = stream_.get()->PollNext(cx);
    if (item.IsReady()) {
      state_ = State::kIdle;
      return Give(*std::move(item));
    }
    if (state_ == State::kUp) return kPending;
    std::optional<UnconstrainedScope> unconstrained;
    if (had_budget && !cx.HasBudget()) unconstrained.emplace(cx);
    PollResult<absl::Status> up = PollTime(cx);
    if (up.IsPending()) return kPending;
    state_ = limit_ == Limit::kEachOnce ? State::kUp : State::kIdle;
    if (up->ok()) return Error(MakeTimedOut());
    End();
    return Error(*std::move(up));
  }

  // Time first: a stream that is always ready would never find it up. And with
  // budget, without which it would not be found up either.
  PollResult<std::optional<Item>> PollAll(Context& cx) {
    if (!cx.HasBudget()) return YieldForBudget(cx);
    PollResult<absl::Status> up = PollTime(cx);
    if (up.IsReady()) {
      End();
      return Error(up->ok() ? MakeTimedOut() : *std::move(up));
    }
    auto item = stream_.get()->PollNext(cx);
    if (item.IsPending()) return kPending;
    // So that the driver has its turn, whatever the stream takes.
    TakeUnitIfAny(cx);
    return Give(*std::move(item));
  }

  static std::optional<Item> Error(absl::Status error) {
    return std::optional<Item>(ErrorFor<Item>(std::move(error)));
  }

  PollResult<absl::Status> PollTime(Context& cx) {
    if (state_ == State::kIdle) {
      time_.Start();
      state_ = State::kRunning;
    }
    return time_.Poll(cx);
  }

  PollResult<std::optional<Item>> Give(
      std::optional<StreamItem<std::remove_reference_t<S>>> item) {
    if (!item.has_value()) {
      End();
      return std::nullopt;
    }
    return PollResult<std::optional<Item>>(std::in_place, *std::move(item));
  }

  void End() {
    stream_.Clear();
    time_.Stop();
  }

  FutureSlot<S> stream_;
  Time time_;
  Limit limit_;
  State state_ = State::kIdle;
};

}  // namespace internal
}  // namespace rouse

#endif  // ROUSE_TIMER_POLL_STREAM_TIMEOUT_H_

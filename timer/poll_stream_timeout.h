// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: poll_stream_timeout.h
// -----------------------------------------------------------------------------
//
// For timer/: the parts that all timeouts of streams share, however they wait.

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
// What a `StreamTimeout` does after reporting that time is up.
enum class AfterTimeout {
  // Waits for the item, without a limit. At most one error comes between two
  // items.
  kWait,
  // Gives the item the same time again, and an error whenever the time is up.
  kRepeat,
};

namespace internal {

// TimedStream
//
// A stream whose time is limited. `Time` does the waiting:
//
//   // Starts the time, from now on; again if the time has been started.
//   void Start();
//   // Ready with OK when the started time is up, or else with the reason why
//   // no waiting is possible.
//   PollResult<absl::Status> Poll(Context& cx);
//   // Stops the time permanently.
//   void Stop();
template <class S, class Time>
class TimedStream {
 public:
  using Item =
      typename TimeoutOutput<StreamItem<std::remove_reference_t<S>>>::type;

  // Limits the time for each item.
  TimedStream(S&& stream, Time time, AfterTimeout after)
      : stream_(std::forward<S>(stream)),
        time_(std::move(time)),
        limit_(after == AfterTimeout::kWait ? Limit::kEachOnce
                                            : Limit::kEachAgain) {}
  // Limits the time for all items together.
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
  // What the time applies to.
  enum class Limit {
    kEachOnce,   // each item, with one error for an item
    kEachAgain,  // each item, with the same time again after each error
    kAll,        // all items together
  };
  enum class State {
    kIdle,     // the time is not running
    kRunning,  // running, or up but not yet noticed
    kUp,       // the time was up, and no longer limits this item
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

  // Polls the time first: if the stream were first, and always ready, an
  // expired time would go unnoticed. This also requires budget: without budget
  // an expired time would go unnoticed, too.
  PollResult<std::optional<Item>> PollAll(Context& cx) {
    if (!cx.HasBudget()) return YieldForBudget(cx);
    PollResult<absl::Status> up = PollTime(cx);
    if (up.IsReady()) {
      End();
      return Error(up->ok() ? MakeTimedOut() : *std::move(up));
    }
    auto item = stream_.get()->PollNext(cx);
    if (item.IsPending()) return kPending;
    // Lets the driver have its turn, however little budget the stream takes.
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

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: poll_timeout.h
// -----------------------------------------------------------------------------
//
// For timer/: the parts that all timeouts share, however they wait.

#ifndef ROUSE_TIMER_POLL_TIMEOUT_H_
#define ROUSE_TIMER_POLL_TIMEOUT_H_

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/error_for.h"
#include "rouse/base/panic.h"
#include "rouse/future/future.h"
#include "rouse/timer/timed_out.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// The output of a timeout whose future has an output of type `T`.
template <class T>
struct TimeoutOutput {
  using type = absl::StatusOr<T>;
};
template <class T>
  requires(std::is_void_v<T> || std::convertible_to<T, absl::Status>)
struct TimeoutOutput<T> {
  using type = absl::Status;
};
// A `StatusOr` cannot hold a reference.
template <class T>
  requires(!std::convertible_to<T&, absl::Status>)
struct TimeoutOutput<T&> {
  using type = absl::StatusOr<std::reference_wrapper<T>>;
};
template <class T>
struct TimeoutOutput<absl::StatusOr<T>> {
  using type = absl::StatusOr<T>;
};

// Holds a future or a stream, or a reference to either.
template <class F>
class FutureSlot {
 public:
  explicit FutureSlot(F&& future) : future_(std::move(future)) {}
  F* get() { return future_.has_value() ? &*future_ : nullptr; }
  const F* get() const { return future_.has_value() ? &*future_ : nullptr; }
  void Clear() { future_.reset(); }

 private:
  std::optional<F> future_;
};
template <class F>
class FutureSlot<F&> {
 public:
  explicit FutureSlot(F& future) : future_(&future) {}
  F* get() { return future_; }
  const F* get() const { return future_; }
  void Clear() { future_ = nullptr; }

 private:
  F* future_;
};

// Removes the mark of a timeout from an output of the inner future, which is
// not a timeout of the outer `Timeout`.
inline void ForgetInnerTimeout(absl::Status& status) {
  if (!status.ok()) ForgetTimedOut(status);
}
template <class T>
void ForgetInnerTimeout(absl::StatusOr<T>& result) {
  if (result.ok() || !TimedOut(result.status())) return;
  absl::Status status = std::move(result).status();
  ForgetTimedOut(status);
  result = std::move(status);
}

// PollTimeout()
//
// Polls the future and then, if the future is not ready, `poll_time`, a
// function of a `Context&`. `poll_time` is ready with a status: OK when time is
// up, or else the reason why no waiting for the time is possible. The future is
// destroyed when `poll_time` is ready.
//
// A future that uses up the budget does not keep time from being up.
template <class Output, class F, class PollTime>
PollResult<Output> PollTimeout(FutureSlot<F>& slot, Context& cx,
                               PollTime&& poll_time) {
  auto* future = slot.get();
  if (future == nullptr) {
    Panic("Timeout was polled after it expired; create a new Timeout");
  }
  const bool had_budget = cx.HasBudget();
  auto result = future->Poll(cx);
  if (result.IsReady()) {
    using FromFuture = FutureOutput<std::remove_reference_t<F>>;
    if constexpr (std::is_void_v<FromFuture>) {
      return absl::OkStatus();
    } else if constexpr (std::is_lvalue_reference_v<FromFuture> &&
                         !std::same_as<Output, absl::Status>) {
      return Output(std::ref(*result));
    } else {
      Output output(*std::move(result));
      ForgetInnerTimeout(output);
      return output;
    }
  }

  std::optional<UnconstrainedScope> unconstrained;
  if (had_budget && !cx.HasBudget()) unconstrained.emplace(cx);
  PollResult<absl::Status> up = poll_time(cx);
  if (up.IsPending()) return kPending;
  slot.Clear();
  return Output(ErrorFor<Output>(up->ok() ? MakeTimedOut() : *std::move(up)));
}

}  // namespace rouse::internal

#endif  // ROUSE_TIMER_POLL_TIMEOUT_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: timeout.h
// -----------------------------------------------------------------------------
//
// `Timeout` gives a future some time, and gives up on it after that:
//
//   absl::StatusOr<Frame> frame =
//       co_await Timeout(absl::Seconds(5), ReadFrame(stream));
//   if (absl::IsDeadlineExceeded(frame.status())) ...
//
// The future's output becomes a status or a `StatusOr`:
//
//   void, absl::Status, SleepResult    ->  absl::Status
//   T&                                 ->  absl::StatusOr<
//                                              std::reference_wrapper<T>>
//   absl::StatusOr<T>, any other T     ->  absl::StatusOr<T>

#ifndef ROUSE_TIMER_TIMEOUT_H_
#define ROUSE_TIMER_TIMEOUT_H_

#include <concepts>
#include <type_traits>
#include <utility>

#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/poll_timeout.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// Timeout
//
// A future. It polls `F` first: a result that is there is taken, however late
// it is. If time is up before, it destroys `F`, and so cancels it, and gives
// `kDeadlineExceeded`, which `TimedOut()` (timed_out.h) tells from an error
// that `F` gives; if the driver has gone, it does the same and gives
// `kUnavailable`.
//
// Time is that of a `Sleep`: on the clock of the current driver, to its next
// tick. It starts when `F` is not ready at the first poll; an `F` that is costs
// no look at the clock. An `F` that always uses up the task's budget does not
// keep time from being up.
//
// May be moved until it is first polled. Destroying it cancels `F` and the
// sleep. Given an lvalue it refers to it instead, and cancels nothing but the
// sleep: the future may be awaited again. Given a callable that returns a
// future it keeps the callable, and calls it at the first poll.
template <class F>
  requires Future<std::remove_reference_t<F>>
class [[nodiscard("a Timeout does nothing until it is awaited")]] Timeout {
 public:
  using Output = typename internal::TimeoutOutput<
      FutureOutput<std::remove_reference_t<F>>>::type;

  Timeout(AnyDuration duration, F&& future)
      : Timeout(Sleep(duration), std::forward<F>(future)) {}

  // With a sleep of any kind: until an instant, on another driver.
  Timeout(Sleep sleep, F&& future)
      : future_(std::forward<F>(future)), sleep_(std::move(sleep)) {}

  // Calls `callable` at the first poll, and keeps it as long as the future that
  // it returns.
  template <class Callable>
    requires(!Future<Callable> &&
             std::same_as<F, internal::FutureFrom<Callable>>)
  Timeout(AnyDuration duration, Callable&& callable)
      : Timeout(Sleep(duration), internal::ToFuture<Callable>(callable)) {}
  template <class Callable>
    requires(!Future<Callable> &&
             std::same_as<F, internal::FutureFrom<Callable>>)
  Timeout(Sleep sleep, Callable&& callable)
      : Timeout(std::move(sleep), internal::ToFuture<Callable>(callable)) {}

  PollResult<Output> Poll(Context& cx);
  bool BorrowsClosure() const {
    const auto* future = future_.get();
    return future != nullptr && internal::BorrowsClosure(*future);
  }
  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "Timeout");
    if (const auto* future = future_.get()) branches.Add(*future);
    branches.Add(sleep_);
  }

 private:
  internal::FutureSlot<F> future_;
  Sleep sleep_;
};

template <class F>
Timeout(AnyDuration, F&&) -> Timeout<internal::FutureFrom<F>>;
template <class F>
Timeout(Sleep, F&&) -> Timeout<internal::FutureFrom<F>>;

// TimeoutAt()
//
// The same, until an instant of the current driver's clock.
template <IntoFuture F>
Timeout<internal::FutureFrom<F>> TimeoutAt(Instant deadline, F&& future) {
  return Timeout<internal::FutureFrom<F>>(SleepUntil(deadline),
                                          internal::ToFuture<F>(future));
}

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

template <class F>
  requires Future<std::remove_reference_t<F>>
auto Timeout<F>::Poll(Context& cx) -> PollResult<Output> {
  return internal::PollTimeout<Output>(future_, cx, [this](Context& inner) {
    return sleep_.Poll(inner).Transform(
        [](SleepResult up) { return up.status(); });
  });
}

}  // namespace rouse

#endif  // ROUSE_TIMER_TIMEOUT_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: timeout.h
// -----------------------------------------------------------------------------
//
// `Timeout` limits the time of a future, and gives up on the future after that:
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
// A future. It polls `F` first: a ready result is taken, however late. If time
// is up first, the timeout destroys and thereby cancels `F`, and gives
// `kDeadlineExceeded`. `TimedOut()` (timed_out.h) distinguishes this error from
// an error that `F` gives. If the driver has shut down, the timeout does the
// same and gives `kUnavailable`.
//
// The time is measured as by a `Sleep`: on the clock of the current driver, and
// up to the driver's next tick. Time starts when `F` is not ready at the first
// poll; if `F` is ready then, the clock is not read. An `F` that always uses up
// the task's budget does not keep time from being up.
//
// A `Timeout` can be moved until it is first polled. Destroying it cancels `F`
// and the sleep. A `Timeout` of an lvalue refers to the original future
// instead, and cancels nothing but the sleep: the future can be awaited again.
// A `Timeout` of a callable keeps the callable, and calls it at the first poll
// to get the future.
template <class F>
  requires Future<std::remove_reference_t<F>>
class [[nodiscard("a Timeout does nothing until it is awaited")]] Timeout {
 public:
  using Output = typename internal::TimeoutOutput<
      FutureOutput<std::remove_reference_t<F>>>::type;

  Timeout(AnyDuration duration, F&& future)
      : Timeout(Sleep(duration), std::forward<F>(future)) {}

  // Limits the time with a sleep of any kind, such as a sleep until an instant
  // or on another driver.
  Timeout(Sleep sleep, F&& future)
      : future_(std::forward<F>(future)), sleep_(std::move(sleep)) {}

  // Calls `callable` at the first poll, and keeps the callable for as long as
  // the returned future.
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
// Returns a `Timeout` that ends at `deadline`, an instant of the current
// driver's clock.
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

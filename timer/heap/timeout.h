// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: timeout.h
// -----------------------------------------------------------------------------
//
// `Timeout` limits the time of a future, and gives up on the future after that,
// in a program without a runtime:
//
//   absl::StatusOr<Reply> reply =
//       BlockOn(heap::Timeout(absl::Seconds(5), Ask(server)));
//   if (absl::IsDeadlineExceeded(reply.status())) ...
//
// The future's output becomes a status or a `StatusOr`, as with the `Timeout`
// of a runtime ("rouse/timer/timeout.h").

#ifndef ROUSE_TIMER_HEAP_TIMEOUT_H_
#define ROUSE_TIMER_HEAP_TIMEOUT_H_

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/timer/heap/delay_time.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/poll_timeout.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::heap {

// Timeout
//
// A future. It polls `F` first: a ready result is taken, however late. If time
// is up first, the timeout destroys and thereby cancels `F`, and gives
// `kDeadlineExceeded`. If there is no timer, the timeout does the same and
// gives `kUnavailable`.
//
// The time is measured as by a `Delay`, except that it starts when `F` is not
// ready at the first poll: if `F` is ready then, the timeout costs nothing. An
// `F` that always uses up the task's budget does not keep time from being up.
//
// A `Timeout` can be moved until it is first polled. Destroying it cancels `F`
// and the delay. A `Timeout` of an lvalue refers to the original future
// instead, and cancels nothing but the delay: the future can be awaited again.
// A `Timeout` of a callable keeps the callable, and calls it at the first poll
// to get the future.
template <class F>
  requires Future<std::remove_reference_t<F>>
class [[nodiscard("a Timeout does nothing until it is awaited")]] Timeout {
 public:
  using Output = typename rouse::internal::TimeoutOutput<
      FutureOutput<std::remove_reference_t<F>>>::type;

  // Uses the `DefaultTimer()`.
  Timeout(AnyDuration duration, F&& future)
      : future_(std::forward<F>(future)), time_(std::nullopt, duration) {}
  // Uses the timer of `handle`.
  Timeout(TimerHandle handle, AnyDuration duration, F&& future)
      : future_(std::forward<F>(future)), time_(std::move(handle), duration) {}

  // Calls `callable` at the first poll, and keeps the callable for as long as
  // the returned future.
  template <class Callable>
    requires(!Future<Callable> &&
             std::same_as<F, rouse::internal::FutureFrom<Callable>>)
  Timeout(AnyDuration duration, Callable&& callable)
      : Timeout(duration, rouse::internal::ToFuture<Callable>(callable)) {}
  template <class Callable>
    requires(!Future<Callable> &&
             std::same_as<F, rouse::internal::FutureFrom<Callable>>)
  Timeout(TimerHandle handle, AnyDuration duration, Callable&& callable)
      : Timeout(std::move(handle), duration,
                rouse::internal::ToFuture<Callable>(callable)) {}

  PollResult<Output> Poll(Context& cx) {
    // The time starts at the first poll at which `F` is pending.
    const auto poll_time = [this](Context& inner) {
      if (!time_.has_started()) time_.Start();
      return time_.Poll(inner);
    };
    return rouse::internal::PollTimeout<Output>(future_, cx, poll_time);
  }
  bool BorrowsClosure() const {
    const auto* future = future_.get();
    return future != nullptr && rouse::internal::BorrowsClosure(*future);
  }
  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "Timeout");
    if (const auto* future = future_.get()) branches.Add(*future);
    if (time_.has_started()) branches.Add(time_);
  }

 private:
  template <IntoFuture G>
  friend Timeout<rouse::internal::FutureFrom<G>> TimeoutAt(TimerHandle handle,
                                                           Instant deadline,
                                                           G&& future);
  template <IntoFuture G>
  friend Timeout<rouse::internal::FutureFrom<G>> TimeoutAt(Instant deadline,
                                                           G&& future);

  Timeout(std::optional<TimerHandle> handle, Instant deadline, F&& future)
      : future_(std::forward<F>(future)), time_(std::move(handle), deadline) {}

  rouse::internal::FutureSlot<F> future_;
  internal::DelayTime time_;
};

template <class F>
Timeout(AnyDuration, F&&) -> Timeout<rouse::internal::FutureFrom<F>>;
template <class F>
Timeout(TimerHandle, AnyDuration, F&&)
    -> Timeout<rouse::internal::FutureFrom<F>>;

// TimeoutAt()
//
// Returns a `Timeout` that ends at `deadline`, an instant of the timer's clock.
template <IntoFuture F>
Timeout<rouse::internal::FutureFrom<F>> TimeoutAt(TimerHandle handle,
                                                  Instant deadline,
                                                  F&& future) {
  return Timeout<rouse::internal::FutureFrom<F>>(
      std::optional<TimerHandle>(std::move(handle)), deadline,
      rouse::internal::ToFuture<F>(future));
}
template <IntoFuture F>
Timeout<rouse::internal::FutureFrom<F>> TimeoutAt(Instant deadline,
                                                  F&& future) {
  return Timeout<rouse::internal::FutureFrom<F>>(
      std::optional<TimerHandle>(), deadline,
      rouse::internal::ToFuture<F>(future));
}

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_TIMEOUT_H_

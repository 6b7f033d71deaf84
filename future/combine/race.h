// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: race.h
// -----------------------------------------------------------------------------
//
// Returns the first value of several futures with the same output type:
//
//   Reply reply = co_await rouse::Race(Ask(primary), Ask(replica));

#ifndef ROUSE_FUTURE_COMBINE_RACE_H_
#define ROUSE_FUTURE_COMBINE_RACE_H_

#include <concepts>
#include <cstddef>
#include <utility>

#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/combine/first_ready.h"
#include "rouse/future/future.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

template <class T>
struct RaceResult {
  using Output = T;

  template <size_t I>
  static PollResult<T> From(PollResult<T>&& answer) {
    return std::move(answer);
  }
};

}  // namespace internal

// RaceFuture
//
// See `Race()`.
template <class F, class... Fs>
class [[nodiscard]] RaceFuture {
  static_assert((std::same_as<FutureOutput<F>, FutureOutput<Fs>> && ...),
                "Race takes futures of the same output type: use Select for "
                "futures of different output types");

 public:
  using Output = FutureOutput<F>;

  explicit RaceFuture(F&& future, Fs&&... futures)
      : arms_(std::forward<F>(future), std::forward<Fs>(futures)...) {}

  PollResult<Output> Poll(Context& cx) { return arms_.PollFair(cx); }
  void Trace(AwaitTrace& trace) const { arms_.Trace(trace, "Race"); }
  bool BorrowsClosure() const { return arms_.BorrowsClosure(); }

 private:
  internal::FirstReady<internal::RaceResult<Output>, F, Fs...> arms_;
};

// Race()
//
// Like `Select()`, but for futures of one output type: the output is the
// winner's, without the winner's index.
template <IntoFuture F, IntoFuture... Fs>
RaceFuture<internal::FutureFrom<F>, internal::FutureFrom<Fs>...> Race(
    F&& future, Fs&&... futures) {
  return RaceFuture<internal::FutureFrom<F>, internal::FutureFrom<Fs>...>(
      internal::ToFuture<F>(future), internal::ToFuture<Fs>(futures)...);
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_COMBINE_RACE_H_

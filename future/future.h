// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: future.h
// -----------------------------------------------------------------------------
//
// A future is anything that can be polled:
//
//   class Countdown {
//    public:
//     explicit Countdown(int polls) : left_(polls) {}
//
//     rouse::PollResult<void> Poll(rouse::Context& cx) {
//       if (left_-- == 0) return {};
//       cx.waker().WakeByRef();
//       return rouse::kPending;
//     }
//
//    private:
//     int left_;
//   };
//   static_assert(rouse::Future<Countdown>);
//
// # The contract
//
// * `Poll()` does what can be done now and returns; it never blocks.
// * Before it answers `kPending` it has arranged for the waker of *this* poll
//   to be called when there is more to do. Wakers of earlier polls may be
//   forgotten. Being polled without having been woken is allowed.
// * When it has answered with a value it is finished. Polling it again is a
//   programming error: `Panic()`.
// * Destroying it cancels it, at any moment: it deregisters itself, and no
//   waker is called on its account afterwards.
// * It may be moved until its first poll, and not after, unless it says so.
// * It is polled by one thread at a time, not always the same one.

#ifndef ROUSE_FUTURE_FUTURE_H_
#define ROUSE_FUTURE_FUTURE_H_

#include <utility>

#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {
template <class T>
inline constexpr bool kIsPollResult = false;
template <class T>
inline constexpr bool kIsPollResult<PollResult<T>> = true;
}  // namespace internal

// Whether `F`, or what `F` refers to, is a future.
template <class F>
concept Future = requires(F& future, Context& cx) {
  requires internal::kIsPollResult<decltype(future.Poll(cx))>;
};

// What a future gives when it is ready; may be void or a reference.
template <Future F>
using FutureOutput = typename decltype(std::declval<F&>().Poll(
    std::declval<Context&>()))::value_type;

}  // namespace rouse

#endif  // ROUSE_FUTURE_FUTURE_H_

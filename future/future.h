// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: future.h
// -----------------------------------------------------------------------------
//
// A future is an object that can be polled:
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
// * `Poll()` does the work that is possible now and returns. `Poll()` never
//   blocks.
// * Before a poll returns `kPending`, the future has arranged for the waker of
//   *this* poll to be called when more work can be done. The future may forget
//   the wakers of earlier polls. A poll without a preceding wake is allowed.
// * A future that has returned a value is finished. Polling a finished future
//   is a programming error: `Panic()`.
// * Destroying a future cancels it, at any moment: the future deregisters
//   itself, and no waker is called on its behalf afterwards.
// * A future may be moved until its first poll, and not afterwards unless the
//   documentation of the type allows it.
// * Only one thread at a time polls a future, and not always the same thread.

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

// Satisfied if `F`, or the type that `F` refers to, is a future.
template <class F>
concept Future = requires(F& future, Context& cx) {
  requires internal::kIsPollResult<decltype(future.Poll(cx))>;
};

// Names the type of a future's output, which may be void or a reference.
template <Future F>
using FutureOutput = typename decltype(std::declval<F&>().Poll(
    std::declval<Context&>()))::value_type;

}  // namespace rouse

#endif  // ROUSE_FUTURE_FUTURE_H_

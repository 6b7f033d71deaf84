// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: paused_time.h
// -----------------------------------------------------------------------------
//
// For tests: time passes when the test says so, and by as much as the test
// says.
//
//   TEST(Session, EndsWhenItIsIdleForHalfAMinute) {
//     Runtime runtime = PausedRuntime();
//     runtime.BlockOn([]() -> Co<> {
//       JoinHandle<void> session = Spawn(RunSession());
//       co_await Advance(absl::Seconds(29));
//       EXPECT_FALSE(session.IsFinished());
//       co_await Advance(absl::Seconds(1));
//       EXPECT_TRUE(session.IsFinished());
//     });
//   }

#ifndef ROUSE_TESTING_PAUSED_TIME_H_
#define ROUSE_TESTING_PAUSED_TIME_H_

#include <memory>
#include <optional>

#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/runtime/runtime.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// PausedRuntime()
//
// Returns a runtime whose clock does not move until a function below moves the
// clock. The clock starts where `PausedClock()` does, so that the order of
// timers of one tick does not depend on how long the machine has been up. The
// result is a current-thread runtime, or is built by `builder`; a clock that
// was set in the builder is replaced. If the runtime cannot be built, the call
// is a `Panic()`.
//
//   Runtime runtime = PausedRuntime(Builder::MultiThread().WorkerThreads(2));
Runtime PausedRuntime();
Runtime PausedRuntime(Builder& builder);
Runtime PausedRuntime(Builder&& builder);

// ClockStep
//
// A future that moves the clock, as `Advance()` and `AdvanceToNext()` describe,
// and returns how far the clock was moved. The step begins at the first poll.
// Destroying the future before the end of the step leaves the clock at its
// current time. A `ClockStep` can be moved at any time, and must be used by a
// single thread at a time.
class [[nodiscard(
    "the clock does not move until the step is awaited")]] ClockStep {
 public:
  using Output = absl::Duration;

  ClockStep(ClockStep&& other) noexcept = default;
  ClockStep& operator=(ClockStep&&) = delete;
  ~ClockStep();

  PollResult<absl::Duration> Poll(Context& cx);

 private:
  friend ClockStep Advance(AnyDuration d);
  friend ClockStep AdvanceToNext();

  class Shared;

  // Steps to the next deadline if `duration` is `std::nullopt`.
  explicit ClockStep(std::optional<absl::Duration> duration)
      : duration_(duration) {}

  std::optional<absl::Duration> duration_;
  std::shared_ptr<Shared> shared_;
};

// Advance()
//
// Moves the clock of the current runtime forward by `d`, from deadline to
// deadline. At each deadline the clock stops until everything that is due has
// run, and everything that is thereby woken. The future is ready when the clock
// has arrived, nothing is left that can run, and the operating system has no
// event: tasks, futures of `BlockOn()`, blocking calls and sockets of this
// process have come as far as they can. `Advance(absl::ZeroDuration())` lets no
// time pass.
//
// The future does not wait for work elsewhere, on threads of your own or in
// another process, unless that work has a `Clock::AutoAdvanceHold`. A task that
// yields without end keeps time from passing.
//
// REQUIRES: The runtime was made by `PausedRuntime()`, no other step is in
// progress, and `d` is not negative; a violation is a `Panic()`.
ClockStep Advance(AnyDuration d);

// AdvanceToNext()
//
// Moves the clock like `Advance()`, up to the next instant at which a sleep,
// timeout or interval ends. If there is no such instant, no time passes, and
// the result is zero.
ClockStep AdvanceToNext();

}  // namespace rouse

#endif  // ROUSE_TESTING_PAUSED_TIME_H_

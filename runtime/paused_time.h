// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: paused_time.h
// -----------------------------------------------------------------------------
//
// For tests: time that passes when the test says so, and by as much.
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

#ifndef ROUSE_RUNTIME_PAUSED_TIME_H_
#define ROUSE_RUNTIME_PAUSED_TIME_H_

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
// Returns a runtime whose clock stands until one of the functions below moves
// it; a current-thread one, or what `builder` builds. The clock that the
// builder was given is replaced. If it cannot be built that is a `Panic()`.
//
//   Runtime runtime = PausedRuntime(Builder::MultiThread().WorkerThreads(2));
Runtime PausedRuntime();
Runtime PausedRuntime(Builder& builder);
Runtime PausedRuntime(Builder&& builder);

// ClockStep
//
// A future of how far the clock was moved; see below. The step begins at the
// first poll. Destroying it before it has ended leaves the clock where it is
// then. May be moved at any time, and is for one thread at a time.
class [[nodiscard("time does not pass until this is awaited")]] ClockStep {
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

  // Nothing: to the next deadline.
  explicit ClockStep(std::optional<absl::Duration> duration)
      : duration_(duration) {}

  std::optional<absl::Duration> duration_;
  std::shared_ptr<Shared> shared_;
};

// Advance()
//
// Moves the clock of the current runtime forward by `d`, from deadline to
// deadline, and at each lets everything run that is due, and what that wakes,
// before it goes on. It is ready when the time has come, nothing is left that
// can run, and the operating system has no event: tasks, futures of
// `BlockOn()`, blocking calls and sockets of this process have come as far as
// they can. `Advance(absl::ZeroDuration())` lets no time pass.
//
// What goes on elsewhere, on threads of your own or in another process, is not
// waited for, unless it has a `Clock::AutoAdvanceHold`. A task that yields
// without end keeps time from passing.
//
// Only in a runtime made by `PausedRuntime()`, one step at a time; else that is
// a `Panic()`, as a negative `d` is.
ClockStep Advance(AnyDuration d);

// AdvanceToNext()
//
// The same, up to the next instant at which a sleep, timeout or interval ends.
// If there is none, no time passes, and the result is zero.
ClockStep AdvanceToNext();

}  // namespace rouse

#endif  // ROUSE_RUNTIME_PAUSED_TIME_H_

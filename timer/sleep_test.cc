// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The traps are bugs of Tokio's timers, with the numbers of its issues. All of
// them are in wheel/traps_test.cc; some are repeated here, closer to the code.

#include "rouse/timer/sleep.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/thread_parker.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using Driver = wheel::Driver<ThreadParker>;

PollResult<SleepResult> Poll(Sleep& sleep, CountingWaker& task) {
  const Waker waker = task.NewWaker();
  Context cx(waker);
  return sleep.Poll(cx);
}

class SleepTest : public testing::Test {
 protected:
  bool IsPending(Sleep& sleep) { return Poll(sleep, task_).IsPending(); }
  bool IsOk(Sleep& sleep) {
    PollResult<SleepResult> result = Poll(sleep, task_);
    return result.IsReady() && result->ok();
  }

  // Does what the driver's thread does when time has passed.
  void Pass(absl::Duration d) {
    clock_->Advance(d);
    driver_->ParkFor(absl::ZeroDuration());
  }

  const std::shared_ptr<Clock> clock_ = PausedClock();
  std::optional<Driver> driver_{std::in_place, wheel::Options{.clock = clock_}};
  wheel::ScopedDefault current_{driver_->handle()};
  CountingWaker task_;
};

TEST_F(SleepTest, EndsAfterItsDuration) {
  Sleep sleep(absl::Seconds(1));
  ASSERT_TRUE(IsPending(sleep));
  EXPECT_FALSE(sleep.IsElapsed());
  Pass(absl::Milliseconds(999));
  ASSERT_TRUE(IsPending(sleep));
  EXPECT_EQ(task_.wakes(), 0);
  Pass(absl::Milliseconds(1));
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_TRUE(sleep.IsElapsed());
  EXPECT_TRUE(IsOk(sleep));
}

TEST_F(SleepTest, SleepUntilEndsAtItsInstant) {
  Sleep sleep = SleepUntil(Now() + absl::Seconds(1));
  Pass(absl::Milliseconds(600));
  ASSERT_TRUE(IsPending(sleep));
  Pass(absl::Milliseconds(400));
  EXPECT_TRUE(IsOk(sleep));
}

TEST_F(SleepTest, TheDurationStartsAtTheFirstPoll) {
  Sleep sleep(absl::Seconds(1));
  EXPECT_EQ(sleep.Deadline(), std::nullopt);
  Pass(absl::Seconds(5));
  ASSERT_TRUE(IsPending(sleep));
  EXPECT_EQ(sleep.Deadline(), Now() + absl::Seconds(1));
}

TEST_F(SleepTest, SleepUntilReturnsItsDeadline) {
  const Instant deadline = Now() + absl::Seconds(1);
  const Sleep sleep = SleepUntil(deadline);
  EXPECT_EQ(sleep.Deadline(), deadline);
}

// T4: tokio #3069.
TEST_F(SleepTest, AZeroDurationIsReadyAtTheFirstPoll) {
  for (const auto duration :
       {absl::ZeroDuration(), -absl::Seconds(1), -absl::InfiniteDuration()}) {
    Sleep sleep(duration);
    EXPECT_TRUE(IsOk(sleep));
  }
  EXPECT_EQ(task_.clones(), 0);
}

TEST_F(SleepTest, APastDeadlineIsReadyAtTheFirstPoll) {
  for (const auto ago : {absl::ZeroDuration(), absl::Nanoseconds(1),
                         absl::Hours(1), absl::InfiniteDuration()}) {
    Sleep sleep = SleepUntil(Now() - ago);
    EXPECT_TRUE(IsOk(sleep));
    EXPECT_TRUE(sleep.IsElapsed());
  }
}

TEST_F(SleepTest, APollAfterTheDeadlineIsReadyEvenIfTheDriverWasBusy) {
  Sleep sleep = SleepUntil(Now() + absl::Seconds(1));
  clock_->Advance(absl::Seconds(2));
  EXPECT_TRUE(IsOk(sleep));
}

// T17: tokio #3551, #4495, #6487, #6612.
TEST_F(SleepTest, HugeDurationsNeverEnd) {
  Sleep sleeps[] = {Sleep(absl::InfiniteDuration()),
                    Sleep(absl::Hours(24) * 365 * 300),
                    SleepUntil(Instant::Max())};
  for (Sleep& sleep : sleeps) ASSERT_TRUE(IsPending(sleep));
  Pass(absl::Hours(24) * 365 * 100);
  for (Sleep& sleep : sleeps) EXPECT_TRUE(IsPending(sleep));
}

TEST_F(SleepTest, ASleepForNeverDoesNotEndAtTheEndOfTheClock) {
  Sleep before(absl::InfiniteDuration());
  Sleep put_off(absl::Seconds(1));
  Sleep due(absl::Hours(1));
  ASSERT_TRUE(IsPending(before));
  ASSERT_TRUE(IsPending(put_off));
  ASSERT_TRUE(IsPending(due));
  put_off.ResetAt(Instant::Max());
  Pass(absl::InfiniteDuration());
  ASSERT_EQ(Now(), Instant::Max());
  EXPECT_TRUE(IsPending(before));
  EXPECT_TRUE(IsPending(put_off));
  EXPECT_FALSE(put_off.IsElapsed());
  EXPECT_TRUE(IsOk(due));
  Sleep after(absl::Seconds(1));
  EXPECT_TRUE(IsPending(after));
  Pass(absl::Seconds(1));
  EXPECT_TRUE(IsPending(after));
}

TEST_F(SleepTest, LongDurationsAreExact) {
  // Beyond the wheel's reach.
  Sleep sleep(absl::Hours(24) * 365 * 10);
  ASSERT_TRUE(IsPending(sleep));
  Pass(absl::Hours(24) * 365 * 10 - absl::Milliseconds(1));
  ASSERT_TRUE(IsPending(sleep));
  Pass(absl::Milliseconds(1));
  EXPECT_TRUE(IsOk(sleep));
}

TEST_F(SleepTest, DestroyingTheSleepCancels) {
  std::optional<Sleep> sleep(absl::Seconds(1));
  ASSERT_TRUE(IsPending(*sleep));
  EXPECT_EQ(task_.live(), 1);
  sleep.reset();
  EXPECT_EQ(task_.live(), 0);
  Pass(absl::Seconds(1));
  EXPECT_EQ(task_.wakes(), 0);
}

TEST_F(SleepTest, WakesTheTaskThatPolledLast) {
  CountingWaker other;
  Sleep sleep(absl::Seconds(1));
  ASSERT_TRUE(IsPending(sleep));
  ASSERT_TRUE(Poll(sleep, other).IsPending());
  EXPECT_EQ(task_.live(), 0);
  Pass(absl::Seconds(1));
  EXPECT_EQ(task_.wakes(), 0);
  EXPECT_EQ(other.wakes(), 1);
}

TEST_F(SleepTest, KeepsTheWakerOfTheSameTask) {
  Sleep sleep(absl::Seconds(1));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(IsPending(sleep));
  EXPECT_EQ(task_.clones(), 1);
}

TEST_F(SleepTest, TheWakerIsConsumedByOneWake) {
  Sleep sleep(absl::Seconds(1));
  ASSERT_TRUE(IsPending(sleep));
  Pass(absl::Seconds(1));
  Pass(absl::Seconds(1));
  EXPECT_EQ(task_.wakes_by_value(), 1);
  EXPECT_EQ(task_.wakes_by_ref(), 0);
}

TEST_F(SleepTest, CanBeMovedBeforeItIsPolled) {
  std::vector<Sleep> sleeps;
  for (int i = 0; i < 20; ++i) {
    sleeps.emplace_back(driver_->handle(), absl::Seconds(1));
  }
  for (Sleep& sleep : sleeps) ASSERT_TRUE(IsPending(sleep));
  Pass(absl::Seconds(1));
  EXPECT_EQ(task_.wakes(), 20);
}

TEST_F(SleepTest, MovingAPolledSleepPanics) {
  Sleep sleep(absl::Seconds(1));
  ASSERT_TRUE(IsPending(sleep));
  EXPECT_PANIC(Sleep moved(std::move(sleep)), "moved after it was polled");
  ASSERT_TRUE(IsPending(sleep));
}

TEST_F(SleepTest, PollingACompleteSleepPanics) {
  Sleep sleep(absl::ZeroDuration());
  ASSERT_TRUE(IsOk(sleep));
  EXPECT_PANIC(IsPending(sleep), "polled after it completed");
}

TEST(Sleep, TheFirstPollWithoutADriverPanics) {
  CountingWaker task;
  Sleep sleep(absl::Seconds(1));
  EXPECT_PANIC(Poll(sleep, task).IsReady(), "ScopedDefault");
  Sleep none(absl::ZeroDuration());
  EXPECT_PANIC(Poll(none, task).IsReady(), "ScopedDefault");
}

TEST(Sleep, UsesTheDriverOfItsHandle) {
  Driver driver({.clock = PausedClock()});
  CountingWaker task;
  Sleep sleep(driver.handle(), absl::Seconds(1));
  Sleep until =
      SleepUntil(driver.handle(), driver.clock().Now() + absl::Seconds(1));
  ASSERT_TRUE(Poll(sleep, task).IsPending());
  ASSERT_TRUE(Poll(until, task).IsPending());
  driver.clock().Advance(absl::Seconds(1));
  driver.ParkFor(absl::ZeroDuration());
  EXPECT_EQ(task.wakes(), 2);
}

// T12: tokio #8169.
TEST_F(SleepTest, StaysWithItsFirstDriver) {
  Sleep waiting(absl::Seconds(1));
  Sleep ended(absl::ZeroDuration());
  ASSERT_TRUE(IsPending(waiting));
  ASSERT_TRUE(IsOk(ended));
  Driver other;
  const wheel::ScopedDefault scope(other.handle());
  waiting.Reset(absl::Seconds(2));
  ended.Reset(absl::Seconds(2));
  ASSERT_TRUE(IsPending(waiting));
  ASSERT_TRUE(IsPending(ended));
  Pass(absl::Seconds(2));
  EXPECT_EQ(task_.wakes(), 2);
}

TEST_F(SleepTest, AResetPostponesItWithoutAPoll) {
  Sleep sleep(absl::Seconds(1));
  ASSERT_TRUE(IsPending(sleep));
  Pass(absl::Milliseconds(500));
  sleep.Reset(absl::Seconds(1));
  EXPECT_EQ(sleep.Deadline(), Now() + absl::Seconds(1));
  Pass(absl::Milliseconds(999));
  EXPECT_EQ(task_.wakes(), 0);
  Pass(absl::Milliseconds(1));
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_TRUE(IsOk(sleep));
}

TEST_F(SleepTest, AResetToAnEarlierDeadlineEndsItEarlier) {
  Sleep sleep(absl::Hours(1));
  ASSERT_TRUE(IsPending(sleep));
  sleep.ResetAt(Now() + absl::Milliseconds(1));
  Pass(absl::Milliseconds(1));
  EXPECT_EQ(task_.wakes(), 1);
}

TEST_F(SleepTest, AResetToThePastWakesTheTask) {
  Pass(absl::Seconds(1));
  Sleep sleep(absl::Hours(1));
  ASSERT_TRUE(IsPending(sleep));
  sleep.ResetAt(Now() - absl::Milliseconds(500));
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_TRUE(IsOk(sleep));
}

TEST_F(SleepTest, AResetToATimeThatTheDriverHasNotSeenFiresLater) {
  Sleep sleep(absl::Hours(1));
  ASSERT_TRUE(IsPending(sleep));
  clock_->Advance(absl::Seconds(10));
  sleep.ResetAt(Now() - absl::Seconds(1));
  driver_->ParkFor(absl::ZeroDuration());
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_TRUE(IsOk(sleep));
}

// T8: tokio #2587.
TEST_F(SleepTest, AResetAfterTheEndStartsItAgain) {
  Sleep sleep(absl::Seconds(1));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(IsPending(sleep));
    Pass(absl::Seconds(1));
    ASSERT_TRUE(IsOk(sleep));
    sleep.Reset(absl::Seconds(1));
    EXPECT_FALSE(sleep.IsElapsed());
  }
  EXPECT_EQ(task_.wakes(), 3);
}

// T6: tokio #3675, #5093. The sleep has expired and has not been polled yet.
TEST_F(SleepTest, AResetBetweenTheEndAndThePollStartsItAgain) {
  Sleep sleep(absl::Seconds(1));
  ASSERT_TRUE(IsPending(sleep));
  Pass(absl::Seconds(1));
  ASSERT_TRUE(sleep.IsElapsed());
  sleep.Reset(absl::Seconds(1));
  ASSERT_TRUE(IsPending(sleep));
  Pass(absl::Milliseconds(999));
  ASSERT_TRUE(IsPending(sleep));
  Pass(absl::Milliseconds(1));
  EXPECT_TRUE(IsOk(sleep));
}

TEST_F(SleepTest, AResetBeforeTheFirstPollSetsTheDeadline) {
  Sleep sleep = SleepUntil(driver_->handle(), Now());
  sleep.Reset(absl::Seconds(1));
  Pass(absl::Seconds(5));
  ASSERT_TRUE(IsPending(sleep));
  EXPECT_EQ(sleep.Deadline(), Now() + absl::Seconds(1));
  Sleep until(absl::Seconds(1));
  until.ResetAt(Now() + absl::Seconds(3));
  EXPECT_EQ(until.Deadline(), Now() + absl::Seconds(3));
}

// T19: tokio #3710, #3712, #3837, #3852.
TEST_F(SleepTest, TheClockAdvancesByTheGivenDuration) {
  const Instant start = Now();
  Sleep sleep(absl::Microseconds(1500));
  ASSERT_TRUE(IsPending(sleep));
  for (int i = 0; i < 4; ++i) Pass(absl::Microseconds(499));
  ASSERT_TRUE(IsPending(sleep));
  EXPECT_EQ(Now() - start, absl::Microseconds(1996));
  Pass(absl::Microseconds(4));
  EXPECT_TRUE(IsOk(sleep));
  EXPECT_EQ(Now() - start, absl::Milliseconds(2));
}

TEST_F(SleepTest, IsNotifiedThatTheDriverIsDestroyed) {
  Sleep waiting(absl::Seconds(1));
  Sleep later(absl::Seconds(1));
  ASSERT_TRUE(IsPending(waiting));
  driver_.reset();
  EXPECT_EQ(task_.wakes(), 1);
  for (Sleep* sleep : {&waiting, &later}) {
    const PollResult<SleepResult> result = Poll(*sleep, task_);
    ASSERT_TRUE(result.IsReady());
    EXPECT_EQ(result->status().code(), absl::StatusCode::kUnavailable);
    EXPECT_FALSE(sleep->IsElapsed());
    EXPECT_PANIC(IsPending(*sleep), "polled after it completed");
  }
  EXPECT_EQ(task_.live(), 0);
}

TEST_F(SleepTest, AResetAfterShutdownStaysUnavailable) {
  Sleep sleep(absl::Seconds(1));
  ASSERT_TRUE(IsPending(sleep));
  driver_.reset();
  sleep.Reset(absl::Seconds(2));
  const PollResult<SleepResult> result = Poll(sleep, task_);
  ASSERT_TRUE(result.IsReady());
  EXPECT_FALSE(result->ok());
}

TEST_F(SleepTest, CanBeDestroyedAfterItsDriver) {
  std::optional<Sleep> woken(absl::Seconds(1));
  std::optional<Sleep> cut_short(absl::Seconds(9));
  ASSERT_TRUE(IsPending(*woken));
  ASSERT_TRUE(IsPending(*cut_short));
  Pass(absl::Seconds(1));
  driver_.reset();
  woken.reset();
  cut_short.reset();
  EXPECT_EQ(task_.live(), 0);
}

TEST(SleepResult, ConvertsToAStatus) {
  const absl::Status ok = SleepResult(true);
  const absl::Status gone = SleepResult(false);
  EXPECT_TRUE(ok.ok());
  EXPECT_EQ(gone.code(), absl::StatusCode::kUnavailable);
}

TEST_F(SleepTest, OrReturnEndsACoroutineWhoseDriverIsDestroyed) {
  auto body = []() -> Co<absl::Status> {
    co_await OrReturn(Sleep(absl::Seconds(1)));
    co_return absl::AlreadyExistsError("went on");
  };
  const Waker waker = task_.NewWaker();
  Context cx(waker);
  Co<absl::Status> woken = body();
  Co<absl::Status> cut_short = body();
  ASSERT_TRUE(woken.Poll(cx).IsPending());
  Pass(absl::Seconds(1));
  EXPECT_TRUE(absl::IsAlreadyExists(woken.Poll(cx).value()));
  ASSERT_TRUE(cut_short.Poll(cx).IsPending());
  driver_.reset();
  EXPECT_TRUE(absl::IsUnavailable(cut_short.Poll(cx).value()));
}

TEST_F(SleepTest, CompletionTakesAUnitOfTheBudget) {
  const Waker waker = task_.NewWaker();
  Context cx(waker);
  Sleep pending(absl::Seconds(1));
  ASSERT_TRUE(pending.Poll(cx).IsPending());
  for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
    Sleep sleep(absl::ZeroDuration());
    ASSERT_TRUE(sleep.Poll(cx).IsReady());
  }
  EXPECT_FALSE(cx.HasBudget());
  Sleep sleep(absl::ZeroDuration());
  EXPECT_TRUE(sleep.Poll(cx).IsPending());
  EXPECT_EQ(task_.wakes(), 1);
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST_F(SleepTest, AThrowingCloneLeavesTheSleepUnchanged) {
  Sleep sleep(absl::Seconds(1));
  task_.OnClone([] { throw std::runtime_error("no"); });
  EXPECT_THROW(IsPending(sleep), std::runtime_error);
  EXPECT_EQ(sleep.Deadline(), std::nullopt);
  task_.OnClone([] {});
  ASSERT_TRUE(IsPending(sleep));
  CountingWaker other;
  other.OnClone([] { throw std::runtime_error("no"); });
  EXPECT_THROW(static_cast<void>(Poll(sleep, other)), std::runtime_error);
  Pass(absl::Seconds(1));
  EXPECT_EQ(task_.wakes(), 1);
}
#endif

TEST_F(SleepTest, CanBeCancelledOnAnotherThread) {
  auto sleep = std::make_unique<Sleep>(absl::Seconds(1));
  ASSERT_TRUE(IsPending(*sleep));
  std::thread([sleep = std::move(sleep)]() mutable { sleep.reset(); }).join();
  EXPECT_EQ(task_.live(), 0);
  Pass(absl::Seconds(1));
  EXPECT_EQ(task_.wakes(), 0);
}

}  // namespace
}  // namespace rouse

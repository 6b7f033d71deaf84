// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/interval.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/stream.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/timer.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::heap {
namespace {

static_assert(Stream<Interval>);

class IntervalTest : public testing::Test {
 protected:
  IntervalTest() : clock_(PausedClock()) {
    start_ = clock_->Now();
    timer_.emplace(clock_);
  }

  Interval Every(int milliseconds) {
    absl::StatusOr<Interval> interval =
        Interval::Create(timer_->handle(), absl::Milliseconds(milliseconds));
    EXPECT_TRUE(interval.ok()) << interval.status();
    return *std::move(interval);
  }

  void Advance(int milliseconds) {
    clock_->Advance(absl::Milliseconds(milliseconds));
    timer_->Advance();
  }

  Instant After(int milliseconds) const {
    return start_ + absl::Milliseconds(milliseconds);
  }

  static PollResult<std::optional<Instant>> Poll(Interval& interval,
                                                 const Waker& waker = Waker()) {
    Context cx(waker);
    return interval.PollNext(cx);
  }

  std::shared_ptr<Clock> clock_;
  Instant start_;
  std::optional<Timer> timer_;
};

// The seed's tests "single" and "two_times".
TEST_F(IntervalTest, AConstantPeriodNeedsNoStatus) {
  Interval interval(timer_->handle(), absl::Milliseconds(10));
  EXPECT_TRUE(Poll(interval).IsPending());
  Advance(10);
  EXPECT_EQ(Poll(interval).value(), After(10));
  EXPECT_PANIC(const Interval zero(timer_->handle(), absl::ZeroDuration()),
               "a period of 0");
}

TEST_F(IntervalTest, TicksAPeriodFromNowAndThenAgain) {
  CountingWaker task;
  Interval interval = Every(10);
  EXPECT_TRUE(Poll(interval, task.NewWaker()).IsPending());
  Advance(9);
  EXPECT_EQ(task.wakes(), 0);
  Advance(1);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(*Poll(interval), After(10));
  EXPECT_TRUE(Poll(interval, task.NewWaker()).IsPending());
  Advance(10);
  EXPECT_EQ(task.wakes(), 2);
  EXPECT_EQ(*Poll(interval), After(20));
}

TEST_F(IntervalTest, StartsAtTheGivenInstant) {
  absl::StatusOr<Interval> interval =
      Interval::CreateAt(timer_->handle(), After(3), absl::Milliseconds(10));
  ASSERT_TRUE(interval.ok());
  Advance(3);
  EXPECT_EQ(*Poll(*interval), After(3));
  Advance(10);
  EXPECT_EQ(*Poll(*interval), After(13));
}

TEST_F(IntervalTest, SkipsMissedTicks) {
  Interval interval = Every(10);
  Advance(35);
  EXPECT_EQ(*Poll(interval), After(10));
  EXPECT_TRUE(Poll(interval).IsPending());
  Advance(4);
  EXPECT_TRUE(Poll(interval).IsPending());
  Advance(1);
  EXPECT_EQ(*Poll(interval), After(40));
}

TEST_F(IntervalTest, EndsWhenTheTimerIsDestroyed) {
  CountingWaker task;
  Interval interval = Every(10);
  EXPECT_TRUE(Poll(interval, task.NewWaker()).IsPending());
  timer_.reset();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(interval.status().ok());
  for (int i = 0; i < 2; ++i) {
    const PollResult<std::optional<Instant>> end = Poll(interval);
    ASSERT_TRUE(end.IsReady());
    EXPECT_EQ(*end, std::nullopt);
    EXPECT_TRUE(absl::IsUnavailable(interval.status()));
  }
}

// The tick came before the timer's destruction, and is not lost with the timer.
TEST_F(IntervalTest, ReturnsTheLastTickBeforeItEnds) {
  Interval interval = Every(10);
  Advance(10);
  timer_.reset();
  EXPECT_EQ(*Poll(interval), After(10));
  EXPECT_EQ(*Poll(interval), std::nullopt);
}

// Defect 4 of the seed: the seed divides by zero.
TEST_F(IntervalTest, Defect4AZeroPeriodIsInvalid) {
  for (const absl::Duration period :
       {absl::ZeroDuration(), -absl::Seconds(1), -absl::InfiniteDuration(),
        absl::Nanoseconds(1) / 2}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        Interval::Create(timer_->handle(), period).status()));
  }
}

TEST_F(IntervalTest, Defect4APeriodBeyondTheClockNeverTicks) {
  absl::StatusOr<Interval> interval =
      Interval::Create(timer_->handle(), absl::InfiniteDuration());
  ASSERT_TRUE(interval.ok());
  Advance(1'000'000'000);
  EXPECT_TRUE(Poll(*interval).IsPending());
  EXPECT_EQ(timer_->NextEvent(), Instant::Max());
}

}  // namespace
}  // namespace rouse::heap

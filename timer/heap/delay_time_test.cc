// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/delay_time.h"

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/timer.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::heap::internal {
namespace {

class DelayTimeTest : public testing::Test {
 protected:
  DelayTimeTest() : clock_(PausedClock()) { timer_.emplace(clock_); }

  static PollResult<absl::Status> Poll(DelayTime& time,
                                       const Waker& waker = Waker()) {
    Context cx(waker);
    return time.Poll(cx);
  }

  void Advance(int milliseconds) {
    clock_->Advance(absl::Milliseconds(milliseconds));
    timer_->Advance();
  }

  std::shared_ptr<Clock> clock_;
  std::optional<Timer> timer_;
};

TEST_F(DelayTimeTest, ADurationBeginsAtTheStart) {
  DelayTime time(timer_->handle(), absl::Milliseconds(10));
  Advance(10);
  EXPECT_FALSE(time.has_started());
  time.Start();
  EXPECT_TRUE(time.has_started());
  Advance(9);
  EXPECT_TRUE(Poll(time).IsPending());
  Advance(1);
  EXPECT_TRUE(Poll(time)->ok());
}

TEST_F(DelayTimeTest, AStartedTimeCanBeStartedAgain) {
  DelayTime time(timer_->handle(), absl::Milliseconds(10));
  time.Start();
  Advance(9);
  time.Start();
  Advance(9);
  EXPECT_TRUE(Poll(time).IsPending());
  Advance(1);
  EXPECT_TRUE(Poll(time)->ok());
  // A time that was up can be started again, too.
  time.Start();
  EXPECT_TRUE(Poll(time).IsPending());
  Advance(10);
  EXPECT_TRUE(Poll(time)->ok());
}

TEST_F(DelayTimeTest, AnInstantIsTheDeadline) {
  const Instant deadline = clock_->Now() + absl::Milliseconds(10);
  DelayTime time(timer_->handle(), deadline);
  Advance(9);
  time.Start();
  EXPECT_TRUE(Poll(time).IsPending());
  Advance(1);
  EXPECT_TRUE(Poll(time)->ok());
}

TEST_F(DelayTimeTest, AStoppedTimeWakesNoTask) {
  CountingWaker task;
  DelayTime time(timer_->handle(), absl::Milliseconds(10));
  time.Start();
  EXPECT_TRUE(Poll(time, task.NewWaker()).IsPending());
  time.Stop();
  EXPECT_FALSE(time.has_started());
  Advance(10);
  EXPECT_EQ(task.wakes(), 0);
}

TEST_F(DelayTimeTest, IsUnavailableWithoutATimer) {
  DelayTime time(TimerHandle::Defunct(absl::UnavailableError("no timer")),
                 absl::Milliseconds(10));
  time.Start();
  EXPECT_TRUE(absl::IsUnavailable(*Poll(time)));
}

// This also holds for a time that was started again after the timer's
// destruction.
TEST_F(DelayTimeTest, IsUnavailableWhenTheTimerIsDestroyed) {
  DelayTime time(timer_->handle(), absl::Milliseconds(10));
  time.Start();
  timer_.reset();
  time.Start();
  EXPECT_TRUE(absl::IsUnavailable(*Poll(time)));
}

}  // namespace
}  // namespace rouse::heap::internal

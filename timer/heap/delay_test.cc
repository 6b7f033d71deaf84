// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/delay.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/timer.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::heap {
namespace {

Instant At(int milliseconds) {
  return Instant() + absl::Milliseconds(milliseconds);
}

PollResult<absl::Status> Poll(Delay& delay, const Waker& waker = Waker()) {
  Context cx(waker);
  return delay.Poll(cx);
}

bool IsReady(Delay& delay) {
  const PollResult<absl::Status> result = Poll(delay);
  return result.IsReady() && result->ok();
}

bool IsUnavailable(Delay& delay) {
  const PollResult<absl::Status> result = Poll(delay);
  return result.IsReady() && absl::IsUnavailable(*result);
}

// The seed's test "works".
TEST(Delay, EndsAtItsDeadline) {
  CountingWaker task;
  Timer timer;
  Delay delay(timer.handle(), At(10));
  EXPECT_EQ(delay.Deadline(), At(10));
  EXPECT_TRUE(Poll(delay, task.NewWaker()).IsPending());
  timer.AdvanceTo(At(9));
  EXPECT_EQ(task.wakes(), 0);
  timer.AdvanceTo(At(10));
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(IsReady(delay));
}

TEST(Delay, TheDurationStartsWhenTheDelayIsMade) {
  const std::shared_ptr<Clock> clock = PausedClock();
  const Instant start = clock->Now();
  Timer timer(clock);
  Delay delay(timer.handle(), absl::Milliseconds(10));
  clock->Advance(absl::Milliseconds(5));
  EXPECT_TRUE(Poll(delay).IsPending());
  EXPECT_EQ(delay.Deadline(), start + absl::Milliseconds(10));
}

TEST(Delay, APastDeadlineEndsAtTheNextAdvance) {
  Timer timer;
  Delay zero(timer.handle(), absl::ZeroDuration());
  Delay less(timer.handle(), -absl::InfiniteDuration());
  EXPECT_TRUE(Poll(zero).IsPending());
  timer.Advance();
  EXPECT_TRUE(IsReady(zero));
  EXPECT_TRUE(IsReady(less));
}

// The seed's test "error_after_inert".
TEST(Delay, IsUnavailableWhenTheTimerIsDestroyed) {
  std::optional<Timer> timer(std::in_place);
  Delay delay(timer->handle(), At(10));
  EXPECT_TRUE(Poll(delay).IsPending());
  timer.reset();
  EXPECT_TRUE(IsUnavailable(delay));
}

// The seed's test "drop_makes_inert".
TEST(Delay, IsUnavailableWhenMadeAfterTheTimerIsDestroyed) {
  std::optional<Timer> timer(std::in_place);
  const TimerHandle handle = timer->handle();
  timer.reset();
  Delay delay(handle, absl::Milliseconds(10));
  EXPECT_TRUE(IsUnavailable(delay));
}

// The seed's test "drop_timer_wakes".
TEST(Delay, DestroyingTheTimerWakesIt) {
  // One delay in the timer's heap, and one that the timer has not seen.
  CountingWaker tasks[2];
  std::optional<Timer> timer(std::in_place);
  Delay known(timer->handle(), At(10));
  timer->AdvanceTo(At(0));
  Delay unknown(timer->handle(), At(10));
  EXPECT_TRUE(Poll(known, tasks[0].NewWaker()).IsPending());
  EXPECT_TRUE(Poll(unknown, tasks[1].NewWaker()).IsPending());
  timer.reset();
  EXPECT_EQ(tasks[0].wakes(), 1);
  EXPECT_EQ(tasks[1].wakes(), 1);
  EXPECT_TRUE(IsUnavailable(known));
  EXPECT_TRUE(IsUnavailable(unknown));
}

// The seed's test "reset".
TEST(Delay, AResetPostponesIt) {
  Timer timer;
  Delay delay(timer.handle(), At(10));
  timer.AdvanceTo(At(5));
  EXPECT_TRUE(delay.ResetAt(At(20)).ok());
  EXPECT_EQ(delay.Deadline(), At(20));
  timer.AdvanceTo(At(15));
  EXPECT_TRUE(Poll(delay).IsPending());
  timer.AdvanceTo(At(20));
  EXPECT_TRUE(IsReady(delay));
  EXPECT_TRUE(delay.ResetAt(At(30)).ok());
  EXPECT_TRUE(Poll(delay).IsPending());
  timer.AdvanceTo(At(30));
  EXPECT_TRUE(IsReady(delay));
}

TEST(Delay, CanBeResetToAnEarlierDeadline) {
  CountingWaker task;
  Timer timer;
  Delay delay(timer.handle(), At(100));
  EXPECT_TRUE(Poll(delay, task.NewWaker()).IsPending());
  timer.AdvanceTo(At(5));
  EXPECT_TRUE(delay.ResetAt(At(10)).ok());
  timer.AdvanceTo(At(10));
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(IsReady(delay));
}

TEST(Delay, AResetByADurationStartsNow) {
  const std::shared_ptr<Clock> clock = PausedClock();
  Timer timer(clock);
  Delay delay(timer.handle(), absl::Milliseconds(10));
  clock->Advance(absl::Milliseconds(5));
  EXPECT_TRUE(delay.Reset(absl::Milliseconds(10)).ok());
  EXPECT_EQ(delay.Deadline(), clock->Now() + absl::Milliseconds(10));
}

// The timer has the old deadline in its heap, has not seen the reset, and
// advances. (Defect 1 of the seed needs two threads that meet: see
// scheduled_timer_model_test.)
TEST(Delay, ADelayDoesNotFireForTheOldDeadlineAfterAReset) {
  CountingWaker task;
  Timer timer;
  Delay delay(timer.handle(), At(10));
  EXPECT_TRUE(Poll(delay, task.NewWaker()).IsPending());
  timer.AdvanceTo(At(0));
  EXPECT_TRUE(delay.ResetAt(At(100)).ok());
  timer.AdvanceTo(At(50));
  EXPECT_EQ(task.wakes(), 0);
  EXPECT_TRUE(Poll(delay).IsPending());
}

// Defect 2 of the seed: the seed does not check the state if the timer has been
// destroyed, and the reset delay is ready at once.
TEST(Delay, Defect2AResetAfterTheTimerIsDestroyedIsUnavailable) {
  std::optional<Timer> timer(std::in_place);
  Delay delay(timer->handle(), At(10));
  timer->AdvanceTo(At(10));
  EXPECT_TRUE(IsReady(delay));
  timer.reset();
  EXPECT_TRUE(absl::IsUnavailable(delay.ResetAt(At(20))));
  EXPECT_TRUE(IsUnavailable(delay));
  // This also holds if the delay was never polled before.
  timer.emplace();
  Delay unpolled(timer->handle(), At(10));
  timer->AdvanceTo(At(10));
  timer.reset();
  EXPECT_TRUE(absl::IsUnavailable(unpolled.ResetAt(At(20))));
  EXPECT_TRUE(IsUnavailable(unpolled));
}

TEST(Delay, AFiredDelayStaysFiredWhenTheTimerIsDestroyed) {
  std::optional<Timer> timer(std::in_place);
  Delay delay(timer->handle(), At(10));
  timer->AdvanceTo(At(10));
  timer.reset();
  EXPECT_TRUE(IsReady(delay));
}

// Defect 3 of the seed, as a delay would meet it: the second push of a node
// into a sealed list is answered as if the node had been taken, and the delay
// waits forever. (arc_list_test tests the list itself.)
TEST(Delay, Defect3AllResetsAfterTheTimerIsDestroyedAreUnavailable) {
  std::optional<Timer> timer(std::in_place);
  Delay delay(timer->handle(), At(10));
  timer.reset();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(absl::IsUnavailable(delay.ResetAt(At(20))));
    EXPECT_TRUE(IsUnavailable(delay));
  }
}

// Defect 5 of the seed: the seed panics.
TEST(Delay, Defect5ADeadlineBeyondTheClockNeverExpires) {
  CountingWaker task;
  Timer timer;
  Delay delay(timer.handle(), absl::InfiniteDuration());
  EXPECT_EQ(delay.Deadline(), Instant::Max());
  EXPECT_TRUE(Poll(delay, task.NewWaker()).IsPending());
  timer.AdvanceTo(Instant::FromNanoseconds(Instant::Max().nanoseconds() - 1));
  EXPECT_EQ(timer.NextEvent(), Instant::Max());
  EXPECT_TRUE(delay.Reset(absl::Hours(24) * 365 * 1000).ok());
  EXPECT_EQ(delay.Deadline(), Instant::Max());
  timer.AdvanceTo(Instant::Max());
  EXPECT_TRUE(Poll(delay, task.NewWaker()).IsPending());
  EXPECT_EQ(task.wakes(), 0);
}

TEST(Delay, ADestroyedDelayWakesNoTask) {
  CountingWaker task;
  Timer timer;
  {
    Delay delay(timer.handle(), At(10));
    EXPECT_TRUE(Poll(delay, task.NewWaker()).IsPending());
    timer.AdvanceTo(At(0));
  }
  // The destruction also drops the waker at once.
  EXPECT_EQ(task.live(), 0);
  timer.AdvanceTo(At(10));
  EXPECT_EQ(task.wakes(), 0);
}

TEST(Delay, WakesTheTaskThatPolledLast) {
  CountingWaker first;
  CountingWaker second;
  Timer timer;
  Delay delay(timer.handle(), At(10));
  EXPECT_TRUE(Poll(delay, first.NewWaker()).IsPending());
  EXPECT_TRUE(Poll(delay, second.NewWaker()).IsPending());
  timer.AdvanceTo(At(10));
  EXPECT_EQ(first.wakes(), 0);
  EXPECT_EQ(second.wakes(), 1);
}

TEST(Delay, CanBeMovedAtAnyTime) {
  CountingWaker task;
  Timer timer;
  Delay from(timer.handle(), At(10));
  EXPECT_TRUE(Poll(from, task.NewWaker()).IsPending());
  Delay to = std::move(from);
  timer.AdvanceTo(At(10));
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(IsReady(to));
  to = Delay(timer.handle(), At(20));
  EXPECT_TRUE(Poll(to).IsPending());
  // The delay that was assigned to is cancelled.
  to = Delay(timer.handle(), At(30));
  EXPECT_EQ(timer.NextEvent(), At(30));
}

TEST(Delay, PollingACompleteDelayPanics) {
  Timer timer;
  Delay delay(timer.handle(), At(10));
  timer.AdvanceTo(At(10));
  EXPECT_TRUE(IsReady(delay));
  EXPECT_PANIC(static_cast<void>(Poll(delay)), "after it completed");
}

TEST(Delay, CompletionTakesAUnitOfTheBudget) {
  CountingWaker task;
  Timer timer;
  Delay delay(timer.handle(), At(10));
  const Waker waker = task.NewWaker();
  Context cx(waker);
  for (uint32_t i = 0; i < 2 * kBudgetPerPoll; ++i) {
    EXPECT_TRUE(delay.Poll(cx).IsPending());
  }
  EXPECT_TRUE(cx.HasBudget());
  timer.AdvanceTo(At(10));
  while (cx.HasBudget()) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    unit->MadeProgress();
  }
  EXPECT_TRUE(delay.Poll(cx).IsPending());
  EXPECT_TRUE(IsReady(delay));
}

}  // namespace
}  // namespace rouse::heap

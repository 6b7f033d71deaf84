// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/timer.h"

#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/failing_allocations.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/delay.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::heap {
namespace {

using ::testing::ElementsAre;

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

bool IsPending(Timer& timer, const Waker& waker) {
  Context cx(waker);
  return timer.Poll(cx).IsPending();
}

// The seed's test "smoke".
TEST(Timer, HasNothingToDoAtFirst) {
  Timer timer;
  EXPECT_TRUE(IsPending(timer, Waker()));
  EXPECT_EQ(timer.NextEvent(), std::nullopt);
  timer.Advance();
  EXPECT_EQ(timer.NextEvent(), std::nullopt);
}

TEST(Timer, ItsNextEventIsTheEarliestDeadline) {
  Timer timer;
  const Delay late(timer.handle(), At(20));
  const Delay early(timer.handle(), At(10));
  EXPECT_EQ(timer.NextEvent(), At(10));
  timer.AdvanceTo(At(10));
  EXPECT_EQ(timer.NextEvent(), At(20));
  timer.AdvanceTo(At(20));
  EXPECT_EQ(timer.NextEvent(), std::nullopt);
}

// The seed's test "two".
TEST(Timer, FiresOneOfTwo) {
  Timer timer;
  Delay late(timer.handle(), At(20));
  Delay early(timer.handle(), At(10));
  timer.AdvanceTo(At(15));
  EXPECT_TRUE(IsReady(early));
  EXPECT_TRUE(Poll(late).IsPending());
  timer.AdvanceTo(At(25));
  EXPECT_TRUE(IsReady(late));
}

// Defect 9 of the seed: its documentation says before `now`, and names
// functions that do not exist.
TEST(Timer, Defect9FiresExactlyAtTheDeadline) {
  Timer timer;
  Delay delay(timer.handle(), At(10));
  timer.AdvanceTo(At(10).PlusNanoseconds(-1));
  EXPECT_TRUE(Poll(delay).IsPending());
  timer.AdvanceTo(At(10));
  EXPECT_TRUE(IsReady(delay));
}

#ifdef ROUSE_CAN_FAIL_ALLOCATIONS

TEST(Timer, LosesNoDelayWhenMemoryRunsOut) {
  constexpr int kDelays = 20;
  int failed = 0;
  for (int n = 0; n == failed; ++n) {
    Timer timer;
    std::vector<Delay> delays;
    for (int i = 1; i <= kDelays; ++i) {
      delays.emplace_back(timer.handle(), At(i));
    }
    bool has_failed;
    {
      const FailingAllocation failing(n);
      try {
        static_cast<void>(timer.NextEvent());
      } catch (const std::bad_alloc&) {
      }
      has_failed = failing.has_failed();
    }
    if (has_failed) ++failed;
    EXPECT_EQ(timer.NextEvent(), At(1));
    timer.AdvanceTo(At(kDelays));
    for (Delay& delay : delays) EXPECT_TRUE(IsReady(delay)) << n;
  }
  EXPECT_GE(failed, 2);
}

TEST(Timer, ADelayWithoutMemoryIsUnavailableAfterDestruction) {
  std::optional<Timer> timer(std::in_place);
  Delay first(timer->handle(), At(1));
  Delay second(timer->handle(), At(2));
  {
    const FailingAllocation failing(0);
    EXPECT_THROW(static_cast<void>(timer->NextEvent()), std::bad_alloc);
  }
  timer.reset();
  EXPECT_TRUE(absl::IsUnavailable(*Poll(first)));
  EXPECT_TRUE(absl::IsUnavailable(*Poll(second)));
}

#endif

TEST(Timer, FiresInTheOrderOfDeadlines) {
  Timer timer;
  std::vector<int> order;
  std::vector<Delay> delays;
  for (const int i : {3, 1, 2}) {
    delays.emplace_back(timer.handle(), At(i));
    EXPECT_TRUE(Poll(delays.back(),
                     Waker::FromCallable([&order, i] { order.push_back(i); }))
                    .IsPending());
  }
  timer.AdvanceTo(At(10));
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

TEST(Timer, AdvancesByItsClock) {
  const std::shared_ptr<Clock> clock = PausedClock();
  Timer timer(clock);
  Delay delay(timer.handle(), absl::Seconds(1));
  clock->Advance(absl::Milliseconds(999));
  timer.Advance();
  EXPECT_TRUE(Poll(delay).IsPending());
  clock->Advance(absl::Milliseconds(1));
  timer.Advance();
  EXPECT_TRUE(IsReady(delay));
}

TEST(Timer, ANewOrResetDelayWakesTheDriver) {
  CountingWaker driver;
  Timer timer;
  EXPECT_TRUE(IsPending(timer, driver.NewWaker()));
  Delay delay(timer.handle(), At(10));
  EXPECT_EQ(driver.wakes(), 1);
  // One wake is enough until the timer checks.
  EXPECT_TRUE(delay.ResetAt(At(20)).ok());
  EXPECT_EQ(driver.wakes(), 1);
  EXPECT_TRUE(IsPending(timer, driver.NewWaker()));
  EXPECT_TRUE(delay.ResetAt(At(5)).ok());
  EXPECT_EQ(driver.wakes(), 2);
  EXPECT_EQ(timer.NextEvent(), At(5));
}

TEST(Timer, ACancelledDelayIsForgottenWithoutAWake) {
  CountingWaker driver;
  Timer timer;
  {
    const Delay delay(timer.handle(), At(10));
    EXPECT_TRUE(IsPending(timer, driver.NewWaker()));
    EXPECT_EQ(timer.NextEvent(), At(10));
  }
  EXPECT_EQ(driver.wakes(), 0);
  EXPECT_EQ(timer.NextEvent(), std::nullopt);
}

TEST(Timer, ADestroyedTimerKeepsNoWaker) {
  CountingWaker driver;
  {
    Timer timer;
    EXPECT_TRUE(IsPending(timer, driver.NewWaker()));
    const TimerHandle handle = timer.handle();
  }
  EXPECT_EQ(driver.live(), 0);
  EXPECT_EQ(driver.wakes(), 0);
}

// A waker may make, reset and cancel delays, and drive the timer.
TEST(Timer, AWakerCanUseTheTimer) {
  Timer timer;
  Delay first(timer.handle(), At(10));
  Delay second(timer.handle(), At(11));
  std::optional<Delay> third(std::in_place, timer.handle(), At(12));
  EXPECT_TRUE(Poll(first, Waker::FromCallable([&] {
                     EXPECT_TRUE(second.ResetAt(At(100)).ok());
                     third.reset();
                     timer.AdvanceTo(At(20));
                   }))
                  .IsPending());
  timer.AdvanceTo(At(20));
  EXPECT_TRUE(IsReady(first));
  EXPECT_TRUE(Poll(second).IsPending());
  EXPECT_EQ(timer.NextEvent(), At(100));
}

}  // namespace
}  // namespace rouse::heap

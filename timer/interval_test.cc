// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/interval.h"

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/future/stream.h"
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

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Driver = wheel::Driver<ThreadParker>;

static_assert(Future<IntervalTick>);
static_assert(
    std::same_as<FutureOutput<IntervalTick>, absl::StatusOr<Instant>>);
static_assert(Stream<Interval>);
static_assert(std::same_as<StreamItem<Interval>, Instant>);

Interval Make(absl::Duration period, const IntervalOptions& options = {}) {
  absl::StatusOr<Interval> interval = Interval::Create(period, options);
  EXPECT_TRUE(interval.ok()) << interval.status();
  return *std::move(interval);
}

class IntervalTest : public testing::Test {
 protected:
  PollResult<absl::StatusOr<Instant>> Poll(Interval& interval) {
    const Waker waker = task_.NewWaker();
    Context cx(waker);
    return interval.Tick().Poll(cx);
  }

  bool IsPending(Interval& interval) { return Poll(interval).IsPending(); }

  // Returns all ticks that can be taken now, in milliseconds since the start.
  std::vector<int64_t> Take(Interval& interval) {
    std::vector<int64_t> ticks;
    for (;;) {
      const PollResult<absl::StatusOr<Instant>> tick = Poll(interval);
      if (tick.IsPending()) return ticks;
      EXPECT_TRUE((*tick).ok());
      ticks.push_back(absl::ToInt64Milliseconds(**tick - start_));
    }
  }

  void Pass(absl::Duration d) {
    clock_->Advance(d);
    driver_->ParkFor(absl::ZeroDuration());
  }
  void PassMs(int64_t ms) { Pass(absl::Milliseconds(ms)); }

  const std::shared_ptr<Clock> clock_ = PausedClock();
  std::optional<Driver> driver_{std::in_place, wheel::Options{.clock = clock_}};
  wheel::ScopedDefault current_{driver_->handle()};
  const Instant start_ = clock_->Now();
  CountingWaker task_;
};

TEST_F(IntervalTest, TheFirstTickIsImmediate) {
  Interval interval = Make(absl::Milliseconds(100));
  EXPECT_EQ(interval.Deadline(), std::nullopt);
  PassMs(40);
  EXPECT_THAT(Take(interval), ElementsAre(40));
  EXPECT_EQ(interval.Deadline(), start_ + absl::Milliseconds(140));
}

TEST_F(IntervalTest, AConstantPeriodNeedsNoStatus) {
  Interval interval(absl::Milliseconds(100), {.start = start_});
  EXPECT_EQ(interval.period(), absl::Milliseconds(100));
  EXPECT_THAT(Take(interval), ElementsAre(0));
  PassMs(100);
  EXPECT_THAT(Take(interval), ElementsAre(100));
  EXPECT_PANIC(const Interval zero(absl::ZeroDuration()), "a period of 0");
}

TEST_F(IntervalTest, TicksOncePerPeriod) {
  Interval interval = Make(absl::Milliseconds(100));
  EXPECT_THAT(Take(interval), ElementsAre(0));
  for (int i = 1; i <= 5; ++i) {
    PassMs(99);
    EXPECT_EQ(task_.wakes(), i - 1);
    EXPECT_TRUE(IsPending(interval));
    PassMs(1);
    EXPECT_EQ(task_.wakes(), i);
    EXPECT_THAT(Take(interval), ElementsAre(i * 100));
  }
}

TEST_F(IntervalTest, ContinuesAfterAMove) {
  Interval first = Make(absl::Milliseconds(100));
  const Waker waker = task_.NewWaker();
  Context cx(waker);
  ASSERT_TRUE(first.PollTick(cx).IsReady());
  Interval second = std::move(first);
  EXPECT_EQ(second.Deadline(), start_ + absl::Milliseconds(100));
  PassMs(50);
  second.Reset();
  EXPECT_EQ(second.Deadline(), start_ + absl::Milliseconds(150));
  PassMs(100);
  EXPECT_THAT(Take(second), ElementsAre(150));
}

TEST_F(IntervalTest, StartsAtAnInstant) {
  Interval interval =
      Make(absl::Milliseconds(100), {.start = start_ + absl::Milliseconds(30)});
  EXPECT_EQ(interval.Deadline(), start_ + absl::Milliseconds(30));
  EXPECT_THAT(Take(interval), IsEmpty());
  PassMs(30);
  EXPECT_THAT(Take(interval), ElementsAre(30));
  PassMs(100);
  EXPECT_THAT(Take(interval), ElementsAre(130));
}

TEST(Interval, RefusesAPeriodOfZero) {
  for (const auto period :
       {absl::ZeroDuration(), -absl::Seconds(1), -absl::InfiniteDuration(),
        absl::Nanoseconds(1) / 2}) {
    EXPECT_EQ(Interval::Create(period).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(Make(absl::Nanoseconds(1)).period(), absl::Nanoseconds(1));
}

// The example of interval.h: a task that is busy from 150 ms to 330 ms.
class MissedTicksTest : public IntervalTest {
 protected:
  std::vector<std::vector<int64_t>> Run(MissedTicks missed_ticks) {
    Interval interval =
        Make(absl::Milliseconds(100), {.missed_ticks = missed_ticks});
    EXPECT_EQ(interval.missed_ticks(), missed_ticks);
    std::vector<std::vector<int64_t>> taken;
    int64_t now = 0;
    for (const int64_t at : {0, 100, 330, 400, 430, 500, 530}) {
      PassMs(at - now);
      now = at;
      taken.push_back(Take(interval));
    }
    return taken;
  }
};

TEST_F(MissedTicksTest, BurstTicksForEachMissedTick) {
  EXPECT_THAT(
      Run(MissedTicks::kBurst),
      ElementsAre(ElementsAre(0), ElementsAre(100), ElementsAre(200, 300),
                  ElementsAre(400), IsEmpty(), ElementsAre(500), IsEmpty()));
}

TEST_F(MissedTicksTest, DelayPostponesTheNextTickByAPeriod) {
  EXPECT_THAT(
      Run(MissedTicks::kDelay),
      ElementsAre(ElementsAre(0), ElementsAre(100), ElementsAre(200), IsEmpty(),
                  ElementsAre(430), IsEmpty(), ElementsAre(530)));
}

TEST_F(MissedTicksTest, SkipContinuesAtWholePeriods) {
  EXPECT_THAT(
      Run(MissedTicks::kSkip),
      ElementsAre(ElementsAre(0), ElementsAre(100), ElementsAre(200),
                  ElementsAre(400), IsEmpty(), ElementsAre(500), IsEmpty()));
}

TEST_F(IntervalTest, ASlightlyLateTickIsNotMissed) {
  Interval delay =
      Make(absl::Milliseconds(100), {.missed_ticks = MissedTicks::kDelay});
  EXPECT_THAT(Take(delay), ElementsAre(0));
  PassMs(105);  // five ticks of the driver
  EXPECT_THAT(Take(delay), ElementsAre(100));
  EXPECT_EQ(delay.Deadline(), start_ + absl::Milliseconds(200));
  PassMs(101);  // one tick more
  EXPECT_THAT(Take(delay), ElementsAre(200));
  EXPECT_EQ(delay.Deadline(), start_ + absl::Milliseconds(306));
}

// The period is no longer than the lateness that is otherwise tolerated.
TEST_F(IntervalTest, DelayDoesNotBurst) {
  Interval delay =
      Make(absl::Milliseconds(1), {.missed_ticks = MissedTicks::kDelay});
  EXPECT_THAT(Take(delay), ElementsAre(0));
  PassMs(4);
  EXPECT_THAT(Take(delay), ElementsAre(1));
  EXPECT_EQ(delay.Deadline(), start_ + absl::Milliseconds(5));
  PassMs(1);
  EXPECT_THAT(Take(delay), ElementsAre(5));
}

TEST_F(IntervalTest, SkipOnAWholePeriodContinuesWithTheNext) {
  Interval skip =
      Make(absl::Milliseconds(100), {.missed_ticks = MissedTicks::kSkip});
  EXPECT_THAT(Take(skip), ElementsAre(0));
  PassMs(100);
  EXPECT_THAT(Take(skip), ElementsAre(100));
  PassMs(200);
  EXPECT_THAT(Take(skip), ElementsAre(200));
  EXPECT_EQ(skip.Deadline(), start_ + absl::Milliseconds(400));
  Pass(absl::Hours(1000));
  EXPECT_THAT(Take(skip), ElementsAre(400));
  EXPECT_EQ(skip.Deadline(),
            start_ + absl::Milliseconds(400) + absl::Hours(1000));
}

TEST_F(IntervalTest, MissedTicksBehaviorCanChange) {
  Interval interval = Make(absl::Milliseconds(100));
  EXPECT_THAT(Take(interval), ElementsAre(0));
  interval.set_missed_ticks(MissedTicks::kSkip);
  PassMs(350);
  EXPECT_THAT(Take(interval), ElementsAre(100));
  EXPECT_EQ(interval.Deadline(), start_ + absl::Milliseconds(400));
}

TEST_F(IntervalTest, APeriodShorterThanATickLosesNoTick) {
  Interval interval = Make(absl::Microseconds(250));
  EXPECT_EQ(Take(interval).size(), 1);
  for (int i = 0; i < 10; ++i) {
    Pass(absl::Milliseconds(1));
    EXPECT_EQ(Take(interval).size(), 4);
  }
}

TEST_F(IntervalTest, HugePeriodsSaturate) {
  for (const auto missed :
       {MissedTicks::kBurst, MissedTicks::kDelay, MissedTicks::kSkip}) {
    for (const auto period :
         {absl::InfiniteDuration(), absl::Hours(24) * 365 * 292}) {
      Interval interval = Make(period, {.missed_ticks = missed});
      EXPECT_EQ(Take(interval).size(), 1);
      EXPECT_EQ(interval.Deadline(), Instant::Max());
      Pass(absl::Hours(24) * 365);
      EXPECT_TRUE(IsPending(interval));
    }
  }
}

TEST_F(IntervalTest, SkipsFromTheStartOfTheClock) {
  const Instant earliest = Instant() - absl::InfiniteDuration();
  Interval interval =
      Make(absl::Seconds(1),
           {.start = earliest, .missed_ticks = MissedTicks::kSkip});
  ASSERT_TRUE(Poll(interval).IsReady());
  const absl::Duration left = *interval.Deadline() - clock_->Now();
  EXPECT_GT(left, absl::ZeroDuration());
  EXPECT_LE(left, absl::Seconds(1));
}

// T16: tokio #5553.
TEST_F(IntervalTest, WakesNoTaskUnlessItIsPolled) {
  Interval interval = Make(absl::Milliseconds(100));
  ASSERT_TRUE(Poll(interval).IsReady());
  PassMs(1000);
  EXPECT_EQ(task_.wakes(), 0);
  EXPECT_EQ(task_.live(), 0);
}

TEST_F(IntervalTest, DestroyingATickFutureTakesNoTick) {
  Interval interval = Make(absl::Milliseconds(100));
  EXPECT_THAT(Take(interval), ElementsAre(0));  // and polls one that is dropped
  PassMs(100);
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_THAT(Take(interval), ElementsAre(100));
}

TEST_F(IntervalTest, DestroyingTheIntervalCancels) {
  {
    Interval interval = Make(absl::Milliseconds(100));
    EXPECT_THAT(Take(interval), ElementsAre(0));
    EXPECT_EQ(task_.live(), 1);
  }
  EXPECT_EQ(task_.live(), 0);
  PassMs(100);
  EXPECT_EQ(task_.wakes(), 0);
}

TEST_F(IntervalTest, IsResetWhileATaskWaits) {
  Interval interval = Make(absl::Milliseconds(100));
  EXPECT_THAT(Take(interval), ElementsAre(0));
  PassMs(60);
  interval.Reset();
  PassMs(99);
  EXPECT_EQ(task_.wakes(), 0);
  PassMs(1);
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_THAT(Take(interval), ElementsAre(160));
  interval.Reset(absl::Milliseconds(5));
  PassMs(5);
  EXPECT_EQ(task_.wakes(), 2);
  EXPECT_THAT(Take(interval), ElementsAre(165));
  interval.ResetAt(start_ + absl::Milliseconds(170));
  PassMs(5);
  EXPECT_THAT(Take(interval), ElementsAre(170));
  interval.Reset(absl::ZeroDuration());
  EXPECT_EQ(task_.wakes(), 4);
  EXPECT_THAT(Take(interval), ElementsAre(170));
}

TEST_F(IntervalTest, AResetByANegativeDurationTicksAtOnce) {
  Interval interval = Make(absl::Milliseconds(100));
  EXPECT_THAT(Take(interval), ElementsAre(0));
  interval.Reset(-absl::Hours(1));
  EXPECT_THAT(Take(interval), ElementsAre(0));
  PassMs(100);
  EXPECT_THAT(Take(interval), ElementsAre(100));

  // This also holds before the first poll.
  Interval other = Make(absl::Milliseconds(100));
  other.Reset(-absl::Hours(1));
  EXPECT_THAT(Take(other), ElementsAre(100));
}

TEST_F(IntervalTest, IsResetBetweenTicks) {
  Interval interval = Make(absl::Milliseconds(100));
  ASSERT_TRUE(Poll(interval).IsReady());
  interval.Reset(absl::Milliseconds(10));
  PassMs(10);
  EXPECT_THAT(Take(interval), ElementsAre(10));
}

TEST_F(IntervalTest, AResetBeforeTheFirstPollSetsTheFirstTick) {
  Interval interval =
      Make(absl::Milliseconds(100), {.handle = driver_->handle()});
  interval.Reset();
  PassMs(500);
  EXPECT_THAT(Take(interval), IsEmpty());
  PassMs(100);
  EXPECT_THAT(Take(interval), ElementsAre(600));
}

TEST_F(IntervalTest, CanBeMovedBetweenTicks) {
  Interval first = Make(absl::Milliseconds(100));
  ASSERT_TRUE(Poll(first).IsReady());
  Interval second = std::move(first);
  EXPECT_THAT(Take(second), IsEmpty());
  EXPECT_PANIC(Interval third(std::move(second)), "moved after it was polled");
  PassMs(100);
  EXPECT_THAT(Take(second), ElementsAre(100));
}

TEST_F(IntervalTest, StaysWithItsFirstDriver) {
  Interval interval = Make(absl::Milliseconds(100));
  ASSERT_TRUE(Poll(interval).IsReady());
  Driver other;
  const wheel::ScopedDefault scope(other.handle());
  EXPECT_TRUE(IsPending(interval));
  PassMs(100);
  EXPECT_THAT(Take(interval), ElementsAre(100));
}

TEST(Interval, UsesTheDriverOfItsOptions) {
  Driver driver({.clock = PausedClock()});
  CountingWaker task;
  const Waker waker = task.NewWaker();
  Context cx(waker);
  Interval interval = Make(absl::Seconds(1), {.handle = driver.handle()});
  EXPECT_TRUE(interval.PollTick(cx).IsReady());
  Interval none = Make(absl::Seconds(1));
  EXPECT_PANIC(none.PollTick(cx).IsReady(), "ScopedDefault");
}

TEST_F(IntervalTest, IsNotifiedThatTheDriverIsDestroyed) {
  Interval interval = Make(absl::Milliseconds(100));
  ASSERT_TRUE(Poll(interval).IsReady());
  ASSERT_TRUE(IsPending(interval));
  driver_.reset();
  EXPECT_EQ(task_.wakes(), 1);
  const Waker waker = task_.NewWaker();
  Context cx(waker);
  for (int i = 0; i < 3; ++i) {
    const PollResult<absl::StatusOr<Instant>> tick = interval.PollTick(cx);
    ASSERT_TRUE(tick.IsReady());
    EXPECT_TRUE(absl::IsUnavailable((*tick).status()));
    const PollResult<std::optional<Instant>> item = interval.PollNext(cx);
    ASSERT_TRUE(item.IsReady());
    EXPECT_EQ(*item, std::nullopt);
    interval.Reset();
    interval.Reset(absl::ZeroDuration());
  }
}

TEST_F(IntervalTest, ATickTakesAUnitOfTheBudget) {
  const Waker waker = task_.NewWaker();
  Context cx(waker);
  Interval interval = Make(absl::Milliseconds(1));
  PassMs(10);
  ASSERT_TRUE(interval.PollTick(cx).IsReady());
  PassMs(10'000);
  uint32_t ticks = 1;
  while (interval.PollTick(cx).IsReady()) ++ticks;
  EXPECT_EQ(ticks, kBudgetPerPoll);
  EXPECT_EQ(task_.wakes(), 1);
}

Co<int> CountTicks(Interval& interval) {
  int ticks = 0;
  while (std::optional<Instant> tick = co_await Next(interval)) ++ticks;
  co_return ticks;
}

Co<absl::Status> TickTwice(Interval& interval) {
  for (int i = 0; i < 2; ++i) {
    absl::StatusOr<Instant> tick = co_await interval.Tick();
    if (!tick.ok()) co_return tick.status();
  }
  co_return absl::OkStatus();
}

TEST_F(IntervalTest, WorksInCoroutines) {
  const Waker waker = task_.NewWaker();
  Context cx(waker);
  Interval first = Make(absl::Milliseconds(100));
  Interval second = Make(absl::Milliseconds(100));
  Co<int> count = CountTicks(first);
  Co<absl::Status> twice = TickTwice(second);
  ASSERT_TRUE(count.Poll(cx).IsPending());
  ASSERT_TRUE(twice.Poll(cx).IsPending());
  PassMs(100);
  ASSERT_TRUE(count.Poll(cx).IsPending());
  PollResult<absl::Status> done = twice.Poll(cx);
  ASSERT_TRUE(done.IsReady());
  EXPECT_TRUE(done->ok());
  driver_.reset();
  PollResult<int> ticks = count.Poll(cx);
  ASSERT_TRUE(ticks.IsReady());
  EXPECT_EQ(*ticks, 2);
}

TEST(MissedTicks, ArePrinted) {
  EXPECT_EQ(absl::StrCat(MissedTicks::kBurst, " ", MissedTicks::kDelay, " ",
                         MissedTicks::kSkip),
            "burst delay skip");
}

}  // namespace
}  // namespace rouse

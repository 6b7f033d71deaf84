// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The timer bugs of Tokio and its relatives that this design had to avoid. Each
// has a test of its number; "#" is an issue of tokio-rs/tokio. The tests use
// the public types: drivers, sleeps and the types that are made of them. Other
// tests, closer to the code, are in the tests of the parts and name the trap as
// well.
//
// These bugs cannot arise here, or have no test here:
//
//   T2   (#6682, sharded wheels that computed the next wake outside their
//        locks). Here the next wake is decided while each shard's lock is taken
//        in turn, and announced before the first (next_wake.h). The race is
//        modelled in next_wake_model_test.cc, and run in sleep_stress_test.cc.
//   T11  (#8252, a cancellation that races with a remote insertion). Here no
//        insertion or cancellation is a message: both happen under the lock, on
//        the thread of the caller. The race is run in sleep_stress_test.cc.
//   T14  (#6584, reverted by #6715: sharding that made a runtime of many
//        workers slower, by a random shard for each sleep and a search of all
//        of them for the next wake). A worker's sleeps are in its own shard,
//        and the next wake costs one bit scan and one uncontended lock for
//        each shard.
//   T21  (the races of a timer's generation with its heap) concerns the heap
//        timer. A sleep has no generation: a sleep that is put off while it
//        fires is armed again (registration.h; modelled in core_model_test.cc).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/delay_queue.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/interval.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/timeout.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/timer/wheel/entry.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/timer/wheel/wheel.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::wheel {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(1);
constexpr absl::Duration kReach = absl::Milliseconds(int64_t{1} << 36);

// A driver below that does not block.
struct Below {
  std::vector<absl::Duration> parks;
  int unparks = 0;
  std::function<void()> during_park = [] {};
};

class FakePark {
 public:
  class Unparker {
   public:
    explicit Unparker(Below* below) : below_(below) {}
    void Unpark() const { ++below_->unparks; }

   private:
    Below* below_;
  };

  explicit FakePark(Below* below) : below_(below) {}
  Unparker unparker() { return Unparker(below_); }
  void Park() { ParkFor(absl::InfiniteDuration()); }
  void ParkFor(absl::Duration limit) {
    below_->parks.push_back(limit);
    std::exchange(below_->during_park, [] {})();
  }
  void Shutdown() {}

 private:
  Below* below_;
};

class TrapsTest : public testing::Test {
 protected:
  template <class F>
  bool IsPending(F& future) {
    const Waker waker = task_.NewWaker();
    Context cx(waker);
    return future.Poll(cx).IsPending();
  }

  // Returns the value that the queue gives, if any.
  std::optional<int> Poll(DelayQueue<int>& queue) {
    const Waker waker = task_.NewWaker();
    Context cx(waker);
    auto item = queue.PollNext(cx);
    if (item.IsPending() || !item->has_value()) return std::nullopt;
    return (*item)->value;
  }

  void Pass(absl::Duration d) {
    clock_->Advance(d);
    driver_->ParkFor(absl::ZeroDuration());
  }

  const std::shared_ptr<Clock> clock_ = PausedClock();
  Below below_;
  CountingWaker task_;
  std::optional<Driver<FakePark>> driver_{std::in_place,
                                          Options{.clock = clock_}, &below_};
  ScopedDefault current_{driver_->handle()};
};

// #8334: entries beyond the reach went to a slot that had been passed, and hid
// nearer entries. Tested at several uptimes, on a clock that runs for years,
// with parks as long as the driver asks for.
TEST_F(TrapsTest, T1EntriesBeyondTheRangeHideNoNearerEntry) {
  clock_->Resume();
  const auto park = [&] {
    below_.during_park = [&] {
      if (below_.parks.back() > absl::ZeroDuration()) {
        clock_->Advance(below_.parks.back());
      }
    };
    driver_->Park();
  };
  for (const absl::Duration uptime :
       {absl::ZeroDuration(), kReach / 64 + kTick, kReach / 2, kReach}) {
    clock_->Advance(uptime);
    driver_->ParkFor(absl::ZeroDuration());
    Sleep beyond(kReach + absl::Seconds(3));
    Sleep near(absl::Milliseconds(1300));
    Sleep far(kReach / 20);
    for (Sleep* sleep : {&beyond, &near, &far}) ASSERT_TRUE(IsPending(*sleep));
    for (Sleep* sleep : {&near, &far, &beyond}) {
      int parks = 0;
      while (!sleep->IsElapsed()) {
        ASSERT_LE(clock_->Now(), *sleep->Deadline() + absl::Minutes(1));
        ASSERT_LE(++parks, 20);
        park();
      }
      EXPECT_GE(clock_->Now(), *sleep->Deadline());
    }
  }
}

// #3190: a nearer deadline did not unpark a driver that was blocked.
TEST_F(TrapsTest, T3AnEarlierDeadlineUnparksTheDriver) {
  Sleep late(absl::Hours(1));
  ASSERT_TRUE(IsPending(late));
  Sleep early(absl::Seconds(1));
  Interval interval = *Interval::Create(
      absl::Seconds(1), {.start = clock_->Now() + absl::Milliseconds(10)});
  IntervalTick tick = interval.Tick();
  below_.during_park = [&] { ASSERT_TRUE(IsPending(early)); };
  driver_->Park();
  EXPECT_EQ(below_.unparks, 1);
  below_.during_park = [&] { ASSERT_TRUE(IsPending(tick)); };
  driver_->Park();
  EXPECT_EQ(below_.unparks, 2);
  DelayQueue<int> queue;
  queue.Insert(1, absl::Hours(1));
  EXPECT_EQ(Poll(queue), std::nullopt);
  below_.during_park = [&] { queue.Insert(2, absl::Milliseconds(1)); };
  driver_->Park();
  EXPECT_EQ(below_.unparks, 3);
}

// #3069: a sleep for no time hung.
TEST_F(TrapsTest, T4ASleepOfZeroEndsAtOnce) {
  Sleep none(absl::ZeroDuration());
  EXPECT_FALSE(IsPending(none));
  Sleep past = SleepUntil(clock_->Now() - absl::Seconds(1));
  EXPECT_FALSE(IsPending(past));
  Timeout timeout(absl::ZeroDuration(), Sleep(absl::Hours(1)));
  EXPECT_FALSE(IsPending(timeout));
  DelayQueue<int> queue;
  queue.Insert(1, absl::ZeroDuration());
  EXPECT_EQ(Poll(queue), 1);
}

// #3229: a timer was destroyed while it was in the list of timers to fire.
TEST_F(TrapsTest, T5SleepersCanBeDestroyedWhileOthersAreWoken) {
  std::vector<std::unique_ptr<Sleep>> sleeps;
  for (int i = 0; i < 500; ++i) {
    sleeps.push_back(std::make_unique<Sleep>(absl::Seconds(5)));
    ASSERT_TRUE(IsPending(*sleeps.back()));
  }
  size_t left = sleeps.size();
  // From the back, so that sleepers that are yet to be woken are destroyed.
  task_.OnWake([&] {
    if (left > 0) sleeps[--left].reset();
  });
  Pass(absl::Seconds(5));
  EXPECT_LT(task_.wakes(), 500);
  EXPECT_EQ(task_.live(), 0);
  sleeps.clear();
}

// #3675, #5093: an entry that already had another state was marked as pending.
TEST_F(TrapsTest, T6AResetBetweenFireAndPollStartsAgain) {
  Sleep sleep(absl::Seconds(1));
  ASSERT_TRUE(IsPending(sleep));
  Pass(absl::Seconds(1));
  ASSERT_TRUE(sleep.IsElapsed());
  sleep.Reset(absl::Seconds(1));
  EXPECT_FALSE(sleep.IsElapsed());
  sleep.Reset(absl::Seconds(2));
  ASSERT_TRUE(IsPending(sleep));
  Pass(absl::Milliseconds(1999));
  ASSERT_TRUE(IsPending(sleep));
  Pass(absl::Milliseconds(1));
  EXPECT_FALSE(IsPending(sleep));
}

// #5710: a deadline overflowed to a value that had another meaning. The only
// tick with another meaning here is that of `Instant::Max()`, which means the
// same.
TEST_F(TrapsTest, T7TheLastDeadlinesAreNotSpecial) {
  constexpr uint64_t kLast = Wheel::kNever - 1;
  for (const uint64_t when : {kLast, kLast - 1, kLast - 2, kLast - 3}) {
    Wheel wheel(kLast - 10);
    Entry entry;
    ASSERT_TRUE(wheel.Insert(entry, when));
    EXPECT_EQ(wheel.NextExpiration(), when);
    Wheel::Step step = wheel.Advance(when - 1);
    EXPECT_EQ(step.due, nullptr);
    do {
      step = wheel.Advance(when);
    } while (step.due == nullptr && step.more);
    EXPECT_EQ(step.due, &entry);
  }
  Sleep last = SleepUntil(Instant::Max().PlusNanoseconds(-1));
  Sleep never = SleepUntil(Instant::Max());
  ASSERT_TRUE(IsPending(last));
  ASSERT_TRUE(IsPending(never));
  Pass(absl::Hours(24) * 365 * 290);
  EXPECT_TRUE(IsPending(last));
  EXPECT_TRUE(IsPending(never));
}

// #2587: a reset of a timer that had expired.
TEST_F(TrapsTest, T8AResetAfterTheEndStartsAgain) {
  Sleep sleep(absl::Seconds(1));
  DelayQueue<int> queue;
  for (int i = 1; i <= 3; ++i) {
    const DelayKey key = queue.Insert(i, absl::Seconds(1));
    EXPECT_EQ(Poll(queue), std::nullopt);
    ASSERT_TRUE(IsPending(sleep));
    Pass(absl::Seconds(1));
    EXPECT_FALSE(IsPending(sleep));
    sleep.Reset(absl::Seconds(1));
    // An entry that has expired and was not taken can be put off like any
    // other.
    EXPECT_TRUE(queue.Reset(key, absl::Milliseconds(1)));
    EXPECT_EQ(Poll(queue), std::nullopt);
    Pass(absl::Milliseconds(1));
    EXPECT_EQ(Poll(queue), i);
    EXPECT_FALSE(queue.Reset(key, absl::Seconds(1)));
  }
}

// #2290, #6752, #8274, #8320: a queue did not wake its task when another entry
// became the first, or continued to sleep for an entry that had been removed.
TEST_F(TrapsTest, T9AQueueFollowsItsFirstEntry) {
  DelayQueue<int> queue;
  const DelayKey late = queue.Insert(4, absl::Seconds(40));
  EXPECT_EQ(Poll(queue), std::nullopt);
  queue.Insert(2, absl::Seconds(20));
  const DelayKey first = queue.Insert(1, absl::Seconds(10));
  queue.Remove(first);
  Pass(absl::Seconds(10));
  EXPECT_EQ(Poll(queue), std::nullopt);
  Pass(absl::Seconds(10));
  EXPECT_EQ(Poll(queue), 2);
  EXPECT_EQ(Poll(queue), std::nullopt);
  const int wakes = task_.wakes();
  EXPECT_TRUE(queue.Reset(late, absl::Seconds(1)));
  Pass(absl::Seconds(1));
  EXPECT_EQ(task_.wakes(), wakes + 1);
  EXPECT_EQ(Poll(queue), 4);
  // Empty first, and then not.
  EXPECT_EQ(Poll(queue), std::nullopt);
  queue.Insert(5, absl::Seconds(1));
  Pass(absl::Seconds(1));
  EXPECT_EQ(task_.wakes(), wakes + 2);
  EXPECT_EQ(Poll(queue), 5);
}

// #5536, #5630: a queue panicked for an entry that was 2^36 ms away.
TEST_F(TrapsTest, T10AQueueTakesDeadlinesBeyondTheWheel) {
  DelayQueue<int> queue;
  queue.Insert(1, kReach - kTick);
  queue.Insert(2, kReach);
  queue.Insert(3, 3 * kReach);
  EXPECT_EQ(Poll(queue), std::nullopt);
  Pass(kReach - kTick);
  EXPECT_EQ(Poll(queue), 1);
  EXPECT_EQ(Poll(queue), std::nullopt);
  Pass(kTick);
  EXPECT_EQ(Poll(queue), 2);
  EXPECT_EQ(Poll(queue), std::nullopt);
  Pass(2 * kReach - kTick);
  EXPECT_EQ(Poll(queue), std::nullopt);
  Pass(kTick);
  EXPECT_EQ(Poll(queue), 3);
}

// #8169: a timer was reset after it had moved to another runtime.
TEST_F(TrapsTest, T12ASleepStaysWithItsDriver) {
  Sleep sleep(absl::Seconds(1));
  DelayQueue<int> queue;
  const DelayKey key = queue.Insert(1, absl::Seconds(1));
  ASSERT_TRUE(IsPending(sleep));
  EXPECT_EQ(Poll(queue), std::nullopt);
  Below other_below;
  Driver<FakePark> other({}, &other_below);
  {
    const ScopedDefault scope(other.handle());
    sleep.Reset(absl::Seconds(2));
    ASSERT_TRUE(IsPending(sleep));
    EXPECT_TRUE(queue.Reset(key, absl::Seconds(2)));
    EXPECT_EQ(Poll(queue), std::nullopt);
  }
  Pass(absl::Seconds(2));
  EXPECT_FALSE(IsPending(sleep));
  EXPECT_EQ(Poll(queue), 1);
}

// #8093: a wheel overflowed the stack while it was made.
static_assert(sizeof(Wheel) <= 8192);
TEST_F(TrapsTest, T13AWheelIsSmallAndMadeInPlace) {
  const auto wheel = std::make_unique<Wheel>(7);
  EXPECT_EQ(wheel->elapsed(), 7);
}

// #4314: a future that used up the budget kept its timeout from being checked.
TEST_F(TrapsTest, T15ATimeoutIsNotStarved) {
  struct Greedy {
    PollResult<void> Poll(Context& cx) {
      for (;;) {
        PollResult<BudgetUnit> unit = PollProceed(cx);
        if (unit.IsPending()) return kPending;
        unit->MadeProgress();
      }
    }
  };
  Timeout timeout(absl::Seconds(1), Greedy());
  ASSERT_TRUE(IsPending(timeout));
  Pass(absl::Seconds(1));
  EXPECT_FALSE(IsPending(timeout));
}

// #5553: an interval woke its task for a tick that nobody waited for.
TEST_F(TrapsTest, T16AnUnpolledIntervalWakesNoTask) {
  Interval interval = *Interval::Create(absl::Seconds(1));
  for (int i = 0; i < 3; ++i) {
    IntervalTick tick = interval.Tick();
    ASSERT_FALSE(IsPending(tick));
    Pass(absl::Seconds(1));
    EXPECT_EQ(task_.wakes(), 0);
    EXPECT_EQ(task_.live(), 0);
  }
}

// #3551, #4495, #6487, #6612: durations so long that sums overflowed.
TEST_F(TrapsTest, T17HugeDurationsNeverEnd) {
  for (const absl::Duration huge :
       {absl::InfiniteDuration(), absl::Hours(24) * 365 * 300,
        absl::Nanoseconds(std::numeric_limits<int64_t>::max())}) {
    Sleep sleep(huge);
    EXPECT_TRUE(IsPending(sleep));
    sleep.Reset(huge);
    EXPECT_TRUE(IsPending(sleep));
    Timeout timeout(huge, Sleep(huge));
    EXPECT_TRUE(IsPending(timeout));
    Interval interval = *Interval::Create(huge);
    IntervalTick first = interval.Tick();
    EXPECT_FALSE(IsPending(first));
    EXPECT_TRUE(IsPending(first));
    DelayQueue<int> queue;
    queue.Insert(1, huge);
    EXPECT_EQ(Poll(queue), std::nullopt);
    Pass(absl::Hours(24) * 365);
    EXPECT_EQ(task_.wakes(), 0);
  }
}

// #3619, #4044, #4461: a clock went backwards. The driver's clock does not
// (clock_test.cc), and a wheel that is given an earlier present stays.
TEST_F(TrapsTest, T18ThePresentNeverGoesBack) {
  Wheel wheel(1000);
  Entry entry;
  ASSERT_TRUE(wheel.Insert(entry, 1002));
  EXPECT_FALSE(wheel.Advance(5).more);
  EXPECT_EQ(wheel.elapsed(), 1000);
  EXPECT_EQ(wheel.NextExpiration(), 1002);
  wheel.Remove(entry);
  const Instant before = clock_->Now();
  clock_->Resume();
  const Instant resumed = clock_->Now();
  clock_->Pause();
  EXPECT_GE(resumed, before);
  EXPECT_GE(clock_->Now(), resumed);
}

// #3710, #3712, #3837, #3852: a paused clock advanced by more than the given
// duration, or by less if the duration was shorter than a tick.
TEST_F(TrapsTest, T19TheClockAdvancesByTheGivenDuration) {
  const Instant start = clock_->Now();
  Sleep sleep(absl::Microseconds(1500));
  ASSERT_TRUE(IsPending(sleep));
  for (int i = 0; i < 1500; ++i) Pass(absl::Microseconds(1));
  EXPECT_EQ(clock_->Now() - start, absl::Microseconds(1500));
  EXPECT_FALSE(sleep.IsElapsed());
  Pass(absl::Microseconds(500));
  EXPECT_TRUE(sleep.IsElapsed());
  EXPECT_EQ(clock_->Now() - start, absl::Milliseconds(2));
}

// This holds whatever parks or wakes meanwhile.
TEST_F(TrapsTest, T20NothingElseMovesAPausedClock) {
  const Instant start = clock_->Now();
  Sleep sleep(absl::Seconds(1));
  ASSERT_TRUE(IsPending(sleep));
  std::thread([&] { driver_->unparker().Unpark(); }).join();
  driver_->Park();
  driver_->ParkFor(absl::Seconds(2));
  EXPECT_EQ(clock_->Now(), start);
  EXPECT_EQ(task_.wakes(), 0);
}

// After `SetAutoAdvance()` the clock moves to the next deadline, and not past
// it.
TEST_F(TrapsTest, T20AnAutoAdvancingClockStopsAtEachDeadline) {
  clock_->SetAutoAdvance(true);
  const Instant start = clock_->Now();
  Sleep near(absl::Seconds(1));
  Sleep far(absl::Hours(1));
  ASSERT_TRUE(IsPending(near));
  ASSERT_TRUE(IsPending(far));
  // The clock may also stop on the way, where entries move to a finer level.
  while (task_.wakes() < 1) driver_->Park();
  EXPECT_EQ(clock_->Now(), start + absl::Seconds(1));
  while (task_.wakes() < 2) driver_->Park();
  EXPECT_EQ(clock_->Now(), start + absl::Hours(1));
  for (const absl::Duration d : below_.parks) {
    EXPECT_EQ(d, absl::ZeroDuration());
  }
}

TEST_F(TrapsTest, T20AnAutoAdvancingClockKeepsTheLimitOfAPark) {
  clock_->SetAutoAdvance(true);
  const Instant start = clock_->Now();
  Sleep sleep(absl::Hours(1));
  ASSERT_TRUE(IsPending(sleep));
  driver_->ParkFor(absl::Seconds(1));
  EXPECT_EQ(clock_->Now(), start + absl::Seconds(1));
  EXPECT_EQ(task_.wakes(), 0);
}

TEST_F(TrapsTest, T20APollingParkDoesNotMoveTheClock) {
  clock_->SetAutoAdvance(true);
  const Instant start = clock_->Now();
  Sleep sleep(absl::Seconds(1));
  ASSERT_TRUE(IsPending(sleep));
  driver_->ParkFor(absl::ZeroDuration());
  EXPECT_EQ(clock_->Now(), start);
}

TEST_F(TrapsTest, T20AParkDoesNotMoveAHeldClock) {
  clock_->SetAutoAdvance(true);
  const Instant start = clock_->Now();
  Sleep sleep(absl::Seconds(1));
  ASSERT_TRUE(IsPending(sleep));
  {
    const Clock::AutoAdvanceHold hold(*clock_);
    driver_->Park();
    EXPECT_EQ(clock_->Now(), start);
    EXPECT_EQ(task_.wakes(), 0);
  }
  while (task_.wakes() == 0) driver_->Park();
  EXPECT_EQ(clock_->Now(), start + absl::Seconds(1));
}

TEST_F(TrapsTest, T20AnAutoAdvancingClockBlocksWithoutDeadlines) {
  clock_->SetAutoAdvance(true);
  const Instant start = clock_->Now();
  driver_->Park();
  EXPECT_EQ(clock_->Now(), start);
  EXPECT_EQ(below_.parks,
            std::vector<absl::Duration>(1, absl::InfiniteDuration()));
}

TEST_F(TrapsTest, T20ASleepForeverDoesNotMoveTheClock) {
  clock_->SetAutoAdvance(true);
  const Instant start = clock_->Now();
  Sleep forever(absl::InfiniteDuration());
  ASSERT_TRUE(IsPending(forever));
  driver_->Park();
  EXPECT_EQ(below_.parks.back(), absl::InfiniteDuration());
  EXPECT_EQ(clock_->Now(), start);
}

TEST_F(TrapsTest, T20AnEmptyQueueDoesNotMoveTheClock) {
  clock_->SetAutoAdvance(true);
  const Instant start = clock_->Now();
  DelayQueue<int> queue;
  EXPECT_EQ(Poll(queue), std::nullopt);
  driver_->Park();
  EXPECT_EQ(clock_->Now(), start);
}

TEST_F(TrapsTest, T20APauseUnparksAParkedDriver) {
  clock_->Resume();
  clock_->SetAutoAdvance(true);
  Sleep sleep(absl::Hours(1));
  ASSERT_TRUE(IsPending(sleep));
  below_.during_park = [&] {
    const int before = below_.unparks;
    clock_->Pause();
    EXPECT_GT(below_.unparks, before);
  };
  driver_->Park();
}

}  // namespace
}  // namespace rouse::wheel

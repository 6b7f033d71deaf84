// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/wheel/driver.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/park.h"
#include "rouse/waker/thread_parker.h"
#include "rouse/waker/waker.h"

namespace rouse::wheel {
namespace {

using ::testing::ElementsAre;

// A driver below that does not block, and notes what is asked of it.
struct Notes {
  std::vector<absl::Duration> parks;
  int unparks = 0;
  int shutdowns = 0;
  int preparations = 0;
  bool can_wait = true;
  // Called while the thread is parked.
  std::function<void()> during_park = [] {};
};

class FakePark {
 public:
  class Unparker {
   public:
    explicit Unparker(Notes* notes) : notes_(notes) {}
    void Unpark() const { ++notes_->unparks; }

   private:
    Notes* notes_;
  };

  explicit FakePark(Notes* notes) : notes_(notes) {}
  Unparker unparker() { return Unparker(notes_); }
  void Park() { ParkFor(absl::InfiniteDuration()); }
  void ParkFor(absl::Duration limit) {
    notes_->parks.push_back(limit);
    std::exchange(notes_->during_park, [] {})();
  }
  void Shutdown() { ++notes_->shutdowns; }
  bool PrepareToWait() {
    ++notes_->preparations;
    return notes_->can_wait;
  }

 private:
  Notes* notes_;
};

static_assert(rouse::Park<Driver<FakePark>>);
static_assert(rouse::Park<Driver<ThreadParker>>);
static_assert(rouse::Park<Driver<Driver<ThreadParker>>>);

class DriverTest : public testing::Test {
 protected:
  // Polls `sleep` for `task_`. Returns whether the sleep is pending.
  bool IsPending(Sleep& sleep) { return IsPending(sleep, task_); }
  static bool IsPending(Sleep& sleep, CountingWaker& task) {
    const Waker waker = task.NewWaker();
    Context cx(waker);
    return sleep.Poll(cx).IsPending();
  }

  Sleep For(absl::Duration duration) {
    return Sleep(driver_.handle(), duration);
  }

  std::shared_ptr<Clock> clock_ = PausedClock();
  Notes notes_;
  CountingWaker task_;
  Driver<FakePark> driver_{{.clock = clock_}, &notes_};
};

TEST_F(DriverTest, ParksTheInnerDriver) {
  driver_.Park();
  driver_.ParkFor(absl::Seconds(3));
  driver_.ParkFor(absl::ZeroDuration());
  EXPECT_THAT(notes_.parks,
              ElementsAre(absl::InfiniteDuration(), absl::Seconds(3),
                          absl::ZeroDuration()));
}

TEST_F(DriverTest, PreparesAWaitElsewhere) {
  EXPECT_EQ(driver_.PrepareToWait(), absl::InfiniteDuration());
  EXPECT_EQ(notes_.preparations, 1);
  EXPECT_THAT(notes_.parks, ElementsAre());
  // Ends the wait, because its deadline comes sooner.
  Sleep sleep = For(absl::Seconds(1));
  EXPECT_TRUE(IsPending(sleep));
  EXPECT_EQ(notes_.unparks, 1);
  driver_.ParkFor(absl::ZeroDuration());
  clock_->Advance(absl::Seconds(1));
  EXPECT_EQ(driver_.PrepareToWait(), absl::ZeroDuration());
  driver_.ParkFor(absl::ZeroDuration());
  EXPECT_TRUE(sleep.IsElapsed());
  notes_.can_wait = false;
  EXPECT_EQ(driver_.PrepareToWait(), absl::ZeroDuration());
}

TEST(Driver, AWaitElsewhereLastsUntilTheNextDeadline) {
  Notes notes;
  Driver<FakePark> driver({}, &notes);
  Sleep sleep(driver.handle(), absl::Hours(1));
  const Waker waker;
  Context cx(waker);
  ASSERT_TRUE(sleep.Poll(cx).IsPending());
  const absl::Duration wait = driver.PrepareToWait();
  // Often about an hour, but at each 4.7 hours of the clock the wheel needs a
  // call, to sort the timers that come within reach of a finer level.
  EXPECT_GT(wait, absl::ZeroDuration());
  EXPECT_LE(wait, absl::Hours(1) + absl::Milliseconds(1));
}

TEST_F(DriverTest, GivesAccessToTheInnerDriver) {
  driver_.unparker().Unpark();
  EXPECT_EQ(notes_.unparks, 1);
  driver_.park().Park();
  EXPECT_EQ(notes_.parks.size(), 1);
}

// For any tick, and for any uptime of the machine.
TEST(Driver, ASleepOfWholeTicksEndsAfterAnEqualAdvance) {
  for (const absl::Duration tick :
       {absl::Microseconds(64), absl::Microseconds(777), absl::Milliseconds(1),
        absl::Milliseconds(3), absl::Milliseconds(10), absl::Seconds(1)}) {
    for (const bool pause_first : {true, false}) {
      const auto clock = std::make_shared<Clock>();
      if (pause_first) clock->Pause();
      Notes notes;
      Driver<FakePark> driver({.resolution = tick, .clock = clock}, &notes);
      clock->Pause();
      CountingWaker task;
      const Waker waker = task.NewWaker();
      Context cx(waker);
      Sleep sleep(driver.handle(), 1000 * tick);
      ASSERT_TRUE(sleep.Poll(cx).IsPending());
      clock->Advance(1000 * tick);
      driver.ParkFor(absl::ZeroDuration());
      EXPECT_EQ(task.wakes(), 1) << tick << pause_first;
      EXPECT_TRUE(sleep.Poll(cx).IsReady()) << tick << pause_first;
    }
  }
}

TEST_F(DriverTest, WakesASleeperExactlyOnItsTick) {
  Sleep sleep = For(absl::Milliseconds(7));
  ASSERT_TRUE(IsPending(sleep));
  clock_->Advance(absl::Milliseconds(7) - absl::Nanoseconds(1));
  driver_.ParkFor(absl::ZeroDuration());
  EXPECT_EQ(task_.wakes(), 0);
  ASSERT_TRUE(IsPending(sleep));
  // Tokio #6866: the sleep ends on this tick, not one tick later.
  clock_->Advance(absl::Nanoseconds(1));
  driver_.ParkFor(absl::ZeroDuration());
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_FALSE(IsPending(sleep));
}

TEST_F(DriverTest, ADeadlineBetweenTicksIsRoundedUp) {
  Sleep sleep = For(absl::Microseconds(2500));
  ASSERT_TRUE(IsPending(sleep));
  clock_->Advance(absl::Microseconds(2999));
  driver_.ParkFor(absl::ZeroDuration());
  EXPECT_EQ(task_.wakes(), 0);
  clock_->Advance(absl::Microseconds(1));
  driver_.ParkFor(absl::ZeroDuration());
  EXPECT_EQ(task_.wakes(), 1);
}

TEST_F(DriverTest, ChecksTheClockAfterThePark) {
  Sleep sleep = For(absl::Milliseconds(5));
  ASSERT_TRUE(IsPending(sleep));
  notes_.during_park = [&] { clock_->Advance(absl::Milliseconds(5)); };
  driver_.Park();
  EXPECT_EQ(task_.wakes(), 1);
}

TEST_F(DriverTest, DoesNotBlockWhenATimerIsDue) {
  Sleep sleep = For(absl::Milliseconds(5));
  ASSERT_TRUE(IsPending(sleep));
  clock_->Advance(absl::Milliseconds(5));
  driver_.Park();
  EXPECT_THAT(notes_.parks, ElementsAre(absl::ZeroDuration()));
  EXPECT_EQ(task_.wakes(), 1);
}

TEST_F(DriverTest, BlocksWhileTheClockIsPaused) {
  Sleep sleep = For(absl::Milliseconds(5));
  ASSERT_TRUE(IsPending(sleep));
  driver_.Park();
  EXPECT_THAT(notes_.parks, ElementsAre(absl::InfiniteDuration()));
}

TEST_F(DriverTest, IsUnparkedWhenTheClockIsMoved) {
  clock_->Advance(absl::Milliseconds(5));
  EXPECT_EQ(notes_.unparks, 1);
  clock_->Resume();
  EXPECT_EQ(notes_.unparks, 2);
}

// The driver below blocks for exactly the given limit. The sleeper is woken
// after as many parks as its entry has levels to move through, because no park
// ends shortly before a tick.
TEST_F(DriverTest, ParksUntilTheTickOfTheNextDeadline) {
  clock_->Resume();
  for (const auto duration :
       {absl::Nanoseconds(1), absl::Microseconds(1700), absl::Milliseconds(60),
        absl::Seconds(3), absl::Minutes(3)}) {
    CountingWaker task;
    Sleep sleep = For(duration);
    const Instant before = clock_->Now();
    ASSERT_TRUE(IsPending(sleep, task));
    int parks = 0;
    while (task.wakes() == 0) {
      const Instant parking = clock_->Now();
      notes_.during_park = [&] { clock_->Advance(notes_.parks.back()); };
      driver_.Park();
      // Otherwise the sleep was due before this thread got here.
      if (notes_.parks.back() > absl::ZeroDuration()) {
        ASSERT_LE(parking + notes_.parks.back(),
                  *sleep.Deadline() + absl::Milliseconds(1));
      }
      ASSERT_LE(++parks, 5);
    }
    EXPECT_GE(clock_->Now(), before + duration);
    EXPECT_FALSE(IsPending(sleep, task));
  }
}

TEST_F(DriverTest, ParksForAtMostItsLimit) {
  clock_->Resume();
  Sleep sleep = For(absl::Hours(1));
  ASSERT_TRUE(IsPending(sleep));
  driver_.ParkFor(absl::Seconds(2));
  EXPECT_EQ(notes_.parks.back(), absl::Seconds(2));
  driver_.ParkFor(absl::Hours(2));
  EXPECT_LE(notes_.parks.back(), absl::Hours(1) + absl::Milliseconds(1));
}

TEST_F(DriverTest, ASleepForeverNeedsNoUnpark) {
  clock_->Resume();
  Sleep forever = For(absl::InfiniteDuration());
  ASSERT_TRUE(IsPending(forever));
  driver_.Park();
  // The driver checks again in two years.
  EXPECT_GT(notes_.parks.back(), absl::Hours(24 * 365));
}

// T3: tokio #3190.
TEST_F(DriverTest, AnEarlierDeadlineUnparks) {
  Sleep late = For(absl::Milliseconds(100));
  Sleep early = For(absl::Milliseconds(10));
  ASSERT_TRUE(IsPending(late));
  notes_.during_park = [&] { ASSERT_TRUE(IsPending(early)); };
  driver_.Park();
  EXPECT_EQ(notes_.unparks, 1);
}

TEST_F(DriverTest, TheFirstDeadlineUnparks) {
  Sleep sleep = For(absl::Hours(10));
  notes_.during_park = [&] { ASSERT_TRUE(IsPending(sleep)); };
  driver_.Park();
  EXPECT_EQ(notes_.unparks, 1);
}

TEST_F(DriverTest, ALaterDeadlineDoesNotUnpark) {
  Sleep early = For(absl::Milliseconds(10));
  Sleep same = For(absl::Milliseconds(10));
  Sleep late = For(absl::Milliseconds(11));
  ASSERT_TRUE(IsPending(early));
  notes_.during_park = [&] {
    ASSERT_TRUE(IsPending(same));
    ASSERT_TRUE(IsPending(late));
  };
  driver_.Park();
  EXPECT_EQ(notes_.unparks, 0);
}

TEST_F(DriverTest, ADeadlineBeyondTheLimitDoesNotUnpark) {
  Sleep sleep = For(absl::Milliseconds(10));
  notes_.during_park = [&] { ASSERT_TRUE(IsPending(sleep)); };
  driver_.ParkFor(absl::Milliseconds(9));
  EXPECT_EQ(notes_.unparks, 0);
}

TEST_F(DriverTest, AnAwakeDriverIsNotUnparked) {
  Sleep first = For(absl::Milliseconds(10));
  ASSERT_TRUE(IsPending(first));
  driver_.Park();
  Sleep second = For(absl::Milliseconds(5));
  ASSERT_TRUE(IsPending(second));
  driver_.ParkFor(absl::ZeroDuration());
  Sleep third = For(absl::Milliseconds(2));
  ASSERT_TRUE(IsPending(third));
  EXPECT_EQ(notes_.unparks, 0);
}

TEST_F(DriverTest, IsUnparkedOnceForManyDeadlines) {
  std::vector<Sleep> sleeps;
  for (int i = 50; i > 0; --i) sleeps.push_back(For(absl::Milliseconds(i)));
  notes_.during_park = [&] {
    for (Sleep& sleep : sleeps) ASSERT_TRUE(IsPending(sleep));
  };
  driver_.Park();
  EXPECT_EQ(notes_.unparks, 1);
}

TEST_F(DriverTest, AResetToAnEarlierDeadlineUnparks) {
  Sleep sleep = For(absl::Hours(1));
  ASSERT_TRUE(IsPending(sleep));
  notes_.during_park = [&] { sleep.Reset(absl::Hours(2)); };
  driver_.Park();
  EXPECT_EQ(notes_.unparks, 0);
  notes_.during_park = [&] { sleep.Reset(absl::Minutes(1)); };
  driver_.Park();
  EXPECT_EQ(notes_.unparks, 1);
}

TEST_F(DriverTest, WakesManyInBatches) {
  std::vector<Sleep> sleeps;
  for (int i = 0; i < 1000; ++i) sleeps.push_back(For(absl::Seconds(100)));
  for (Sleep& sleep : sleeps) ASSERT_TRUE(IsPending(sleep));
  clock_->Advance(absl::Seconds(100));
  driver_.ParkFor(absl::ZeroDuration());
  EXPECT_EQ(task_.wakes(), 1000);
  for (Sleep& sleep : sleeps) EXPECT_FALSE(IsPending(sleep));
}

// T5: tokio #3229. The first wake destroys all other sleepers, which are due at
// the same tick.
TEST_F(DriverTest, SleepersCanBeDestroyedWhileOthersAreWoken) {
  std::vector<std::unique_ptr<Sleep>> sleeps;
  for (int i = 0; i < 100; ++i) {
    sleeps.push_back(std::make_unique<Sleep>(For(absl::Milliseconds(5))));
    ASSERT_TRUE(IsPending(*sleeps.back()));
  }
  task_.OnWake([&] { sleeps.clear(); });
  clock_->Advance(absl::Milliseconds(5));
  driver_.ParkFor(absl::ZeroDuration());
  // The sleepers of the first batch had already been woken.
  EXPECT_LE(task_.wakes(), 32);
  EXPECT_EQ(task_.live(), 0);
}

TEST_F(DriverTest, WakersCanUseTheDriver) {
  Sleep other = For(absl::Hours(1));
  ASSERT_TRUE(IsPending(other));
  CountingWaker task;
  task.OnWake([&] {
    Sleep another = For(absl::Hours(1));
    EXPECT_TRUE(IsPending(another));
    other.Reset(absl::Hours(3));
  });
  Sleep sleep = For(absl::Milliseconds(5));
  ASSERT_TRUE(IsPending(sleep, task));
  clock_->Advance(absl::Hours(2));
  driver_.ParkFor(absl::ZeroDuration());
  EXPECT_EQ(task.wakes(), 1);
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST_F(DriverTest, AThrowingWakerDoesNotStopTheOthers) {
  std::vector<Sleep> sleeps;
  for (int i = 0; i < 100; ++i) sleeps.push_back(For(absl::Milliseconds(5)));
  for (Sleep& sleep : sleeps) ASSERT_TRUE(IsPending(sleep));
  task_.OnWake([] { throw std::runtime_error("no"); });
  clock_->Advance(absl::Milliseconds(5));
  EXPECT_THROW(driver_.ParkFor(absl::ZeroDuration()), std::runtime_error);
  task_.OnWake([] {});
  driver_.Park();
  EXPECT_EQ(notes_.parks.back(), absl::ZeroDuration());
  EXPECT_EQ(task_.wakes(), 100);
}

// This also holds if an advance passes the ticks of several shards at once.
TEST_F(DriverTest, WakesInTheOrderOfTicks) {
  Notes notes;
  Driver<FakePark> driver({.clock = clock_, .shards = 3}, &notes);
  std::vector<int> woken;
  std::vector<Sleep> sleeps;
  sleeps.reserve(100);
  for (int i = 0; i < 100; ++i) {
    // Each sleep is in the next shard; some are at the same tick, some a level
    // higher.
    const int ms = 1 + (i * 37) % 90;
    sleeps.emplace_back(driver.handle(), absl::Milliseconds(ms));
    const Waker waker =
        Waker::FromCallable([&woken, ms] { woken.push_back(ms); });
    Context cx(waker);
    ASSERT_TRUE(sleeps.back().Poll(cx).IsPending());
  }
  clock_->Advance(absl::Seconds(1));
  driver.ParkFor(absl::ZeroDuration());
  EXPECT_EQ(woken.size(), 100);
  EXPECT_TRUE(std::is_sorted(woken.begin(), woken.end()));
}

// 100 sleepers are more than the driver wakes in one batch, and two shards are
// more than one.
TEST_F(DriverTest, AThrowingWakerDoesNotStopTheOthersAtShutdown) {
  Notes notes;
  Driver<FakePark> driver({.clock = clock_, .shards = 2}, &notes);
  std::vector<Sleep> sleeps;
  sleeps.reserve(100);
  for (int i = 0; i < 100; ++i) {
    const ScopedDefault current(driver.handle(), i % 2);
    sleeps.emplace_back(absl::Seconds(5));
    ASSERT_TRUE(IsPending(sleeps.back()));
  }
  task_.OnWake([] { throw std::runtime_error("no"); });
  EXPECT_THROW(driver.Shutdown(), std::runtime_error);
  task_.OnWake([] {});
  EXPECT_EQ(task_.wakes(), 100);
  EXPECT_EQ(notes.shutdowns, 1);
}
#endif

TEST_F(DriverTest, ShutdownWakesAndNotifiesAllSleepers) {
  std::vector<Sleep> sleeps;
  for (int i = 0; i < 100; ++i) {
    sleeps.push_back(For(absl::Milliseconds(int64_t{1} << (i % 40))));
  }
  sleeps.push_back(For(absl::InfiniteDuration()));
  for (Sleep& sleep : sleeps) ASSERT_TRUE(IsPending(sleep));
  driver_.Shutdown();
  EXPECT_EQ(task_.wakes(), 101);
  EXPECT_EQ(notes_.shutdowns, 1);
  for (Sleep& sleep : sleeps) {
    const Waker waker = task_.NewWaker();
    Context cx(waker);
    auto result = sleep.Poll(cx);
    ASSERT_TRUE(result.IsReady());
    EXPECT_FALSE(result->ok());
    EXPECT_FALSE(sleep.IsElapsed());
  }
}

TEST_F(DriverTest, ParksTheInnerDriverAfterShutdown) {
  driver_.Shutdown();
  driver_.Park();
  EXPECT_THAT(notes_.parks, ElementsAre(absl::InfiniteDuration()));
}

TEST_F(DriverTest, DestroyingTheDriverWakesAndNotifiesAllSleepers) {
  auto driver =
      std::make_unique<Driver<FakePark>>(Options{.clock = clock_}, &notes_);
  Sleep sleep(driver->handle(), absl::Milliseconds(5));
  ASSERT_TRUE(IsPending(sleep));
  driver.reset();
  EXPECT_EQ(task_.wakes(), 1);
  const Waker waker = task_.NewWaker();
  Context cx(waker);
  EXPECT_FALSE(sleep.Poll(cx)->ok());
  // The driver no longer listens to the clock.
  notes_.unparks = 0;
  clock_->Advance(absl::Milliseconds(5));
  EXPECT_EQ(notes_.unparks, 1);  // by driver_
}

TEST_F(DriverTest, CanHaveCoarserAndFinerTicks) {
  // Advances to a tick of both drivers.
  clock_->Advance(
      absl::Seconds(1) -
      absl::Nanoseconds(clock_->Now().nanoseconds() % 1'000'000'000));
  Driver<FakePark> fine({.resolution = absl::Microseconds(64), .clock = clock_},
                        &notes_);
  Driver<FakePark> coarse({.resolution = absl::Seconds(1), .clock = clock_},
                          &notes_);
  CountingWaker fine_task;
  CountingWaker coarse_task;
  Sleep on_fine(fine.handle(), absl::Microseconds(100));
  Sleep on_coarse(coarse.handle(), absl::Microseconds(100));
  ASSERT_TRUE(IsPending(on_fine, fine_task));
  ASSERT_TRUE(IsPending(on_coarse, coarse_task));
  clock_->Advance(absl::Microseconds(127));
  fine.ParkFor(absl::ZeroDuration());
  EXPECT_EQ(fine_task.wakes(), 0);
  clock_->Advance(absl::Microseconds(1));
  fine.ParkFor(absl::ZeroDuration());
  EXPECT_EQ(fine_task.wakes(), 1);
  clock_->Advance(absl::Microseconds(999'871));
  coarse.ParkFor(absl::ZeroDuration());
  EXPECT_EQ(coarse_task.wakes(), 0);
  clock_->Advance(absl::Microseconds(1));
  coarse.ParkFor(absl::ZeroDuration());
  EXPECT_EQ(coarse_task.wakes(), 1);
}

TEST(Driver, AResolutionOutOfRangePanics) {
  for (const auto resolution :
       {absl::ZeroDuration(), absl::Microseconds(63), -absl::Seconds(1),
        absl::Milliseconds(1001), absl::InfiniteDuration()}) {
    EXPECT_PANIC(Driver<ThreadParker>({.resolution = resolution}),
                 "from 64us to 1s");
  }
}

TEST(Driver, AParkedThreadIsUnparkedForASleeper) {
  Driver<ThreadParker> driver;
  CountingWaker task;
  bool woken = false;
  task.OnWake([&] { woken = true; });  // on the thread that parks
  std::thread parking([&] {
    while (!woken) driver.Park();
  });
  Sleep sleep(driver.handle(), absl::Microseconds(1));
  const Waker waker = task.NewWaker();
  Context cx(waker);
  ASSERT_TRUE(sleep.Poll(cx).IsPending());
  parking.join();
  EXPECT_TRUE(sleep.IsElapsed());
}

TEST(Driver, AParkedThreadFollowsAPausedClock) {
  Driver<ThreadParker> driver;
  Clock& clock = driver.clock();
  clock.Pause();
  CountingWaker task;
  bool woken = false;
  task.OnWake([&] { woken = true; });
  Sleep sleep(driver.handle(), absl::Hours(1));
  const Waker waker = task.NewWaker();
  Context cx(waker);
  ASSERT_TRUE(sleep.Poll(cx).IsPending());
  std::thread parking([&] {
    while (!woken) driver.Park();
  });
  clock.Advance(absl::Hours(1));
  parking.join();
  EXPECT_TRUE(sleep.IsElapsed());
}

}  // namespace
}  // namespace rouse::wheel

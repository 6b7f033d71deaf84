// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/clock.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/timer/instant.h"

namespace rouse {
namespace {

TEST(Clock, Runs) {
  Clock clock;
  const Instant start = clock.Now();
  while (clock.Now() == start) {
  }
  EXPECT_GT(clock.Now(), start);
  EXPECT_FALSE(clock.IsPaused());
}

TEST(Clock, StandsStillWhilePaused) {
  Clock clock;
  Clock running;
  clock.Pause();
  const Instant paused = clock.Now();
  const Instant start = running.Now();
  while (running.Now() - start < absl::Microseconds(10)) {
  }
  EXPECT_TRUE(clock.IsPaused());
  EXPECT_EQ(clock.Now(), paused);
}

TEST(Clock, PausesAtAWholeMillisecond) {
  Clock clock;
  const Instant before = clock.Now();
  clock.Pause();
  EXPECT_EQ(clock.Now().nanoseconds() % 1'000'000, 0);
  EXPECT_GE(clock.Now(), before);
}

// Returns a listener that does nothing.
Clock::Listener NoopListener() {
  return std::make_shared<absl::AnyInvocable<void() const>>([] {});
}

TEST(Clock, PausesAtATickOfAllDrivers) {
  Clock clock;
  clock.AddListener(NoopListener(), 777'000);
  const Clock::Listener other = NoopListener();
  clock.AddListener(other, 10'000'000);
  clock.Pause();
  EXPECT_EQ(clock.Now().nanoseconds() % 777'000, 0);
  EXPECT_EQ(clock.Now().nanoseconds() % 10'000'000, 0);
  clock.Resume();
  clock.RemoveListener(other);
  const Instant before = clock.Now();
  clock.Pause();
  EXPECT_EQ(clock.Now().nanoseconds() % 777'000, 0);
  EXPECT_GE(clock.Now(), before);
}

TEST(Clock, PausesAtTheLongerOfTwoIncommensurableTicks) {
  Clock clock;
  clock.AddListener(NoopListener(), 59'999'999'999);
  clock.AddListener(NoopListener(), 777'001);
  clock.Pause();
  EXPECT_EQ(clock.Now().nanoseconds() % 59'999'999'999, 0);
}

TEST(Clock, ADriverMovesAPausedClockToItsTick) {
  Clock clock;
  clock.Pause();
  const Instant before = clock.Now();
  clock.AddListener(NoopListener(), 1'700'000'000);
  EXPECT_EQ(clock.Now().nanoseconds() % 1'700'000'000, 0);
  EXPECT_GE(clock.Now(), before);
  EXPECT_LT(clock.Now() - before, absl::Milliseconds(1700));
}

TEST(Clock, RepeatedPausesDoNotMoveItAhead) {
  Clock clock;
  const Clock running;
  const absl::Duration ahead = clock.Now() - running.Now();
  for (int i = 0; i < 2'000; ++i) {
    clock.Pause();
    clock.Resume();
  }
  const Instant now = clock.Now();
  EXPECT_LE(now - running.Now(), ahead + absl::Milliseconds(1));
}

TEST(Clock, AdvancesByTheFullDurationWhenAhead) {
  Clock clock;
  clock.AddListener(NoopListener(), int64_t{1} << 60);
  clock.Pause();
  clock.Resume();
  // The clock will stay at this instant for years.
  const Instant start = clock.Now();
  EXPECT_EQ(clock.Now(), start);
  clock.Advance(absl::Seconds(1));
  EXPECT_EQ(clock.Now(), start + absl::Seconds(1));
  clock.AdvanceTo(start + absl::Seconds(2));
  EXPECT_EQ(clock.Now(), start + absl::Seconds(2));
}

TEST(Clock, AdvancesExactlyWhilePaused) {
  Clock clock;
  clock.Pause();
  const Instant paused = clock.Now();
  clock.Advance(absl::Hours(1));
  clock.Advance(absl::Nanoseconds(1));
  EXPECT_EQ(clock.Now(), paused + absl::Hours(1) + absl::Nanoseconds(1));
}

TEST(Clock, ResumesFromWhereItWasPaused) {
  Clock clock;
  clock.Pause();
  clock.Advance(absl::Hours(1));
  const Instant paused = clock.Now();
  clock.Resume();
  EXPECT_FALSE(clock.IsPaused());
  const Instant resumed = clock.Now();
  EXPECT_GE(resumed, paused);
  while (clock.Now() == resumed) {
  }
  EXPECT_LT(clock.Now() - paused, absl::Hours(1));
}

TEST(Clock, AdvancesWhileItRuns) {
  Clock clock;
  const Instant before = clock.Now();
  clock.Advance(absl::Hours(1));
  EXPECT_GE(clock.Now() - before, absl::Hours(1));
}

TEST(Clock, PausingOrResumingTwiceHasNoEffect) {
  Clock clock;
  clock.Pause();
  const Instant paused = clock.Now();
  clock.Pause();
  EXPECT_EQ(clock.Now(), paused);
  clock.Resume();
  const Instant resumed = clock.Now();
  clock.Resume();
  EXPECT_GE(clock.Now(), resumed);
}

TEST(Clock, SaturatesPausedAndRunning) {
  Clock clock;
  clock.Pause();
  clock.Advance(absl::InfiniteDuration());
  EXPECT_EQ(clock.Now(), Instant::Max());
  clock.Advance(absl::Seconds(1));
  EXPECT_EQ(clock.Now(), Instant::Max());
  clock.Resume();
  EXPECT_EQ(clock.Now(), Instant::Max());
  clock.Advance(absl::InfiniteDuration());
  EXPECT_EQ(clock.Now(), Instant::Max());
}

TEST(Clock, AdvancingByLessThanZeroPanics) {
  Clock clock;
  EXPECT_PANIC(clock.Advance(-absl::Nanoseconds(1)), "moves only forward");
}

TEST(Clock, CallsListenersWhenItHasMoved) {
  Clock clock;
  clock.Pause();
  const Instant paused = clock.Now();
  std::vector<absl::Duration> calls;
  const auto listener = std::make_shared<absl::AnyInvocable<void() const>>(
      [&clock, &calls, paused] { calls.push_back(clock.Now() - paused); });
  clock.AddListener(listener);
  clock.Advance(absl::Seconds(1));
  ASSERT_EQ(calls.size(), 1);
  EXPECT_EQ(calls[0], absl::Seconds(1));
  clock.Resume();
  EXPECT_EQ(calls.size(), 2);
  clock.RemoveListener(listener);
  clock.RemoveListener(listener);
  clock.Advance(absl::Seconds(1));
  EXPECT_EQ(calls.size(), 2);
}

// T18: tokio #3619, #4044, #4461.
TEST(Clock, NeverGoesBackwardsAcrossThreads) {
  Clock clock;
  std::atomic<bool> done = false;
  std::atomic<int64_t> latest = 0;
  const auto look = [&] {
    while (!done) {
      const int64_t before = latest;
      const int64_t now = clock.Now().nanoseconds();
      ASSERT_GE(now, before);
      int64_t expected = before;
      while (expected < now && !latest.compare_exchange_weak(expected, now)) {
      }
    }
  };
  std::thread first(look);
  std::thread second(look);
  for (int i = 0; i < 5'000; ++i) {
    clock.Pause();
    if (i % 2 == 0) clock.Advance(absl::Nanoseconds(i));
    clock.Resume();
    if (i % 3 == 0) clock.Advance(absl::Nanoseconds(i));
  }
  done = true;
  first.join();
  second.join();
}

TEST(Clock, AdvancesToAFutureInstant) {
  Clock clock;
  clock.Pause();
  const Instant paused = clock.Now();
  clock.AdvanceTo(paused + absl::Seconds(2));
  EXPECT_EQ(clock.Now(), paused + absl::Seconds(2));
  clock.AdvanceTo(paused + absl::Seconds(1));
  EXPECT_EQ(clock.Now(), paused + absl::Seconds(2));
}

TEST(Clock, AdvancesToAnInstantWhileItRuns) {
  Clock clock;
  const Instant later = clock.Now() + absl::Hours(1);
  clock.AdvanceTo(later);
  EXPECT_GE(clock.Now(), later);
}

// Checks for events first, as a driver does.
void AutoAdvance(Clock& clock, Instant t) {
  clock.EndCheck(clock.BeginCheck());
  EXPECT_TRUE(clock.AutoAdvanceTo(t));
}

// The holder's last action may have caused an event.
TEST(Clock, DoesNotAutoAdvanceAfterAHoldBeforeAnotherCheck) {
  Clock clock;
  clock.Pause();
  clock.SetAutoAdvance(true);
  const Instant start = clock.Now();
  const Instant later = start + absl::Seconds(1);
  std::optional<Clock::AutoAdvanceHold> hold(std::in_place, clock);
  const uint64_t look = clock.BeginCheck();
  hold.reset();
  clock.EndCheck(look);
  EXPECT_FALSE(clock.AutoAdvanceTo(later));
  EXPECT_EQ(clock.Now(), start);
  AutoAdvance(clock, later);
  EXPECT_EQ(clock.Now(), later);
}

TEST(Clock, NeedsNoOtherCheckAfterTheHoldersCheck) {
  Clock clock;
  clock.Pause();
  clock.SetAutoAdvance(true);
  const Instant later = clock.Now() + absl::Seconds(1);
  {
    Clock::AutoAdvanceHold hold(clock);
    hold.SetChecked();
  }
  EXPECT_TRUE(clock.AutoAdvanceTo(later));
  EXPECT_EQ(clock.Now(), later);
}

TEST(Clock, AutoAdvancesOnlyWhilePaused) {
  Clock clock;
  clock.SetAutoAdvance(true);
  EXPECT_FALSE(clock.AdvancesByItself());
  const Instant hour = clock.Now() + absl::Hours(1);
  AutoAdvance(clock, hour);
  EXPECT_LT(clock.Now(), hour);
  clock.Pause();
  EXPECT_TRUE(clock.AdvancesByItself());
  AutoAdvance(clock, hour);
  EXPECT_EQ(clock.Now(), hour);
  clock.SetAutoAdvance(false);
  EXPECT_FALSE(clock.AdvancesByItself());
  AutoAdvance(clock, hour + absl::Hours(1));
  EXPECT_EQ(clock.Now(), hour);
}

TEST(Clock, DoesNotAutoAdvanceWhileHeld) {
  Clock clock;
  clock.Pause();
  clock.SetAutoAdvance(true);
  const Instant start = clock.Now();
  int calls = 0;
  clock.AddListener(std::make_shared<absl::AnyInvocable<void() const>>(
      [&calls] { ++calls; }));
  {
    const Clock::AutoAdvanceHold one(clock);
    {
      const Clock::AutoAdvanceHold other(clock);
      AutoAdvance(clock, start + absl::Seconds(1));
    }
    AutoAdvance(clock, start + absl::Seconds(1));
    EXPECT_EQ(clock.Now(), start);
    EXPECT_EQ(calls, 0);
  }
  // The driver that was held back is notified that it may go on.
  EXPECT_EQ(calls, 1);
  AutoAdvance(clock, start + absl::Seconds(1));
  EXPECT_EQ(clock.Now(), start + absl::Seconds(1));
}

// Otherwise the workers of a runtime, which hold the clock in turn, would never
// come to rest.
TEST(Clock, AHoldThatDelayedNoAdvanceCallsNoListener) {
  Clock clock;
  clock.Pause();
  clock.SetAutoAdvance(true);
  int calls = 0;
  clock.AddListener(std::make_shared<absl::AnyInvocable<void() const>>(
      [&calls] { ++calls; }));
  {
    const Clock::AutoAdvanceHold hold(clock);
  }
  EXPECT_EQ(calls, 0);
}

// Exact for conversions that no clock can change meanwhile, and otherwise
// within a bound, because the two clocks are read one after the other.
TEST(Clock, ConvertsToAndFromOtherClocks) {
  Clock clock;
  clock.Pause();
  EXPECT_EQ(clock.FromTime(absl::InfiniteFuture()), Instant::Max());
  EXPECT_EQ(clock.ToTime(Instant::Max()), absl::InfiniteFuture());
  using Steady = std::chrono::steady_clock;
  using System = std::chrono::system_clock;
  EXPECT_EQ(clock.ToChrono<Steady>(Instant::Max()), Steady::time_point::max());
  EXPECT_EQ(clock.FromChrono(Steady::time_point::max()), Instant::Max());
  const Instant earliest =
      Instant::FromNanoseconds(std::numeric_limits<int64_t>::min());
  EXPECT_EQ(clock.FromTime(absl::InfinitePast()), earliest);

  const absl::Duration hour = absl::Hours(1);
  const auto is_near = [](absl::Duration d) {
    return absl::AbsDuration(d) < absl::Minutes(10);
  };
  const Instant later = clock.Now() + hour;
  EXPECT_TRUE(is_near(clock.FromTime(absl::Now() + hour) - later));
  EXPECT_TRUE(is_near(clock.ToTime(later) - (absl::Now() + hour)));
  EXPECT_TRUE(
      is_near(clock.FromChrono(Steady::now() + std::chrono::hours(1)) - later));
  EXPECT_TRUE(
      is_near(clock.FromChrono(System::now() + std::chrono::hours(1)) - later));
  EXPECT_TRUE(is_near(
      absl::FromChrono(clock.ToChrono<Steady>(later) - Steady::now()) - hour));
  EXPECT_TRUE(is_near(
      absl::FromChrono(clock.ToChrono<System>(later) - System::now()) - hour));
}

TEST(Clock, ConvertsToAndFromOtherClocksAfterAnAdvance) {
  Clock clock;
  clock.Pause();
  clock.Advance(absl::Hours(1000));
  const Instant there = clock.FromTime(absl::Now());
  EXPECT_LT(absl::AbsDuration(there - clock.Now()), absl::Minutes(10));
}

}  // namespace
}  // namespace rouse

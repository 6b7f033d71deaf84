#include "rouse/timer/clock.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/timer/expect_panic.h"
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

TEST(Clock, AdvancesExactlyWhilePaused) {
  Clock clock;
  clock.Pause();
  const Instant paused = clock.Now();
  clock.Advance(absl::Hours(1));
  clock.Advance(absl::Nanoseconds(1));
  EXPECT_EQ(clock.Now(), paused + absl::Hours(1) + absl::Nanoseconds(1));
}

TEST(Clock, GoesOnFromWhereItStood) {
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

TEST(Clock, PausingAndResumingTwiceIsOnce) {
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
  EXPECT_PANIC(clock.Advance(-absl::Nanoseconds(1)), "only goes forward");
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
TEST(Clock, NeverGoesBackwardsForAllThreadsTakenTogether) {
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

TEST(Clock, AdvancesToAnInstantThatIsYetToCome) {
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

TEST(Clock, AdvancesByItselfOnlyWhilePaused) {
  Clock clock;
  clock.SetAutoAdvance(true);
  EXPECT_FALSE(clock.AdvancesByItself());
  const Instant hour = clock.Now() + absl::Hours(1);
  clock.AutoAdvanceTo(hour);
  EXPECT_LT(clock.Now(), hour);
  clock.Pause();
  EXPECT_TRUE(clock.AdvancesByItself());
  clock.AutoAdvanceTo(hour);
  EXPECT_EQ(clock.Now(), hour);
  clock.SetAutoAdvance(false);
  EXPECT_FALSE(clock.AdvancesByItself());
  clock.AutoAdvanceTo(hour + absl::Hours(1));
  EXPECT_EQ(clock.Now(), hour);
}

TEST(Clock, DoesNotAdvanceByItselfWhileItIsHeld) {
  Clock clock;
  clock.Pause();
  clock.SetAutoAdvance(true);
  const Instant start = clock.Now();
  int looks = 0;
  clock.AddListener(std::make_shared<absl::AnyInvocable<void() const>>(
      [&looks] { ++looks; }));
  {
    const Clock::AutoAdvanceHold one(clock);
    {
      const Clock::AutoAdvanceHold other(clock);
      clock.AutoAdvanceTo(start + absl::Seconds(1));
    }
    clock.AutoAdvanceTo(start + absl::Seconds(1));
    EXPECT_EQ(clock.Now(), start);
    EXPECT_EQ(looks, 0);
  }
  // Who was held back is told that it may.
  EXPECT_EQ(looks, 1);
  clock.AutoAdvanceTo(start + absl::Seconds(1));
  EXPECT_EQ(clock.Now(), start + absl::Seconds(1));
}

// Else the workers of a runtime, which hold it in turn, would never come to
// rest.
TEST(Clock, TellsNobodyOfAHoldThatHeldNobodyBack) {
  Clock clock;
  clock.Pause();
  clock.SetAutoAdvance(true);
  int looks = 0;
  clock.AddListener(std::make_shared<absl::AnyInvocable<void() const>>(
      [&looks] { ++looks; }));
  {
    const Clock::AutoAdvanceHold hold(clock);
  }
  EXPECT_EQ(looks, 0);
}

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares sleeps on a driver with their deadlines, under seeded random
// operations, at each of several resolutions. Whatever the length of a tick, no
// sleep ends early, none ends more than one tick late, a sleep with a deadline
// on a tick ends on that tick, none is lost, and none wakes twice.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::wheel {
namespace {

// A driver below that does not block, and calls a hook of the test.
class HookPark {
 public:
  struct Hook {
    std::function<void(absl::Duration)> on_park = [](absl::Duration) {};
    int unparks = 0;
  };
  class Unparker {
   public:
    explicit Unparker(Hook* hook) : hook_(hook) {}
    void Unpark() const { ++hook_->unparks; }

   private:
    Hook* hook_;
  };

  explicit HookPark(Hook* hook) : hook_(hook) {}
  Unparker unparker() { return Unparker(hook_); }
  void Park() { ParkFor(absl::InfiniteDuration()); }
  void ParkFor(absl::Duration limit) { hook_->on_park(limit); }
  void Shutdown() {}

 private:
  Hook* hook_;
};

class DriverPropertyTest : public testing::TestWithParam<absl::Duration> {
 protected:
  // A task, and the sleep for which it waits.
  struct Sleeper {
    CountingWaker task;
    std::optional<Sleep> sleep;
    bool ended = false;  // true if the end has also been polled

    bool IsPending() {
      const Waker waker = task.NewWaker();
      Context cx(waker);
      PollResult<SleepResult> result = sleep->Poll(cx);
      if (result.IsReady()) {
        EXPECT_TRUE(result->ok());
        ended = true;
      }
      return result.IsPending();
    }
    bool Waits() const { return sleep.has_value() && !ended; }
  };

  int64_t tick() const { return absl::ToInt64Nanoseconds(GetParam()); }

  static bool OnTick(Instant t, int64_t tick) {
    return t.nanoseconds() % tick == 0;
  }

  // Returns up to 2^bits ns, with every magnitude equally likely. One in four
  // is a whole number of ticks.
  absl::Duration Random(FastRand& rand, uint32_t bits) const {
    auto ns =
        static_cast<int64_t>(rand.Next() >> (64 - bits + rand.Below(bits)));
    if (rand.Below(4) == 0) ns -= ns % tick();
    return absl::Nanoseconds(ns);
  }

  HookPark::Hook hook_;
};

TEST_P(DriverPropertyTest, EverySleepEndsOnItsTick) {
  constexpr uint32_t kBits = 46;  // up to 19 hours
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    FastRand rand(seed);
    const std::shared_ptr<Clock> clock = PausedClock();
    Driver<HookPark> driver({.resolution = GetParam(), .clock = clock}, &hook_);
    // Avoids an accidental alignment of the ticks of this driver and the
    // clock's milliseconds.
    clock->Advance(Random(rand, kBits));
    driver.ParkFor(absl::ZeroDuration());
    std::vector<Sleeper> sleepers(60);
    int on_tick = 0;
    for (int i = 0; i < 10'000; ++i) {
      Sleeper& sleeper = sleepers[rand.Below(sleepers.size())];
      const Instant now = clock->Now();
      // Puts some deadlines on a tick of the driver.
      Instant deadline = now + Random(rand, kBits);
      if (rand.Below(2) == 0) {
        deadline = deadline.PlusNanoseconds(-(deadline.nanoseconds() % tick()));
      }
      switch (rand.Below(4)) {
        case 0: {
          sleeper.sleep.reset();
          sleeper.ended = false;
          sleeper.sleep.emplace(SleepUntil(driver.handle(), deadline));
          // A sleep is ready at the first poll if and only if its deadline has
          // passed.
          ASSERT_EQ(sleeper.IsPending(), deadline > now);
          break;
        }
        case 1: {
          if (!sleeper.sleep.has_value()) break;
          // A sleep that no longer waits must be polled.
          const bool elapsed = sleeper.sleep->IsElapsed();
          sleeper.sleep->ResetAt(deadline);
          sleeper.ended = false;
          if (!elapsed) break;
          ASSERT_EQ(sleeper.IsPending(), deadline > now);
          break;
        }
        case 2:
          sleeper.sleep.reset();
          sleeper.ended = false;
          break;
        default: {
          // Moves to the next deadline exactly, by a little, or by any
          // distance.
          Instant next = Instant::Max();
          for (const Sleeper& each : sleepers) {
            if (each.Waits()) next = std::min(next, *each.sleep->Deadline());
          }
          if (next != Instant::Max() && rand.Below(2) == 0) {
            clock->Advance(std::max(next - now, absl::ZeroDuration()));
          } else {
            clock->Advance(Random(rand, rand.Below(4) == 0 ? kBits : 22));
          }
          driver.ParkFor(absl::ZeroDuration());
          const Instant present = clock->Now();
          for (Sleeper& each : sleepers) {
            if (!each.Waits()) continue;
            const Instant end = *each.sleep->Deadline();
            const bool elapsed = each.sleep->IsElapsed();
            ASSERT_TRUE(!elapsed || end <= present) << "early";
            ASSERT_TRUE(elapsed || present - end < GetParam()) << "late";
            if (OnTick(end, tick()) && end <= present) {
              ASSERT_TRUE(elapsed) << "not on its tick";
              if (end == present) ++on_tick;
            }
            if (!elapsed) continue;
            ASSERT_FALSE(each.IsPending());
            const int wakes = each.task.wakes();
            driver.ParkFor(absl::ZeroDuration());
            ASSERT_EQ(each.task.wakes(), wakes) << "twice";
            ASSERT_EQ(each.task.live(), 0);
          }
          break;
        }
      }
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(on_tick, 10);
    // No sleep is lost.
    clock->Advance(absl::Hours(24));
    driver.ParkFor(absl::ZeroDuration());
    for (Sleeper& each : sleepers) {
      if (!each.Waits()) continue;
      ASSERT_FALSE(each.IsPending()) << "lost";
    }
  }
}

// The driver below blocks for exactly the given limit, on a running clock. A
// park ends at the beginning of a tick and not shortly before, and no later
// than one tick after the next deadline. The sleeper is therefore woken at the
// first park that reaches its deadline, after at most one park for each level
// through which the entry moves.
TEST_P(DriverPropertyTest, AParkEndsOnATick) {
  FastRand rand(1);
  auto clock = std::make_shared<Clock>();
  Driver<HookPark> driver({.resolution = GetParam(), .clock = clock}, &hook_);
  for (int i = 0; i < 500; ++i) {
    Sleeper sleeper;
    sleeper.sleep.emplace(driver.handle(),
                          Random(rand, 42) + absl::Nanoseconds(1));
    if (!sleeper.IsPending()) continue;  // the clock runs
    const Instant deadline = *sleeper.sleep->Deadline();
    int parks = 0;
    while (sleeper.task.wakes() == 0) {
      const Instant before = clock->Now();
      hook_.on_park = [&](absl::Duration limit) {
        if (limit <= absl::ZeroDuration()) return;  // due by now
        // The limit was computed after `before` and before now. In between is
        // an instant from which the limit reaches to the beginning of a tick.
        const Instant earliest = before + limit;
        const Instant latest = clock->Now() + limit;
        ASSERT_LT(earliest, deadline + GetParam()) << "late";
        const int64_t begun =
            latest.nanoseconds() - latest.nanoseconds() % tick();
        ASSERT_GE(begun, earliest.nanoseconds()) << "not on a tick";
        clock->Advance(limit);
      };
      driver.Park();
      ASSERT_LE(++parks, 7);
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_GE(clock->Now(), deadline);
    EXPECT_FALSE(sleeper.IsPending());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Resolutions, DriverPropertyTest,
    testing::Values(absl::Microseconds(64), absl::Microseconds(100),
                    absl::Milliseconds(1), absl::Seconds(1)),
    [](const auto& info) {
      return std::to_string(absl::ToInt64Microseconds(info.param)) + "us";
    });

}  // namespace
}  // namespace rouse::wheel

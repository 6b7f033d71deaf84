// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares the wheel with an ordered multimap, under seeded random operations.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/config.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/timer/wheel/entry.h"
#include "rouse/timer/wheel/wheel.h"

namespace rouse::wheel {
namespace {

constexpr int kSeeds = 10;

// Ten million operations in all, or a tenth of that where each is ten times as
// slow.
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
constexpr int kOperationsPerSeed = 100'000;
#else
constexpr int kOperationsPerSeed = 1'000'000;
#endif

struct Alarm : Entry {
  std::optional<std::multimap<uint64_t, Alarm*>::iterator> expected;
};

class Trial {
 public:
  Trial(uint64_t seed, size_t alarms)
      : trace_(__FILE__, __LINE__, "seed " + std::to_string(seed)),
        rand_(seed),
        alarms_(alarms) {}

  ~Trial() {
    for (Alarm& alarm : alarms_) wheel_.Remove(alarm);
    EXPECT_EQ(wheel_.NextExpiration(), std::nullopt);
  }

  // Returns a number up to 2^bits, with every magnitude equally likely.
  uint64_t Magnitude(int bits) {
    const uint32_t shift = 64 - rand_.Below(bits + 1);
    return shift == 64 ? 0 : rand_.Next() >> shift;
  }

  Alarm& AnyAlarm() { return alarms_[rand_.Below(alarms_.size())]; }
  uint32_t Below(uint32_t n) { return rand_.Below(n); }
  bool OneIn(uint32_t n) { return rand_.Below(n) == 0; }

  // Sets an alarm up to 2^38 ticks from now, again if it was set.
  void Set() { SetWithin(38); }

  void SetAt(uint64_t when) { SetAt(AnyAlarm(), when); }
  void SetAt(Alarm& alarm, uint64_t when) {
    ++operations_;
    Forget(alarm);
    if (wheel_.Insert(alarm, when)) {
      alarm.expected = expected_.emplace(when, &alarm);
    } else {
      EXPECT_LE(when, wheel_.elapsed());
    }
  }

  void Cancel() {
    ++operations_;
    Forget(AnyAlarm());
  }

  // Advances to `now`, with random operations between the steps if `disturb`,
  // and checks that all due alarms come out, in order, and no others.
  void AdvanceTo(uint64_t now, bool disturb) {
    ++operations_;
    if (now != wheel_.elapsed()) is_prepared_ = false;
    uint64_t last = 0;
    for (;;) {
      const Wheel::Step step = wheel_.Advance(now);
      if (step.due != nullptr) {
        auto& alarm = static_cast<Alarm&>(*step.due);
        ASSERT_TRUE(alarm.expected.has_value()) << "came twice";
        ASSERT_EQ(*alarm.expected, Earliest(alarm)) << "out of order";
        const uint64_t when = (*alarm.expected)->first;
        ASSERT_LE(when, now) << "early";
        ASSERT_GE(when, last) << "out of order";
        last = when;
        expected_.erase(*alarm.expected);
        alarm.expected.reset();
      }
      if (!step.more) break;
      if (disturb && OneIn(8)) OneIn(2) ? Set() : Cancel();
      if (disturb && OneIn(16)) Prepare();
    }
    ASSERT_EQ(wheel_.elapsed(), now);
    ASSERT_TRUE(expected_.empty() || expected_.begin()->first > now) << "lost";
  }

  // Sets an alarm within 2^bits ticks from now, again if it was set.
  void SetWithin(int bits) { SetAt(wheel_.elapsed() + Magnitude(bits)); }

  // Sets an alarm again, to a tick close to the previous one.
  void Reset() {
    Alarm& alarm = AnyAlarm();
    if (!alarm.expected.has_value()) return;
    const uint64_t shift = Magnitude(13);
    const uint64_t when = (*alarm.expected)->first;
    SetAt(alarm, OneIn(2) && shift < when ? when - shift : when + shift);
  }

  void Prepare() { wheel_.Prepare(); }

  // Checks that an owner that takes each turn that the wheel asks for, and
  // prepares, misses nothing, and has no unnecessary turn if few alarms are
  // set.
  void CheckNextTurn() {
    const std::optional<uint64_t> turn = wheel_.NextTurn();
    const std::optional<uint64_t> next = wheel_.NextExpiration();
    ASSERT_EQ(turn.has_value(), next.has_value());
    if (!turn.has_value()) return;
    ASSERT_GE(*turn, wheel_.elapsed());
    ASSERT_LE(*turn, *next);
    if (*turn == wheel_.elapsed()) is_prepared_ = false;
    if (expected_.size() < Wheel::kCrowd && is_prepared_) {
      ASSERT_EQ(*turn, *next);
    }
  }

  // Prepares until nothing is left to prepare, or the next alarm is due.
  void PrepareAll() {
    wheel_.Prepare();
    int calls = 0;
    while (wheel_.NextTurn() == wheel_.elapsed()) {
      ASSERT_LE(++calls, 1'000) << "has no end";
      wheel_.Prepare();
    }
    is_prepared_ = true;
  }

  // Checks that an owner that sleeps until the next expiration misses nothing.
  void CheckNextExpiration() {
    const std::optional<uint64_t> next = wheel_.NextExpiration();
    ASSERT_EQ(next.has_value(), !expected_.empty());
    if (!next.has_value()) return;
    ASSERT_GT(*next, wheel_.elapsed());
    ASSERT_LE(*next, expected_.begin()->first);
  }

  // Returns whether there may soon be no tick for another alarm.
  bool IsNearTheEnd() const { return elapsed() > Wheel::kNever / 2; }

  // Returns the number of operations.
  int operations() const { return operations_; }
  uint64_t elapsed() const { return wheel_.elapsed(); }
  std::optional<uint64_t> NextTurn() { return wheel_.NextTurn(); }
  std::optional<uint64_t> next() const { return wheel_.NextExpiration(); }
  size_t pending() const { return expected_.size(); }

 private:
  void Forget(Alarm& alarm) {
    wheel_.Remove(alarm);
    if (!alarm.expected.has_value()) return;
    expected_.erase(*alarm.expected);
    alarm.expected.reset();
  }

  // Returns the place of `alarm` if it is among the earliest, or else the place
  // of the first alarm.
  std::multimap<uint64_t, Alarm*>::iterator Earliest(Alarm& alarm) {
    const auto first = expected_.begin();
    return (*alarm.expected)->first == first->first ? *alarm.expected : first;
  }

  testing::ScopedTrace trace_;
  int operations_ = 0;
  // True if everything has been prepared since time last passed.
  bool is_prepared_ = false;
  FastRand rand_;
  Wheel wheel_;
  std::multimap<uint64_t, Alarm*> expected_;
  std::vector<Alarm> alarms_;
};

TEST(WheelProperty, AgreesWithAMultimap) {
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Trial run(seed, 500);
    while (run.operations() < kOperationsPerSeed && !run.IsNearTheEnd()) {
      if (run.OneIn(3)) {
        // Few steps are so long that the ticks would soon run out.
        const uint64_t step = run.Magnitude(run.OneIn(64) ? 37 : 31);
        run.AdvanceTo(run.elapsed() + step, run.OneIn(2));
      } else if (run.OneIn(4)) {
        run.Cancel();
      } else {
        run.Set();
      }
      if (testing::Test::HasFatalFailure()) return;
      run.CheckNextExpiration();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// Many alarms in few slots of levels 1 to 3, which are moved ahead in pieces.
// Between the pieces, alarms of those slots are cancelled, set to other times,
// and set anew, whether or not they have been moved.
TEST(WheelProperty, AgreesWithAMultimapWhileSlotsAreMovedAhead) {
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Trial run(seed, 2'000);
    // Starts where the slots of all levels begin together, and elsewhere.
    run.AdvanceTo((run.Magnitude(20) << 18) + run.Magnitude(18), false);
    while (run.operations() < kOperationsPerSeed / 4) {
      switch (run.Below(16)) {
        case 0:
          run.AdvanceTo(run.elapsed() + run.Magnitude(7), run.OneIn(2));
          break;
        case 1:
          run.Prepare();
          break;
        case 2:
          run.Cancel();
          break;
        case 3:
        case 4:
          run.Reset();
          break;
        case 5:
          if (run.OneIn(64)) {
            run.AdvanceTo(run.elapsed() + run.Magnitude(16), run.OneIn(2));
          } else if (run.OneIn(8)) {
            run.PrepareAll();
          }
          break;
        default:
          run.SetWithin(15);
      }
      if (testing::Test::HasFatalFailure()) return;
      run.CheckNextExpiration();
      if (testing::Test::HasFatalFailure()) return;
      run.CheckNextTurn();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// Acts as a driver that has a turn whenever the wheel asks for one.
TEST(WheelProperty, RequestedTurnsMissNoEntry) {
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Trial run(seed, 3'000);
    while (run.operations() < kOperationsPerSeed / 4) {
      if (run.pending() < 1'000) {
        for (int i = 0; i < 3'000; ++i) run.SetWithin(20);
      }
      const std::optional<uint64_t> turn = run.NextTurn();
      ASSERT_TRUE(turn.has_value());
      ASSERT_LE(*turn, *run.next());
      if (*turn > run.elapsed()) {
        run.AdvanceTo(*turn - 1, false);
        if (testing::Test::HasFatalFailure()) return;
      }
      run.AdvanceTo(*turn, false);
      if (testing::Test::HasFatalFailure()) return;
      run.Prepare();
    }
  }
}

// T1: tokio #8334. Acts as a driver that sleeps from one expiration to the
// next, for a thousand years of 1 ms ticks: each entry comes out exactly on its
// tick.
TEST(WheelProperty, SleepingToEachNextExpirationMissesNoEntry) {
  constexpr uint64_t kYear = uint64_t{1000} * 3600 * 24 * 365;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Trial run(seed, 50);
    int expirations = 0;
    for (;;) {
      if (run.elapsed() < 1000 * kYear) {
        if (run.pending() == 0 || run.OneIn(8)) run.Set();
        if (run.pending() == 0) continue;
      }
      if (run.pending() == 0) break;
      const std::optional<uint64_t> next = run.next();
      ASSERT_TRUE(next.has_value());
      run.AdvanceTo(*next - 1, false);
      if (testing::Test::HasFatalFailure()) return;
      const size_t before = run.pending();
      run.AdvanceTo(*next, false);
      if (testing::Test::HasFatalFailure()) return;
      if (run.pending() < before) ++expirations;
    }
    EXPECT_GT(expirations, 100);
  }
}

}  // namespace
}  // namespace rouse::wheel

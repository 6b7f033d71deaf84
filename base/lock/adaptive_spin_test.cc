// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/lock/adaptive_spin.h"

#include <cstdint>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

constexpr absl::Duration kShort = AdaptiveSpin::kShortSleep;
constexpr absl::Duration kLong = absl::Microseconds(61);

// Returns the number of short waits in a row that do not spin.
uint32_t ShortWaitsLeftOut(AdaptiveSpin& spin) {
  for (uint32_t count = 0;; ++count) {
    if (spin.ShouldSpin()) return count;
    spin.OnWoken(kShort);
    if (count > 2 * AdaptiveSpin::kMaxLeftOut) return count;
  }
}

// Returns an object whose next wait spins.
AdaptiveSpin Spinning() {
  AdaptiveSpin spin;
  spin.OnWoken(kShort);
  return spin;
}

TEST(AdaptiveSpin, DoesNotSpinAtFirst) {
  EXPECT_FALSE(AdaptiveSpin().ShouldSpin());
}

TEST(AdaptiveSpin, SpinsAfterAShortSleep) {
  AdaptiveSpin spin;
  spin.OnWoken(kShort);
  EXPECT_TRUE(spin.ShouldSpin());
}

TEST(AdaptiveSpin, DoesNotSpinAfterALongSleep) {
  AdaptiveSpin spin = Spinning();
  spin.OnWoken(kLong);
  EXPECT_FALSE(spin.ShouldSpin());
}

TEST(AdaptiveSpin, DoesNotSpinAfterAWakeUpForAnotherCause) {
  AdaptiveSpin spin = Spinning();
  spin.OnWokenOtherwise();
  EXPECT_FALSE(spin.ShouldSpin());
}

TEST(AdaptiveSpin, SpinsWhileSpinningPays) {
  AdaptiveSpin spin = Spinning();
  for (int i = 0; i < 1'000; ++i) {
    spin.OnFound();
    ASSERT_TRUE(spin.ShouldSpin());
  }
}

TEST(AdaptiveSpin, AFutileSpinSkipsOneShortWait) {
  AdaptiveSpin spin = Spinning();
  spin.OnFoundNothing();
  EXPECT_FALSE(spin.ShouldSpin());
  spin.OnWoken(kShort);
  EXPECT_TRUE(spin.ShouldSpin());
}

TEST(AdaptiveSpin, EachFutileSpinDoublesTheSkippedWaits) {
  AdaptiveSpin spin = Spinning();
  for (uint32_t expected = 1; expected < AdaptiveSpin::kMaxLeftOut;
       expected *= 2) {
    spin.OnFoundNothing();
    EXPECT_EQ(ShortWaitsLeftOut(spin), expected);
  }
}

TEST(AdaptiveSpin, SkippedWaitsHaveALimit) {
  AdaptiveSpin spin = Spinning();
  for (int i = 0; i < 100; ++i) {
    spin.OnFoundNothing();
    EXPECT_LE(ShortWaitsLeftOut(spin), AdaptiveSpin::kMaxLeftOut);
  }
  spin.OnFoundNothing();
  EXPECT_EQ(ShortWaitsLeftOut(spin), AdaptiveSpin::kMaxLeftOut);
}

TEST(AdaptiveSpin, LongWaitsAreNotCountedAsSkipped) {
  AdaptiveSpin spin = Spinning();
  spin.OnFoundNothing();
  for (int i = 0; i < 100; ++i) spin.OnWoken(kLong);
  EXPECT_EQ(ShortWaitsLeftOut(spin), 1U);
}

TEST(AdaptiveSpin, EachUsefulSpinHalvesTheSkippedWaits) {
  AdaptiveSpin spin = Spinning();
  for (int i = 0; i < 5; ++i) {
    spin.OnFoundNothing();
    ShortWaitsLeftOut(spin);
  }
  for (int i = 0; i < 2; ++i) spin.OnFound();
  spin.OnFoundNothing();  // 16, 8, 4, and doubled
  EXPECT_EQ(ShortWaitsLeftOut(spin), 8U);
}

TEST(SpinFor, EndsWhenReady) {
  int calls = 0;
  EXPECT_TRUE(SpinFor(UINT64_MAX, [&] { return ++calls == 10; }));
  EXPECT_EQ(calls, 10);
}

TEST(SpinFor, GivesUp) {
  EXPECT_FALSE(SpinFor(1'000, [] { return false; }));
}

// A thread that has lost its processor in the meantime has not checked for
// long.
TEST(SpinFor, ChecksOnceMoreAtTheEnd) {
  int calls = 0;
  EXPECT_TRUE(SpinFor(0, [&] { return ++calls == 2; }));
}

}  // namespace
}  // namespace rouse

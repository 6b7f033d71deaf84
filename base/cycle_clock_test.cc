#include "rouse/base/cycle_clock.h"

#include <cstdint>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

TEST(CycleClockTest, NeverGoesBack) {
  uint64_t last = CycleClock::Now();
  for (int i = 0; i < 1'000; ++i) {
    const uint64_t now = CycleClock::Now();
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST(CycleClockTest, AgreesWithTheClockOnTheWall) {
  (void)CycleClock::PerNanosecond();
  const absl::Time before = absl::Now();
  const uint64_t start = CycleClock::Now();
  const absl::Time begin = absl::Now();
  while (absl::Now() - begin < absl::Milliseconds(5)) {
  }
  const absl::Time end = absl::Now();
  const uint64_t stop = CycleClock::Now();
  const absl::Time after = absl::Now();
  const absl::Duration took = CycleClock::ToDuration(stop - start);
  EXPECT_GE(took, (end - begin) * 0.9);
  EXPECT_LE(took, (after - before) * 1.1);
}

TEST(CycleClockTest, ZeroIsZero) {
  EXPECT_EQ(CycleClock::ToDuration(0), absl::ZeroDuration());
}

}  // namespace
}  // namespace rouse

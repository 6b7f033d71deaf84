// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/cell.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/timer/wheel/next_wake.h"
#include "rouse/timer/wheel/wheel.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::wheel::internal {
namespace {

using model::Require;
using model::Thread;

// A driver whose shards keep one tick each. A sleeping driver is not woken by
// the clock here: without an unpark it sleeps forever, which is a deadlock.
class SleepyDriver {
 public:
  static constexpr uint64_t kLate = 100;

  // With `announces_late` the driver is wrong: it announces its decision only
  // after it has read the shards.
  explicit SleepyDriver(bool announces_late = false)
      : announces_late_(announces_late) {}

  // Sleeps until the driver sees an entry for `tick`.
  void SleepUntil(uint64_t tick) {
    while (Turn() > tick) {
    }
  }

  void Insert(int shard, uint64_t tick) {
    shards_[shard].Insert(tick);
    if (next_wake_.MustUnpark(tick)) unparker_.Unpark();
  }

 private:
  class Shard {
   public:
    void Insert(uint64_t tick) {
      const ThreadMutexLock lock(&mu_);
      next_.Write() = std::min(next_.Read(), tick);
    }
    uint64_t Next() {
      const ThreadMutexLock lock(&mu_);
      return next_.Read();
    }

   private:
    ThreadMutex mu_;
    Cell<uint64_t> next_{kLate};
  };

  uint64_t Turn() {
    if (!announces_late_) next_wake_.BeginDeciding();
    uint64_t next = kLate;
    for (Shard& shard : shards_) next = std::min(next, shard.Next());
    if (announces_late_) next_wake_.BeginDeciding();
    if (next_wake_.Decide(next) && next > 1) parker_.Park();
    next_wake_.Clear();
    return next;
  }

  const bool announces_late_;
  NextWake next_wake_;
  Shard shards_[2];
  ThreadParker parker_;
  const ThreadParker::Unparker unparker_ = parker_.unparker();
};

MODEL_TEST(NextWake, NoInsertionIsMissedByASleepingDriver) {
  SleepyDriver driver;
  Thread sleeping([&] { driver.SleepUntil(1); });
  driver.Insert(0, 1);
  sleeping.Join();
}

MODEL_TEST(NextWake, NoneOfTwoInsertionsIntoOneShardIsMissed,
           .mode = model::Mode::kBounded) {
  SleepyDriver driver;
  Thread sleeping([&] { driver.SleepUntil(1); });
  Thread other([&] { driver.Insert(0, 2); });
  driver.Insert(0, 1);
  sleeping.Join();
}

MODEL_TEST(NextWake, NoneOfTwoInsertionsIntoTwoShardsIsMissed,
           .mode = model::Mode::kBounded) {
  SleepyDriver driver;
  Thread sleeping([&] { driver.SleepUntil(1); });
  Thread other([&] { driver.Insert(1, 2); });
  driver.Insert(0, 1);
  sleeping.Join();
}

// The proof rests on the order of the steps: no access has a memory order that
// `KillsMutants` could weaken.
TEST(NextWake, ADriverThatAnnouncesTooLateMissesAnInsertion) {
  const model::Result result = model::Check({}, [] {
    SleepyDriver driver(/*announces_late=*/true);
    Thread sleeping([&] { driver.SleepUntil(1); });
    driver.Insert(0, 1);
    sleeping.Join();
  });
  EXPECT_TRUE(result.failed);
  EXPECT_THAT(result.message, testing::HasSubstr("deadlock"));
}

// Only one of the inserting threads pays for the unpark.
MODEL_TEST(NextWake, OnlyOneOfTwoInsertionsUnparks) {
  NextWake next_wake;
  next_wake.BeginDeciding();
  bool first = false;
  Thread other([&] { first = next_wake.MustUnpark(1); });
  const bool second = next_wake.MustUnpark(2);
  other.Join();
  Require(first != second);
  Require(!next_wake.Decide(3));
  Require(!next_wake.MustUnpark(1));
}

// A sleep without end needs no unpark, even while the driver decides.
MODEL_TEST(NextWake, AnEntryThatNeverComesUnparksNobody) {
  NextWake next_wake;
  next_wake.BeginDeciding();
  Require(!next_wake.MustUnpark(Wheel::kNever));
  Require(next_wake.Decide(Wheel::kNever));
  Require(!next_wake.MustUnpark(Wheel::kNever));
  Require(next_wake.MustUnpark(Wheel::kNever - 1));
}

MODEL_MUTANTS(NextWake, "timer/wheel/next_wake",
              "NextWake::Decide at next_wake.h:67: store skipped: whoever "
              "inserts unparks the driver for nothing",
              "NextWake::Clear at next_wake.h:70: store skipped: likewise");

}  // namespace
}  // namespace rouse::wheel::internal

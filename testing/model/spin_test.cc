// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// SpinHint(): what the checker takes for a loop, what ends one, and which ones
// nothing ends.

#include <atomic>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/mutex.h"
#include "rouse/testing/model/thread.h"

namespace rouse::model {
namespace {

using enum std::memory_order;
using testing::HasSubstr;
using testing::StartsWith;
using Pairs = std::set<std::pair<int, int>>;

constexpr Mode kWholeModes[] = {Mode::kExhaustive, Mode::kNaive};

// ---- What is a loop.

// Two calls from one line, but no loop: the second does not forbid the second
// load to return what the first one did.
TEST(SpinTest, TwoUsesOfAHelperAreNoLoop) {
  for (const Mode mode : kWholeModes) {
    Pairs outcomes;
    const Result result = Check({.mode = mode}, [&] {
      Atomic<int> x = 0;
      const Thread other([&] { x.store(1, relaxed); });
      const auto back_off = [] { SpinHint(); };
      back_off();
      const int first = x.load(relaxed);
      back_off();
      outcomes.insert({first, x.load(relaxed)});
    });
    EXPECT_TRUE(result.complete) << result.message << result.trace;
    EXPECT_EQ(outcomes, (Pairs{{0, 0}, {0, 1}, {1, 1}}));
  }
}

// Nor are they one if they have read something different. The flag is acquired
// in the first round and not in the second, which is the bug.
TEST(SpinTest, AMissingAcquireInASecondUseIsFound) {
  const Result result = Check({}, [] {
    Atomic<int> x = 0;
    Atomic<int> first = 0;
    Atomic<int> second = 0;
    const Thread other([&] {
      first.store(1, release);
      x.store(1, relaxed);
      second.store(1, release);
    });
    const auto back_off = [] { SpinHint(); };
    if (first.load(acquire) == 0) return;
    back_off();
    if (x.load(relaxed) == 1 || second.load(relaxed) == 0) return;
    back_off();
    Require(x.load(relaxed) == 1, "stale");
  });
  EXPECT_THAT(result.message, HasSubstr("stale"));
}

TEST(SpinTest, TwoUsesOfAHelperDoNotWaitForEver) {
  const Result result = Check({}, [] {
    Atomic<int> x = 0;
    Atomic<int> y = 0;
    const auto try_once = [](const Atomic<int>& flag) {
      if (flag.load(relaxed) == 0) SpinHint();
    };
    try_once(x);
    try_once(y);
  });
  EXPECT_TRUE(result.complete) << result.message << result.trace;
}

// ---- What ends a loop.

TEST(SpinTest, ALoopEndsWithTheStoreThatItWaitsFor) {
  for (const Mode mode : kWholeModes) {
    const Result result = Check({.mode = mode}, [] {
      Cell<int> data(0);
      Atomic<bool> ready = false;
      const Thread other([&] {
        data.Write() = 42;
        ready.store(true, release);
      });
      while (!ready.load(acquire)) SpinHint();
      Require(data.Read() == 42);
    });
    EXPECT_TRUE(result.complete) << result.message << result.trace;
  }
}

TEST(SpinTest, ALoopWithTwoPlacesEnds) {
  for (const Mode mode : kWholeModes) {
    std::set<int> ends;
    const Result result = Check({.mode = mode}, [&] {
      Atomic<bool> x = false;
      Atomic<bool> y = false;
      const Thread other(
          [&] { (Choose(2) == 0 ? x : y).store(true, relaxed); });
      for (;;) {
        if (x.load(relaxed)) {
          ends.insert(0);
          break;
        }
        SpinHint();
        if (y.load(relaxed)) {
          ends.insert(1);
          break;
        }
        SpinHint();
      }
    });
    EXPECT_TRUE(result.complete) << result.message << result.trace;
    EXPECT_EQ(ends, (std::set{0, 1}));
  }
}

// The acquire brings the thread news of `x` after it has read the old value:
// the next round will read the new one.
TEST(SpinTest, NewsThatCameWithAnotherLoadEndsALoop) {
  for (const Mode mode : kWholeModes) {
    const Result result = Check({.mode = mode}, [] {
      Atomic<int> x = 0;
      Atomic<int> y = 0;
      const Thread other([&] {
        x.store(1, relaxed);
        y.store(1, release);
      });
      for (;;) {
        const int old = x.load(relaxed);
        y.load(acquire);
        if (old == 1) break;
        SpinHint();
      }
    });
    EXPECT_TRUE(result.complete) << result.message << result.trace;
  }
}

// What the loop itself writes is no news to it.
TEST(SpinTest, ALoopThatCountsItsRoundsEnds) {
  for (const Mode mode : kWholeModes) {
    const Result result = Check({.mode = mode}, [] {
      Atomic<int> rounds = 0;
      Atomic<bool> ready = false;
      const Thread other([&] { ready.store(true, relaxed); });
      while (!ready.load(relaxed)) {
        rounds.fetch_add(1, relaxed);
        SpinHint();
      }
    });
    EXPECT_TRUE(result.complete) << result.message << result.trace;
  }
}

TEST(SpinTest, ALoopThatAnnouncesAndRetractsEnds) {
  for (const Mode mode : kWholeModes) {
    const Result result = Check({.mode = mode}, [] {
      Atomic<int> readers = 0;
      Atomic<bool> writer = true;
      const Thread other([&] { writer.store(false, release); });
      for (;;) {
        readers.fetch_add(1, seq_cst);
        if (!writer.load(seq_cst)) break;
        readers.fetch_sub(1, seq_cst);
        SpinHint();
      }
      Require(readers.load(relaxed) == 1);
    });
    EXPECT_TRUE(result.complete) << result.message << result.trace;
  }
}

// ---- Locks.

void TryLock(int threads) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  Mutex mutex;
  Cell<int> count(0);
  const auto increment = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    while (!mutex.TryLock()) SpinHint();
    ++count.Write();
    mutex.Unlock();
  };
  {
    const Thread one(increment);
    const Thread two(threads == 3 ? Thread(increment) : Thread([] {}));
    increment();
  }
  Require(count.Read() == threads);
}

TEST(SpinTest, ALoopOfTryLockEndsWhenTheMutexIsFree) {
  for (const int threads : {2, 3}) {
    const Result result = Check({}, [&] { TryLock(threads); });
    EXPECT_TRUE(result.complete) << result.message << result.trace;
  }
  EXPECT_TRUE(Check({.mode = Mode::kNaive}, [] { TryLock(2); }).complete);
}

template <std::memory_order kLock>
void ExchangeLock(int threads) {
  Atomic<bool> locked = false;
  Cell<int> count(0);
  const auto increment = [&] {
    while (locked.exchange(true, kLock)) SpinHint();
    ++count.Write();
    locked.store(false, release);
  };
  {
    const Thread one(increment);
    const Thread two(threads == 3 ? Thread(increment) : Thread([] {}));
    increment();
  }
  Require(count.Read() == threads);
}

// Each round stores the value that is there already. It is no news to the other
// thread that spins, or the two would wake one another for ever.
TEST(SpinTest, ASpinLockByExchangeEndsWithThreeThreads) {
  for (const int threads : {2, 3}) {
    const Result result = Check({}, [&] { ExchangeLock<acquire>(threads); });
    EXPECT_TRUE(result.complete) << result.message << result.trace;
  }
}

// Where the exchange has failed for no reason, nothing need change for the next
// to succeed.
TEST(SpinTest, ASpinLockByAWeakCompareExchangeEnds) {
  for (const Mode mode : kWholeModes) {
    const Result result = Check({.mode = mode}, [] {
      Atomic<bool> locked = false;
      Cell<int> count(0);
      const auto increment = [&] {
        bool expected = false;
        while (
            !locked.compare_exchange_weak(expected, true, acquire, relaxed)) {
          expected = false;
          SpinHint();
        }
        ++count.Write();
        locked.store(false, release);
      };
      {
        const Thread other(increment);
        increment();
      }
      Require(count.Read() == 2);
    });
    EXPECT_TRUE(result.complete) << result.message << result.trace;
  }
}

TEST(SpinTest, ASpinLockByExchangeThatDoesNotAcquireRaces) {
  for (const int threads : {2, 3}) {
    const Result result = Check({}, [&] { ExchangeLock<relaxed>(threads); });
    EXPECT_THAT(result.message, StartsWith("data race"));
  }
}

}  // namespace
}  // namespace rouse::model

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests SpinHint(): what the checker considers a loop, what ends a loop, and
// which loops nothing ends.

#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
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

// ---- Loops.

// Two calls from one line are not a loop: the second call does not prevent the
// second load from returning the same value as the first.
TEST(SpinTest, TwoUsesOfAHelperAreNotALoop) {
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

// Two calls are not a loop if they have read different objects. The bug is that
// the flag is acquired in the first round and not in the second.
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

TEST(SpinTest, TwoUsesOfAHelperDoNotWaitForever) {
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

// ---- Ends of loops.

TEST(SpinTest, ALoopEndsAfterTheAwaitedStore) {
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

// The acquire brings the thread news of `x` after the thread has read the old
// value, so the next round reads the new value.
TEST(SpinTest, AValueAcquiredByAnotherLoadEndsALoop) {
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

// If one location has changed, the loop may still read the old value of the
// other location, whatever has been stored there.
TEST(SpinTest, ALoopSeesTwoLocationsChangeInAnyOrder) {
  using History = std::vector<std::pair<int, int>>;
  // Extends `history` in every way until x is 2, if each round of the loop sees
  // a new value.
  std::set<History> expected;
  const std::function<void(History)> extend = [&](const History& history) {
    if (!history.empty() && history.back().first == 2) {
      expected.insert(history);
      return;
    }
    const std::pair last = history.empty() ? std::pair(0, 0) : history.back();
    for (int x = last.first; x <= 2; ++x) {
      for (int y = last.second; y <= 1; ++y) {
        if (!history.empty() && last == std::pair(x, y)) continue;
        History longer = history;
        longer.emplace_back(x, y);
        extend(longer);
      }
    }
  };
  extend({});
  for (const Mode mode : kWholeModes) {
    std::set<History> seen;
    History history;
    const Result result = Check({.mode = mode}, [&] {
      history.clear();
      {
        Atomic<int> x = 0;
        Atomic<int> y = 0;
        const Thread other([&] {
          y.store(1, relaxed);
          x.store(1, relaxed);
          x.store(2, relaxed);
        });
        for (;;) {
          const std::pair round(x.load(relaxed), y.load(relaxed));
          if (history.empty() || history.back() != round) {
            history.push_back(round);
          }
          if (round.first == 2) break;
          SpinHint();
        }
      }
      seen.insert(history);
    });
    EXPECT_TRUE(result.complete) << result.message << result.trace;
    EXPECT_EQ(seen, expected);
  }
}

// A value that the loop itself writes is not news to the loop.
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

// ---- Loops that give up instead of waiting.

// An execution in which the loop waits does not show what the loop does later.
TEST(SpinTest, ALoopThatGivesUpIsAFailure) {
  for (const Mode mode : kWholeModes) {
    for (const int bound : {3, 4, 100, 1000}) {
      const Result result = Check({.mode = mode}, [&] {
        Atomic<bool> ready = false;
        const Thread other([&] { ready.store(true, relaxed); });
        for (int i = 0; i < bound && !ready.load(relaxed); ++i) SpinHint();
      });
      EXPECT_THAT(result.message, StartsWith("gives up: thread 0 calls "
                                             "SpinHint() at spin_test.cc:"));
      EXPECT_THAT(result.message,
                  HasSubstr(absl::StrCat("after ", bound, " rounds")));
      EXPECT_THAT(result.trace, HasSubstr("in which no value changed"));
      EXPECT_NE(result.replay, "");
    }
  }
}

TEST(SpinTest, AReplayOfALoopThatGivesUpFails) {
  const auto body = [] {
    Atomic<int> x = 0;
    const Thread other([&] { x.store(1, relaxed); });
    for (int i = 0; i < 5 && x.load(relaxed) == 0; ++i) SpinHint();
    x.store(2, relaxed);
  };
  const Result result = Check({}, body);
  EXPECT_THAT(result.message, StartsWith("gives up"));
  EXPECT_EQ(Check({.replay = result.replay}, body).message, result.message);
}

// Each of these loops does something else after some rounds.
TEST(SpinTest, EveryWayOfGivingUpIsFound) {
  constexpr int kRounds = 5;
  struct Shared {
    Atomic<int> x = 1;
    Atomic<int> y = 0;
    Mutex mutex;
    Cell<int> plain = Cell<int>(0);
  };
  using Loop = void (*)(Shared&);
  const std::vector<std::pair<std::string, Loop>> loops = {
      {"ends",
       [](Shared& s) {
         for (int i = 0; i < kRounds && s.x.load(relaxed) == 1; ++i) SpinHint();
       }},
      {"loads",
       [](Shared& s) {
         for (int i = 0; i < kRounds && s.x.load(relaxed) == 1; ++i) SpinHint();
         s.y.load(relaxed);
       }},
      {"stores",
       [](Shared& s) {
         for (int i = 0; i < kRounds && s.x.load(relaxed) == 1; ++i) SpinHint();
         s.x.store(2, relaxed);
       }},
      {"fences",
       [](Shared& s) {
         for (int i = 0; i < kRounds && s.x.load(relaxed) == 1; ++i) SpinHint();
         AtomicThreadFence(acquire);
       }},
      {"locks",
       [](Shared& s) {
         for (int i = 0; i < kRounds && s.x.load(relaxed) == 1; ++i) SpinHint();
         const MutexLock lock(&s.mutex);
       }},
      {"reads plain data",
       [](Shared& s) {
         for (int i = 0; i < kRounds && s.x.load(relaxed) == 1; ++i) SpinHint();
         s.plain.Read();
       }},
      {"spins elsewhere",
       [](Shared& s) {
         for (int i = 0; i < kRounds && s.x.load(relaxed) == 1; ++i) SpinHint();
         while (s.x.load(relaxed) == 1) SpinHint();
       }},
      {"an exchange that stores something else",
       [](Shared& s) {
         for (int i = 0; s.x.exchange(i < kRounds ? 1 : 2, relaxed) == 1; ++i) {
           SpinHint();
         }
       }},
      {"a compare-exchange that expects something else",
       [](Shared& s) {
         int expected = 0;
         for (int i = 0; !s.x.compare_exchange_strong(expected, 2, relaxed);
              ++i) {
           expected = i < kRounds ? 0 : 1;
           SpinHint();
         }
       }},
      {"a choice",
       [](Shared& s) {
         for (int i = 0; i < kRounds && s.x.load(relaxed) == 1; ++i) SpinHint();
         Choose(2);
       }},
  };
  for (const auto& [name, loop] : loops) {
    const Result result = Check({}, [loop = loop] {
      Shared shared;
      const Thread other([&] { shared.x.store(0, relaxed); });
      loop(shared);
    });
    EXPECT_THAT(result.message, StartsWith("gives up")) << name;
  }
}

TEST(SpinTest, AFailedTryLockIsNotAnExitOfALoop) {
  const auto loop = [](int rounds) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    Mutex mutex;
    mutex.Lock();
    Thread other([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      for (int i = 0; i < rounds; ++i) {
        if (mutex.TryLock()) return mutex.Unlock();
        SpinHint();
      }
    });
    mutex.Unlock();
  };
  EXPECT_THAT(Check({}, [&] { loop(5); }).message, StartsWith("gives up"));
  const Result result = Check({}, [&] { loop(1'000'000); });
  EXPECT_TRUE(result.complete) << result.message << result.trace;
}

// The first two rounds run normally, so this hides nothing.
TEST(SpinTest, TwoTriesAreAllowed) {
  for (const Mode mode : kWholeModes) {
    std::set<bool> found;
    const Result result = Check({.mode = mode}, [&] {
      Atomic<bool> ready = false;
      const Thread other([&] { ready.store(true, relaxed); });
      bool is_ready = false;
      for (int i = 0; i < 2 && !is_ready; ++i) {
        is_ready = ready.load(relaxed);
        if (i == 0) SpinHint();
      }
      found.insert(is_ready);
    });
    EXPECT_TRUE(result.complete) << result.message << result.trace;
    EXPECT_EQ(found, (std::set{false, true}));
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

// Each round stores the value that is there already. The store is not news to
// the other spinning thread, or the two would wake each other forever.
TEST(SpinTest, ASpinLockByExchangeEndsWithThreeThreads) {
  for (const int threads : {2, 3}) {
    const Result result = Check({}, [&] { ExchangeLock<acquire>(threads); });
    EXPECT_TRUE(result.complete) << result.message << result.trace;
  }
}

// If the exchange has failed for no reason, the next exchange can succeed even
// if nothing changes.
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

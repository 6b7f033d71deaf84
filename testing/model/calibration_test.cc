// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A calibration: programs on which model checkers for C++ and Rust are known to
// differ. Each comment names the checkers that err; all others are right.
// Measured with loom of 2026-02 and relacy of 2026-02 (in both modes).

#include <atomic>
#include <set>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/thread.h"

namespace rouse::model {
namespace {

using enum std::memory_order;
using testing::HasSubstr;
using Pairs = std::set<std::pair<int, int>>;

// The cell of one waker, between a task that registers and two threads that
// signal and wake. The task must not sleep permanently.
template <bool kUnlockByStore>
void AtomicWaker() {
  constexpr int kWaiting = 0;
  constexpr int kRegistering = 1;
  constexpr int kWaking = 2;
  Atomic<int> state = kWaiting;
  Cell<bool> waker(false);  // true if there is a waker
  Atomic<bool> signalled = false;
  bool woken = false;  // by the second thread
  bool woken_first = false;

  const auto wake = [&](bool& did) {
    if (state.fetch_or(kWaking, acq_rel) != kWaiting) return;
    did = std::exchange(waker.Write(), false);
    if (kUnlockByStore) {
      state.store(kWaiting, release);
    } else {
      state.exchange(kWaiting, acq_rel);
    }
  };
  bool ready = false;
  {
    const Thread one([&] { wake(woken_first); });
    const Thread two([&] {
      signalled.store(true, relaxed);
      wake(woken);
    });
    int found = kWaiting;
    if (state.compare_exchange_strong(found, kRegistering, acquire, acquire)) {
      waker.Write() = true;
      found = kRegistering;
      if (!state.compare_exchange_strong(found, kWaiting, acq_rel, acquire)) {
        waker.Write() = false;
        state.exchange(kWaiting, acq_rel);
        ready = true;  // woken at once
      }
    } else {
      ready = true;  // woken at once
    }
    if (signalled.load(relaxed)) ready = true;
  }
  Require(ready || woken || woken_first, "a wake-up is lost");
}

// E1. tokio #7450: the second thread finds the lock held. Its read-modify-write
// has released its earlier stores, but the store that frees the lock ends the
// release sequence. Found by loom and by relacy too.
TEST(Calibration, E1AtomicWakerUnlockedByAStoreLosesAWake) {
  const Result result = Check({}, &AtomicWaker<true>);
  EXPECT_THAT(result.message, HasSubstr("a wake-up is lost"));
}

// E1'. loom takes 21,283 executions, relacy 13,201.
TEST(Calibration, E1AtomicWakerUnlockedByAnExchangeLosesNoWake) {
  const Result result = Check({}, &AtomicWaker<false>);
  EXPECT_FALSE(result.failed) << result.message << result.trace;
  EXPECT_TRUE(result.complete);
  EXPECT_LT(result.executions + result.pruned, 1000);
}

// E2. Since C++20 (P0982), a relaxed store of the same thread ends a release
// sequence. relacy misses the bug, because it has the rule of C++11.
TEST(Calibration, E2AStoreEndsAReleaseSequence) {
  const Result result = Check({}, [] {
    Cell<int> data(0);
    Atomic<int> flag = 0;
    const Thread writer([&] {
      data.Write() = 1;
      flag.store(1, release);
      flag.store(2, relaxed);
    });
    if (flag.load(acquire) == 2) data.Read();
  });
  EXPECT_THAT(result.message, HasSubstr("data race"));
}

template <std::memory_order kOrder, std::memory_order kFence>
Pairs StoreBuffering() {
  Pairs outcomes;
  const Result result = Check({}, [&] {
    Atomic<int> x = 0;
    Atomic<int> y = 0;
    int a = 0;
    int b = 0;
    {
      const Thread one([&] {
        x.store(1, kOrder);
        AtomicThreadFence(kFence);
        a = y.load(kOrder);
      });
      const Thread two([&] {
        y.store(1, kOrder);
        AtomicThreadFence(kFence);
        b = x.load(kOrder);
      });
    }
    outcomes.insert({a, b});
  });
  EXPECT_TRUE(result.complete) << result.message;
  return outcomes;
}

// E3. A false alarm in loom, where such accesses only acquire and release.
TEST(Calibration, E3SeqCstAccessesForbidStoreBuffering) {
  EXPECT_EQ((StoreBuffering<seq_cst, relaxed>()),
            (Pairs{{0, 1}, {1, 0}, {1, 1}}));
}

// E4. All checkers are right.
TEST(Calibration, E4SeqCstFencesForbidStoreBuffering) {
  EXPECT_EQ((StoreBuffering<relaxed, seq_cst>()),
            (Pairs{{0, 1}, {1, 0}, {1, 1}}));
}

// E5. relacy misses (1, 1): its modification order is the order of execution.
TEST(Calibration, E5TwoPairsOfStoresCanCross) {
  Pairs outcomes;
  const Result result = Check({}, [&] {
    Atomic<int> x = 0;
    Atomic<int> y = 0;
    {
      const Thread one([&] {
        x.store(1, relaxed);
        y.store(2, relaxed);
      });
      const Thread two([&] {
        y.store(1, relaxed);
        x.store(2, relaxed);
      });
    }
    outcomes.insert({x.load(), y.load()});
  });
  EXPECT_TRUE(result.complete) << result.message;
  EXPECT_EQ(outcomes, (Pairs{{1, 1}, {1, 2}, {2, 1}, {2, 2}}));
}

// E6. relacy misses (1, 0): it keeps three values at random, two in full.
TEST(Calibration, E6ALoadCanReadAnOldValue) {
  Pairs outcomes;
  const Result result = Check({}, [&] {
    Atomic<int> data = 0;
    Atomic<int> flag = 0;
    const Thread writer([&] {
      data.store(1, relaxed);
      data.store(2, relaxed);
      data.store(3, relaxed);
      flag.store(1, relaxed);
    });
    const int seen = flag.load(relaxed);
    outcomes.insert({seen, data.load(relaxed)});
  });
  EXPECT_TRUE(result.complete) << result.message;
  EXPECT_EQ(
      outcomes,
      (Pairs{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}, {1, 2}, {1, 3}}));
}

// E8. loom misses the bug: its fences acquire from every read of another thread
// before this thread synchronized with the other thread.
TEST(Calibration, E8AnAcquireFenceDoesNotCoverAnotherThreadsLoad) {
  const Result result = Check({}, [] {
    Cell<int> data(0);
    Atomic<int> first = 0;
    Atomic<int> second = 0;
    const Thread writer([&] {
      data.Write() = 1;
      first.store(1, release);
    });
    const Thread between([&] {
      if (first.load(relaxed) == 1) second.store(1, release);
    });
    if (second.load(acquire) == 1) {
      AtomicThreadFence(acquire);
      data.Read();
    }
  });
  EXPECT_THAT(result.message, HasSubstr("data race"));
}

// E9. C++20 allows (1, 1). In loom, relacy and this checker, no load ever reads
// a value that is stored later; see memory.h.
TEST(Calibration, E9LoadBufferingIsNotExplored) {
  Pairs outcomes;
  const Result result = Check({}, [&] {
    Atomic<int> x = 0;
    Atomic<int> y = 0;
    int a = 0;
    int b = 0;
    {
      const Thread one([&] {
        a = x.load(relaxed);
        y.store(1, relaxed);
      });
      const Thread two([&] {
        b = y.load(relaxed);
        x.store(1, relaxed);
      });
    }
    outcomes.insert({a, b});
  });
  EXPECT_TRUE(result.complete) << result.message;
  EXPECT_EQ(outcomes, (Pairs{{0, 0}, {0, 1}, {1, 0}}));
}

// E10. In loom, a weak compare-exchange does not fail for no reason.
TEST(Calibration, E10AWeakCompareExchangeCanFail) {
  const Result result = Check({}, [] {
    Atomic<int> x = 0;
    int expected = 0;
    Require(x.compare_exchange_weak(expected, 1), "it failed");
  });
  EXPECT_THAT(result.message, HasSubstr("it failed"));
}

// E11. If the data are read, the writer's fence comes before the reader's fence
// in S. This orders atomics. But a fence synchronizes with a second fence only
// through an atomic that the second thread reads before its fence. loom and
// relacy miss the race: there, each such fence synchronizes with the next.
TEST(Calibration, E11SeqCstFencesDoNotSynchronize) {
  const Result result = Check({}, [] {
    Cell<int> data(0);
    Atomic<bool> late = false;
    Atomic<bool> written = false;
    const Thread writer([&] {
      data.Write() = 1;
      AtomicThreadFence(seq_cst);
      if (!late.load(relaxed)) written.store(true, relaxed);
    });
    late.store(true, relaxed);
    AtomicThreadFence(seq_cst);
    if (written.load(relaxed)) data.Read();
  });
  EXPECT_THAT(result.message, HasSubstr("data race"));
}

}  // namespace
}  // namespace rouse::model

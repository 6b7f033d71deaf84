// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that notify one another, and give up waiting half of the time. The
// event for which they wait comes only when everything before it has been seen,
// so a lost notification stops the test.

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/notify/notify.h"
#include "rouse/testing/internal/stress_seed.h"
#include "rouse/testing/internal/stress_time.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

constexpr int kTests = 2;
constexpr int kThreads = 8;  // on each side
constexpr absl::Duration kUsual = absl::Milliseconds(300);

// Awaits `future`, or polls it once or twice and gives up.
void AwaitOrNot(Notify::NotifiedFuture& future, FastRand& rand) {
  if (rand.Below(2) == 0) return BlockOn(future);
  const Waker waker;
  for (uint32_t polls = 1 + rand.Below(2); polls > 0; --polls) {
    Context cx(waker);
    if (future.Poll(cx).IsReady()) return;
  }
}

// A number from which several threads take, and for which they wait.
class Counter {
 public:
  explicit Counter(int value) : value_(value) {}

  void Put(FastRand& rand) {
    value_.fetch_add(1, std::memory_order_release);
    rand.Below(4) == 0 ? changed_.NotifyLast() : changed_.NotifyOne();
  }

  // Returns whether there was an item to take before the end.
  bool Take(FastRand& rand) {
    for (;;) {
      auto changed = changed_.Notified();
      changed.Enable();
      if (TryTake()) return true;
      if (ended_.load(std::memory_order_acquire)) return false;
      AwaitOrNot(changed, rand);
    }
  }

  void End() {
    ended_.store(true, std::memory_order_release);
    changed_.NotifyWaiters();
  }

  int value() const { return value_.load(std::memory_order_acquire); }

 private:
  bool TryTake() {
    int value = value_.load(std::memory_order_relaxed);
    while (value > 0) {
      if (value_.compare_exchange_weak(value, value - 1,
                                       std::memory_order_acq_rel,
                                       std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  std::atomic<int> value_;
  std::atomic<bool> ended_ = false;
  Notify changed_;
};

// A channel that consists only of its number of items: each item, and each
// place that becomes free, causes one notification.
TEST(NotifyStress, EveryNotifyOneReachesAWaiter) {
  const uint64_t seed = StressSeed();
  const absl::Time end = absl::Now() + StressTime(kUsual, kTests);
  constexpr int kPlaces = 3;
  Counter items(0), places(kPlaces);
  std::atomic<int64_t> sent = 0, received = 0;
  std::vector<std::thread> producers, consumers;
  for (int i = 0; i < kThreads; ++i) {
    producers.emplace_back([&, i] {
      FastRand rand(seed + i);
      do {
        if (!places.Take(rand)) break;
        ++sent;
        items.Put(rand);
      } while (absl::Now() < end);
    });
    consumers.emplace_back([&, i] {
      FastRand rand(seed + kThreads + i);
      while (items.Take(rand)) {
        ++received;
        places.Put(rand);
      }
    });
  }
  for (std::thread& thread : producers) thread.join();
  items.End();
  for (std::thread& thread : consumers) thread.join();
  EXPECT_GT(sent, 0);
  EXPECT_EQ(sent, received);
  EXPECT_EQ(items.value(), 0);
  EXPECT_EQ(places.value(), kPlaces);
}

// One thread continues with the next round when all others have seen this
// round.
TEST(NotifyStress, EveryNotifyWaitersReachesAllWaiters) {
  const uint64_t seed = StressSeed();
  const absl::Time end = absl::Now() + StressTime(kUsual, kTests);
  constexpr int64_t kOver = -1;
  std::atomic<int64_t> round = 0;
  std::atomic<int> seen = 0;
  Notify changed, all_have_seen;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      FastRand rand(seed + i);
      int64_t last = 0;
      while (last != kOver) {
        auto next = changed.Notified();
        // Relaxed: the future is created before the check.
        const int64_t now = round.load(std::memory_order_relaxed);
        if (now == last) {
          AwaitOrNot(next, rand);
          continue;
        }
        last = now;
        // A notification for one must not make the thread miss a notification
        // for all.
        if (rand.Below(4) == 0) changed.NotifyOne();
        if (seen.fetch_add(1) + 1 == kThreads) all_have_seen.NotifyOne();
      }
    });
  }
  int64_t rounds = 0;
  bool over = false;
  while (!over) {
    over = rounds > 0 && absl::Now() >= end;
    seen = 0;
    round.store(over ? kOver : ++rounds, std::memory_order_relaxed);
    changed.NotifyWaiters();
    BlockOn(all_have_seen.Notified());
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(rounds, 0);
}

}  // namespace
}  // namespace rouse

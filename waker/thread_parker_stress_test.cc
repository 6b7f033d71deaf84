// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// No unpark is lost, and each unpark makes everything before it visible.

#include <atomic>
#include <thread>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/waker/thread_parker.h"

namespace rouse {
namespace {

// Not atomic, for the thread sanitizer: the parkers alone order the turns.
struct Table {
  int turns = 0;
};

TEST(ThreadParkerStress, PingPong) {
  constexpr int kRounds = 20000;
  ThreadParker ping, pong;
  Table table;
  std::thread other([&table, &pong, ping = ping.unparker()] {
    for (int i = 0; i < kRounds; ++i) {
      pong.Park();
      ASSERT_EQ(table.turns, 2 * i + 1);
      ++table.turns;
      ping.Unpark();
    }
  });
  const ThreadParker::Unparker unparker = pong.unparker();
  for (int i = 0; i < kRounds; ++i) {
    ++table.turns;
    unparker.Unpark();
    ping.Park();
    ASSERT_EQ(table.turns, 2 * i + 2);
  }
  other.join();
}

// Like the test above, but with spins that pay off and spins in vain.
TEST(ThreadParkerStress, PingPongWithSpins) {
  constexpr int kRounds = 20000;
  ThreadParker ping, pong;
  Table table;
  std::thread other([&table, &pong, ping = ping.unparker()] {
    for (int i = 0; i < kRounds; ++i) {
      pong.SpinThenPark();
      ASSERT_EQ(table.turns, 2 * i + 1);
      ++table.turns;
      if (i % 1000 == 0) std::this_thread::yield();
      ping.Unpark();
    }
  });
  const ThreadParker::Unparker unparker = pong.unparker();
  for (int i = 0; i < kRounds; ++i) {
    ++table.turns;
    unparker.Unpark();
    ping.SpinThenPark();
    ASSERT_EQ(table.turns, 2 * i + 2);
  }
  other.join();
}

// Timed parks that end at the moment of an unpark neither lose nor duplicate
// the unpark.
TEST(ThreadParkerStress, TimedParksAndUnparksAtTheSameMoment) {
  constexpr int kRounds = 20000;
  ThreadParker parker, replies;
  std::atomic<int> sent = 0;
  std::thread other([&, unparker = parker.unparker()] {
    for (int i = 1; i <= kRounds; ++i) {
      sent.store(i, std::memory_order_relaxed);
      unparker.Unpark();
      replies.Park();
    }
  });
  const ThreadParker::Unparker reply = replies.unparker();
  FastRand rand(1);
  for (int i = 1; i <= kRounds; ++i) {
    // Ends early, late, or by the unpark, which is then used up.
    parker.ParkFor(absl::Nanoseconds(rand.Below(20000)));
    while (sent.load(std::memory_order_relaxed) < i) parker.Park();
    reply.Unpark();
  }
  other.join();
  EXPECT_EQ(sent.load(), kRounds);
}

// Several threads unpark one thread, which sees the work of all.
TEST(ThreadParkerStress, ManyUnparkers) {
  constexpr int kUnparkers = 3;
  constexpr int kRounds = 20000;
  ThreadParker parker;
  std::atomic<int> done[kUnparkers] = {};
  std::thread threads[kUnparkers];
  for (int t = 0; t < kUnparkers; ++t) {
    threads[t] = std::thread([&done, t, unparker = parker.unparker()] {
      for (int i = 1; i <= kRounds; ++i) {
        done[t].store(i, std::memory_order_relaxed);
        // Unparks through a separate reference, which may be the last to use
        // the parker.
        // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
        const ThreadParker::Unparker copy = unparker;
        copy.Unpark();
      }
    });
  }
  const auto all_done = [&] {
    for (const std::atomic<int>& count : done) {
      if (count.load(std::memory_order_relaxed) < kRounds) return false;
    }
    return true;
  };
  while (!all_done()) parker.Park();
  EXPECT_TRUE(all_done());
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace rouse

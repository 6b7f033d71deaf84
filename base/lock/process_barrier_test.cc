// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/lock/process_barrier.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "rouse/base/lock/spin_hint.h"

namespace rouse {
namespace {

constexpr int kRounds = 20'000;

// Fewer rounds are enough on a machine that takes this long.
constexpr std::chrono::seconds kTime(10);
constexpr int kRoundsAtLeast = 1'000;

// Lets two threads begin each round at the same moment.
class Start {
 public:
  void Wait() {
    const int round = arrived_.fetch_add(1) / 2;
    for (int looks = 0; arrived_.load() < 2 * (round + 1); ++looks) {
      // The other thread may have no processor except this one.
      if (looks < 1000) {
        SpinHint();
      } else {
        std::this_thread::yield();
      }
    }
  }

 private:
  std::atomic<int> arrived_{0};
};

// Tests the promise of the header, which is the only use. Without the barrier,
// the two threads miss each other in some hundred of the rounds.
TEST(ProcessBarrierTest, AtLeastOneOfTwoWritersSeesTheOther) {
  ProcessBarrier::Prepare();
  std::vector<std::atomic<bool>> mine(kRounds);
  std::vector<std::atomic<bool>> theirs(kRounds);
  std::vector<char> seen_often(kRounds);
  std::vector<char> seen_seldom(kRounds);
  std::atomic<int> rounds{-1};
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + kTime;
  Start start;
  std::thread often([&] {
    const bool available = ProcessBarrier::IsAvailable();
    for (int i = 0;; ++i) {
      start.Wait();
      // Relaxed: written before the start that this thread has just awaited.
      if (i == rounds.load(std::memory_order_relaxed)) break;
      if (available) {
        mine[i].store(true, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
      } else {
        mine[i].store(true);
      }
      seen_often[i] = theirs[i].load() ? 1 : 0;
    }
  });
  for (int i = 0;; ++i) {
    if (i == kRounds || (i >= kRoundsAtLeast && Clock::now() >= end)) {
      rounds.store(i, std::memory_order_relaxed);
      start.Wait();
      break;
    }
    start.Wait();
    theirs[i].store(true);
    ProcessBarrier::Run();
    seen_seldom[i] = mine[i].load() ? 1 : 0;
  }
  often.join();
  int missed = 0;
  for (int i = 0; i < rounds; ++i) {
    if (seen_often[i] == 0 && seen_seldom[i] == 0) ++missed;
  }
  EXPECT_EQ(missed, 0) << "of " << rounds << " rounds";
}

TEST(ProcessBarrierTest, ManyThreadsCanPrepare) {
  std::vector<std::thread> threads;
  std::vector<char> available(4);
  for (char& answer : available) {
    threads.emplace_back([&answer] {
      ProcessBarrier::Prepare();
      answer = ProcessBarrier::IsAvailable() ? 1 : 0;
      ProcessBarrier::Run();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const char answer : available) EXPECT_EQ(answer, available[0]);
}

}  // namespace
}  // namespace rouse

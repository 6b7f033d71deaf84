// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/lock/biased_lock.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace rouse {
namespace {

TEST(BiasedLockTest, TheOwnerAndOthersExcludeOneAnother) {
  constexpr int kOwnersTurns = 2'000'000;
  constexpr int kTurns = 300;
  BiasedLock lock;
  // The two words differ while a thread is in the middle of a critical section.
  int one = 0;
  int two = 0;
  std::vector<std::thread> others;
  for (int i = 0; i < 2; ++i) {
    others.emplace_back([&] {
      for (int turn = 0; turn < kTurns; ++turn) {
        const BiasedLock::Holder holder(lock);
        EXPECT_EQ(one++, two++);
      }
    });
  }
  for (int turn = 0; turn < kOwnersTurns; ++turn) {
    const BiasedLock::OwnerHolder holder(lock);
    ASSERT_EQ(one++, two++);
  }
  for (std::thread& other : others) other.join();
  EXPECT_EQ(one, kOwnersTurns + 2 * kTurns);
}

TEST(BiasedLockTest, ExcludesAfterTheBiasEnds) {
  constexpr int kTurns = 200'000;
  BiasedLock lock;
  int one = 0;
  int two = 0;
  std::thread other([&] {
    for (int turn = 0; turn < kTurns; ++turn) {
      const BiasedLock::Holder holder(lock);
      if (turn == 100) lock.EndBias();
      EXPECT_EQ(one++, two++);
    }
  });
  for (int turn = 0; turn < kTurns; ++turn) {
    const BiasedLock::OwnerHolder holder(lock);
    ASSERT_EQ(one++, two++);
  }
  other.join();
  EXPECT_EQ(one, 2 * kTurns);
}

TEST(BiasedLockTest, AWaitingOwnerGetsTheLock) {
  BiasedLock lock;
  std::atomic<bool> held = false;
  std::atomic<bool> left = false;
  std::thread other([&] {
    const BiasedLock::Holder holder(lock);
    held = true;
    std::this_thread::yield();
    left = true;
  });
  while (!held) std::this_thread::yield();
  {
    const BiasedLock::OwnerHolder holder(lock);
    EXPECT_TRUE(left);
  }
  other.join();
}

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/lock/spin_lock.h"

#include <chrono>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace rouse {
namespace {

TEST(SpinLockTest, TryLockFailsWhileItIsHeld) {
  SpinLock lock;
  {
    const SpinLockHolder holder(lock);
    std::thread other([&] {
      const bool locked = lock.TryLock();
      if (locked) lock.Unlock();
      EXPECT_FALSE(locked);
    });
    other.join();
  }
  const bool locked = lock.TryLock();
  EXPECT_TRUE(locked);
  if (locked) lock.Unlock();
}

TEST(SpinLockTest, ExcludesThreads) {
  SpinLock lock;
  int count = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 20'000; ++n) {
        const SpinLockHolder holder(lock);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 80'000);
}

// This is longer than a waiter spins and yields.
TEST(SpinLockTest, WaitsForAHolderThatSleeps) {
  SpinLock lock;
  int value = 0;
  lock.Lock();
  std::thread waiter([&] {
    const SpinLockHolder holder(lock);
    EXPECT_EQ(value, 1);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  value = 1;
  lock.Unlock();
  waiter.join();
}

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/lock/back_off.h"

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>

#include "gtest/gtest.h"

namespace rouse {
namespace {

// Returns the processor time of the calling thread.
std::chrono::nanoseconds CpuTime() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) +
         std::chrono::nanoseconds(time.tv_nsec);
}

// The awaited thread may need the processor.
TEST(BackOffTest, YieldsTheProcessorDuringALongWait) {
  constexpr std::chrono::milliseconds kLong(100);
  const auto start = std::chrono::steady_clock::now();
  std::atomic<bool> done{false};
  std::thread slow([&] {
    std::this_thread::sleep_for(kLong);
    done.store(true, std::memory_order_release);
  });
  const std::chrono::nanoseconds before = CpuTime();
  BackOff back_off;
  while (!done.load(std::memory_order_acquire)) back_off.Wait();
  const std::chrono::nanoseconds used = CpuTime() - before;
  // Holds however late the other thread is.
  EXPECT_LT(used, (std::chrono::steady_clock::now() - start) / 2);
  slow.join();
}

// A sleep takes longer than all of these waits together.
TEST(BackOffTest, DoesNotSleepDuringAShortWait) {
  std::chrono::nanoseconds least = std::chrono::seconds(1);
  for (int i = 0; i < 100; ++i) {
    const auto start = std::chrono::steady_clock::now();
    BackOff back_off;
    for (int n = 0; n < 10; ++n) back_off.Wait();
    const std::chrono::nanoseconds took =
        std::chrono::steady_clock::now() - start;
    if (took < least) least = took;
  }
  EXPECT_LT(least, std::chrono::microseconds(50));
}

}  // namespace
}  // namespace rouse

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/default_timer.h"

#include <pthread.h>

#include <cstddef>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/delay.h"
#include "rouse/timer/heap/timer.h"
#include "rouse/timer/heap/timer_handle.h"

namespace rouse::heap {
namespace {

// Sets the stack size of threads that do not ask for one. With the size that
// the test sets, the system cannot provide a stack, and such threads do not
// start.
void SetDefaultStackSize(size_t size) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, size), 0);
  ASSERT_EQ(pthread_setattr_default_np(&attributes), 0);
  ASSERT_EQ(pthread_attr_destroy(&attributes), 0);
}

// The default belongs to the whole process, hence a single test.
TEST(DefaultTimer, StartsAThreadAtTheFirstUse) {
  pthread_attr_t before;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  SetDefaultStackSize(size_t{1} << 50);
  EXPECT_TRUE(absl::IsUnavailable(BlockOn(Delay(absl::ZeroDuration()))));
  EXPECT_FALSE(TimerHandle::GlobalFallback().has_value());
  ASSERT_EQ(pthread_setattr_default_np(&before), 0);
  ASSERT_EQ(pthread_attr_destroy(&before), 0);

  // The next callers get one thread, and only one.
  const Clock* clocks[4] = {};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (const Clock*& clock : clocks) {
    threads.emplace_back([&clock] { clock = &DefaultTimer().clock(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Clock* clock : clocks) EXPECT_EQ(clock, clocks[0]);
  EXPECT_TRUE(BlockOn(Delay(absl::Milliseconds(1))).ok());

  // It is too late to set another default.
  const Timer timer;
  EXPECT_TRUE(absl::IsAlreadyExists(timer.handle().SetAsGlobalFallback()));
}

}  // namespace
}  // namespace rouse::heap

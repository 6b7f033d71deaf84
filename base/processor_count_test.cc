// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/processor_count.h"

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <thread>

#include "gtest/gtest.h"
#include "rouse/base/cpu_quota.h"

namespace rouse {
namespace {

TEST(ProcessorCount, CountsTheProcessorsOfTheThread) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  const size_t quota = CpuQuota().value_or(CPU_SETSIZE);
  const size_t count = std::min<size_t>(CPU_COUNT(&all), quota);
  EXPECT_EQ(ProcessorCount(), count);
  std::thread restricted([all, quota] {
    cpu_set_t some;
    CPU_ZERO(&some);
    size_t chosen = 0;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (!CPU_ISSET(i, &all)) continue;
      CPU_SET(i, &some);
      ASSERT_EQ(sched_setaffinity(0, sizeof(some), &some), 0);
      EXPECT_EQ(ProcessorCount(), std::min(++chosen, quota));
    }
  });
  restricted.join();
  EXPECT_EQ(ProcessorCount(), count);
}

}  // namespace
}  // namespace rouse

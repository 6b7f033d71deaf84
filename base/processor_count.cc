// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/processor_count.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <limits>
#include <thread>
#include <vector>

#include "rouse/base/cpu_quota.h"

namespace rouse {

namespace {

// Returns the number of processors on which the calling thread may run.
size_t Allowed() {
  // The call fails with EINVAL as long as the kernel has more processors than
  // fit into the sets.
  for (std::vector<cpu_set_t> sets(1); sets.size() <= 64;
       sets.resize(2 * sets.size())) {
    const size_t size = sets.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, size, sets.data()) == 0) {
      return std::max(1, CPU_COUNT_S(size, sets.data()));
    }
    if (errno != EINVAL) break;
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

size_t ProcessorCount() {
  static const size_t quota =
      CpuQuota().value_or(std::numeric_limits<size_t>::max());
  return std::min(Allowed(), quota);
}

}  // namespace rouse

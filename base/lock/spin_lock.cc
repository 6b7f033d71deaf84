// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/lock/spin_lock.h"

#include <atomic>

#include "rouse/base/lock/back_off.h"

namespace rouse {

void SpinLock::SlowLock() {
  BackOff back_off;
  // The load keeps the holder's cache line where it is. Relaxed: TryLock
  // acquires.
  while (locked_.load(std::memory_order_relaxed) || !TryLock()) {
    back_off.Wait();
  }
}

}  // namespace rouse

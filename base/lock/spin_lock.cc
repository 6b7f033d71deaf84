// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/lock/spin_lock.h"

#include "rouse/base/lock/back_off.h"

namespace rouse {

void SpinLock::SlowLock() {
  BackOff back_off;
  while (!TryLock()) back_off.Wait();
}

}  // namespace rouse

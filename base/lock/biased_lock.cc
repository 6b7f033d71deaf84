// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/lock/biased_lock.h"

#include <atomic>

#include "absl/base/thread_annotations.h"
#include "rouse/base/lock/back_off.h"
#include "rouse/base/lock/process_barrier.h"
#include "rouse/base/mutable_step.h"

namespace rouse {

void BiasedLock::SlowLockAsOwner() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  // Release as in UnlockAsOwner(): what it did the last time may have been seen
  // by nobody yet.
  held_.store(false, std::memory_order_release);
  others_.Lock();
  // Whoever comes next takes `others_` after this, and sees it.
  held_.store(true, std::memory_order_relaxed);
  others_.Unlock();
}

void BiasedLock::Lock() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  others_.Lock();
  // If not, `wanted_` is true already, and an owner that has not seen it is
  // long gone: it comes by way of `others_`.
  if (biased_.Read()) {
    // Sequentially consistent, as the load: see LockAsOwner().
    wanted_.store(true, std::memory_order_seq_cst);
    ROUSE_MUTABLE_CALL(ProcessBarrier::Run());
  }
  BackOff back_off;
  // As an acquire it pairs with the release of UnlockAsOwner().
  while (held_.load(std::memory_order_seq_cst)) back_off.Wait();
}

void BiasedLock::Unlock() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  // Release pairs with the load of LockAsOwner().
  if (MutableCondition(biased_.Read())) {
    wanted_.store(false, std::memory_order_release);
  }
  others_.Unlock();
}

void BiasedLock::EndBias() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  biased_.Write() = false;
}

}  // namespace rouse

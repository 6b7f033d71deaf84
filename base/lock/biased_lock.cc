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
  // Release as in UnlockAsOwner(): perhaps no thread has seen yet what the
  // owner did in its last critical section.
  held_.store(false, std::memory_order_release);
  others_.Lock();
  // The next thread takes `others_` after this, and sees the store.
  held_.store(true, std::memory_order_relaxed);
  others_.Unlock();
}

void BiasedLock::Lock() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  others_.Lock();
  // If the lock is not biased, `wanted_` is already true, and an owner that has
  // not seen `wanted_` has long left: the owner now comes by way of `others_`.
  if (biased_.Read()) {
    // Sequentially consistent, like the load: see LockAsOwner().
    wanted_.store(true, std::memory_order_seq_cst);
    ROUSE_MUTABLE_CALL(ProcessBarrier::Run());
  }
  BackOff back_off;
  // As an acquire, this load pairs with the release of UnlockAsOwner().
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

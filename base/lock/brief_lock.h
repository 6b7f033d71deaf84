// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: brief_lock.h
// -----------------------------------------------------------------------------
//
// `BriefLock` is a `SpinLock` in the product, and a `ThreadMutex` in models.
// Separate models show that a spin lock is a lock, and the spinning would
// multiply the executions of all other models.
//
//   BriefLock mu_;
//   IntrusiveList<Node> nodes_ ABSL_GUARDED_BY(mu_);
//
//   const BriefLockHolder lock(mu_);

#ifndef ROUSE_BASE_LOCK_BRIEF_LOCK_H_
#define ROUSE_BASE_LOCK_BRIEF_LOCK_H_

#include "rouse/base/cxx20.h"

#ifdef ROUSE_MODEL
#include "absl/base/thread_annotations.h"
#include "rouse/base/thread_mutex.h"
#else
#include "rouse/base/lock/spin_lock.h"
#endif

namespace rouse {

#ifdef ROUSE_MODEL

using BriefLock = ThreadMutex;

class ABSL_SCOPED_LOCKABLE BriefLockHolder {
 public:
  explicit BriefLockHolder(ThreadMutex& mu) ABSL_EXCLUSIVE_LOCK_FUNCTION(mu)
      : lock_(&mu) {}
  ~BriefLockHolder() ABSL_UNLOCK_FUNCTION() = default;

 private:
  const ThreadMutexLock lock_;
};

#else

using BriefLock = SpinLock;
using BriefLockHolder = SpinLockHolder;

#endif  // ROUSE_MODEL

}  // namespace rouse

#endif  // ROUSE_BASE_LOCK_BRIEF_LOCK_H_

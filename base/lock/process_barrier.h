// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: process_barrier.h
// -----------------------------------------------------------------------------
//
// `ProcessBarrier` puts a full memory barrier into every thread of the process
// at once, so that threads on a frequent path need no barrier of their own.
//
// Source: the system call membarrier(2), "private expedited".

#ifndef ROUSE_BASE_LOCK_PROCESS_BARRIER_H_
#define ROUSE_BASE_LOCK_PROCESS_BARRIER_H_

#include "rouse/base/cxx20.h"

#if defined(ROUSE_MODEL)
#include "rouse/testing/model/atomic.h"
#elif !defined(ROUSE_SCALING)
#include <atomic>
#endif

namespace rouse {

// ProcessBarrier
//
// Serves two threads that each write one variable and then read the other
// thread's variable, where at least one thread must see the other's write:
//
//   often, after Prepare()                seldom
//
//   mine.store(true, relaxed);            theirs.store(true);
//   std::atomic_signal_fence(seq_cst);    ProcessBarrier::Run();
//   if (theirs.load()) ...                if (mine.load()) ...
//
// If the barrier is not available, the store of `mine` must be sequentially
// consistent, like all the other operations.
//
// Thread-safe.
class ProcessBarrier {
 public:
  // Requests the barrier from the kernel, once. Old kernels and some sandboxes
  // do not have the barrier.
  static void Prepare();

  // Returns whether `Run()` has an effect. Returns false before `Prepare()`,
  // and a constant result once `Prepare()` has returned. A model explores both
  // results.
  static bool IsAvailable() {
#if defined(ROUSE_MODEL)
    return model::HasFenceAllThreads();
#elif defined(ROUSE_SCALING)
    return true;
#else
    // Relaxed: set before the objects that use the barrier exist.
    return available.load(std::memory_order_relaxed);
#endif
  }

  // Returns when every thread of the process that was running has passed a full
  // barrier. Takes a quarter of a microsecond if no other thread runs. If other
  // threads run, takes some microseconds (25 on a virtual machine), and costs
  // the other threads the same. Does nothing if the barrier is not available.
  static void Run();

#ifndef ROUSE_TWIN
 private:
  static std::atomic<bool> available;
#endif
};

}  // namespace rouse

#endif  // ROUSE_BASE_LOCK_PROCESS_BARRIER_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: process_barrier.h
// -----------------------------------------------------------------------------
//
// `ProcessBarrier` puts a full memory barrier into every thread of the process
// at one time: so those that pass often need none of their own.
//
// Source: the system call membarrier(2), "private expedited".

#ifndef ROUSE_BASE_LOCK_PROCESS_BARRIER_H_
#define ROUSE_BASE_LOCK_PROCESS_BARRIER_H_

#ifdef ROUSE_MODEL
#include "rouse/testing/model/atomic.h"
#else
#include <atomic>
#endif

namespace rouse {

// ProcessBarrier
//
// Two threads that each write one thing and then read the other's, of which at
// least one must see what the other wrote:
//
//   often, after Prepare()                seldom
//
//   mine.store(true, relaxed);            theirs.store(true);
//   std::atomic_signal_fence(seq_cst);    ProcessBarrier::Run();
//   if (theirs.load()) ...                if (mine.load()) ...
//
// If it is not available the store of `mine` must be sequentially consistent,
// as all the others are.
//
// Thread-safe.
class ProcessBarrier {
 public:
  // Asks the kernel for it, once. Old kernels and some sandboxes do not have
  // it.
  static void Prepare();

  // Whether `Run()` does anything. Does not change any more once `Prepare()`
  // has returned, and is false before. A model explores both.
  static bool IsAvailable() {
#ifdef ROUSE_MODEL
    return model::HasFenceAllThreads();
#else
    // Relaxed: set before what uses it is there.
    return available.load(std::memory_order_relaxed);
#endif
  }

  // Returns when every thread of the process that was running has passed a full
  // barrier. Takes a quarter of a microsecond when no other runs, and some
  // microseconds, that it also costs the others, when they do (25 on a virtual
  // machine). Does nothing where it is not available.
  static void Run();

#ifndef ROUSE_MODEL
 private:
  static std::atomic<bool> available;
#endif
};

}  // namespace rouse

#endif  // ROUSE_BASE_LOCK_PROCESS_BARRIER_H_

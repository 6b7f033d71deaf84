// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: baton.h
// -----------------------------------------------------------------------------
//
// A `Baton` passes a worker from one thread to another. The holder runs the
// worker. Internal to the scheduler.

#ifndef ROUSE_SCHEDULER_BATON_H_
#define ROUSE_SCHEDULER_BATON_H_

#include <atomic>

#include "rouse/base/atomic.h"

namespace rouse::scheduler {

// Baton
//
// Initially available. The actions of one holder are visible to the next.
class Baton {
 public:
  Baton() = default;
  Baton(const Baton&) = delete;
  Baton& operator=(const Baton&) = delete;

  // Called by the holder; gives up ownership.
  void PutDown() {
    // Release pairs with the acquire of TryTake.
    free_.store(true, std::memory_order_release);
  }

  // Takes ownership and returns true if the baton is available. Can be called
  // by any thread.
  bool TryTake() { return free_.exchange(false, std::memory_order_acquire); }

 private:
  Atomic<bool> free_{true};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_BATON_H_

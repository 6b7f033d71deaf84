// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: baton.h
// -----------------------------------------------------------------------------
//
// Which thread runs a worker, one after another: whoever has the baton.
// Internal to the scheduler.

#ifndef ROUSE_SCHEDULER_BATON_H_
#define ROUSE_SCHEDULER_BATON_H_

#include <atomic>

#include "rouse/base/atomic.h"

namespace rouse::scheduler {

// Baton
//
// Lies there at first. What one holder did is visible to the next.
class Baton {
 public:
  Baton() = default;
  Baton(const Baton&) = delete;
  Baton& operator=(const Baton&) = delete;

  // By its holder, who is it no more.
  void PutDown() {
    // Release pairs with the acquire of TryTake.
    free_.store(true, std::memory_order_release);
  }

  // Whether it lay there, and is the caller's now. Any thread.
  bool TryTake() { return free_.exchange(false, std::memory_order_acquire); }

 private:
  Atomic<bool> free_{true};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_BATON_H_

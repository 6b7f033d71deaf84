// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: back_off.h
// -----------------------------------------------------------------------------
//
// Waits for another thread that needs about ten nanoseconds, if that thread is
// on a processor.
//
//   BackOff back_off;
//   while (!flag.load(std::memory_order_acquire)) back_off.Wait();

#ifndef ROUSE_BASE_LOCK_BACK_OFF_H_
#define ROUSE_BASE_LOCK_BACK_OFF_H_

#include "rouse/base/lock/spin_hint.h"

#ifndef ROUSE_MODEL
#include <chrono>
#include <thread>
#endif

namespace rouse {

// BackOff
//
// Waits in stages: at first `Wait()` spins, then it lets other threads run,
// then it sleeps for 50 microseconds, so that a thread of lower priority is
// waited for and not starved. In a model, every stage is a `SpinHint()`.
class BackOff {
 public:
  void Wait() {
#ifndef ROUSE_MODEL
    constexpr int kSpins = 100;
    constexpr int kYields = 20;
    if (rounds_ == kSpins + kYields) {
      return std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    if (rounds_++ >= kSpins) return std::this_thread::yield();
#endif
    SpinHint();
  }

#ifndef ROUSE_MODEL
 private:
  int rounds_ = 0;
#endif
};

}  // namespace rouse

#endif  // ROUSE_BASE_LOCK_BACK_OFF_H_

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

#ifndef ROUSE_TWIN
#include <chrono>
#include <thread>
#endif

namespace rouse {

// BackOff
//
// Waits in stages: at first `Wait()` spins, each time twice as long, so that
// many waiting threads do not all access the awaited cache line at once; then
// it lets other threads run; then it sleeps for 50 microseconds, so that a
// thread of lower priority is waited for and not starved. A model knows only
// the first `SpinHint()`.
class BackOff {
 public:
  void Wait() {
#ifdef ROUSE_MODEL
    SpinHint();
#else
    if (rounds_ < kDoublings) {
      for (int i = 0; i < 1 << rounds_; ++i) SpinHint();
      ++rounds_;
      return;
    }
#ifndef ROUSE_TWIN
    if (rounds_ == kDoublings + kYields) {
      return std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    ++rounds_;
#endif
    YieldHint();
#endif  // ROUSE_MODEL
  }

#ifndef ROUSE_MODEL
 private:
  // About four microseconds of spinning: 127 times `SpinHint()`.
  static constexpr int kDoublings = 7;
  static constexpr int kYields = 20;

  int rounds_ = 0;
#endif
};

}  // namespace rouse

#endif  // ROUSE_BASE_LOCK_BACK_OFF_H_

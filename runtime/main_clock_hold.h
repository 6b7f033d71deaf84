// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: main_clock_hold.h
// -----------------------------------------------------------------------------
//
// Internal to runtime/: an auto-advancing clock must not advance between the
// wake of a main future, which is unknown to the scheduler, and the end of the
// future's poll.

#ifndef ROUSE_RUNTIME_MAIN_CLOCK_HOLD_H_
#define ROUSE_RUNTIME_MAIN_CLOCK_HOLD_H_

#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "rouse/timer/clock.h"

namespace rouse::internal {

// MainClockHold
//
// Shared by a call of `BlockOn()` and the call's wakers, which outlive the
// call. Thread-safe.
class MainClockHold {
 public:
  using Hold = std::optional<Clock::AutoAdvanceHold>;

  // Returns null if the clock does not auto-advance, because no hold is needed
  // then. `owner` keeps `clock` alive.
  static std::shared_ptr<MainClockHold> For(std::shared_ptr<const void> owner,
                                            Clock& clock) {
    if (!clock.HasAutoAdvance()) return nullptr;
    return std::make_shared<MainClockHold>(std::move(owner), clock);
  }

  MainClockHold(std::shared_ptr<const void> owner, Clock& clock)
      : owner_(std::move(owner)), clock_(clock) {}
  MainClockHold(const MainClockHold&) = delete;
  MainClockHold& operator=(const MainClockHold&) = delete;

  // Holds the clock for the next poll. Call before the polling thread is
  // unparked. Does not throw, so that the thread is unparked.
  void OnWake() noexcept {
    const absl::MutexLock lock(&mu_);
    if (!ended_ && !hold_.has_value()) hold_.emplace(clock_);
  }

  // Returns the hold of the preceding wake, or a new hold if there was no wake.
  Hold BeginPoll() {
    const absl::MutexLock lock(&mu_);
    if (!hold_.has_value()) hold_.emplace(clock_);
    return std::exchange(hold_, std::nullopt);
  }

  // Releases the hold, because no further poll follows.
  void End() {
    Hold last;
    const absl::MutexLock lock(&mu_);
    ended_ = true;
    last = std::exchange(hold_, std::nullopt);
  }

 private:
  const std::shared_ptr<const void> owner_;
  Clock& clock_;
  absl::Mutex mu_;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  Hold hold_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rouse::internal

#endif  // ROUSE_RUNTIME_MAIN_CLOCK_HOLD_H_

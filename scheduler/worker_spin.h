// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: worker_spin.h
// -----------------------------------------------------------------------------
//
// Whether a worker without work spins before it parks. Internal to the
// scheduler.

#ifndef ROUSE_SCHEDULER_WORKER_SPIN_H_
#define ROUSE_SCHEDULER_WORKER_SPIN_H_

#include <cstdint>

#include "absl/time/time.h"
#include "rouse/base/lock/adaptive_spin.h"
#include "rouse/scheduler/options.h"
#include "rouse/timer/clock.h"

namespace rouse::scheduler {

// WorkerSpin
//
// Belongs to one worker. Learns from the worker's spins and parks, by the rules
// of `AdaptiveSpin`, whether the next spin would find a task.
class WorkerSpin {
 public:
  explicit WorkerSpin(const Options& options) : may_spin_(MaySpin(options)) {}

  // Begins to wait. Returns whether the worker should spin.
  bool Begin() {
    spun_in_vain_ = false;
    return spin_.ShouldSpin();
  }

  // Called before a spin, at `now`. Returns whether the worker must check for
  // events before, which it has not done for `limit`. (A worker that need not
  // park must still check for events.)
  bool IsEventCheckDue(uint64_t now, uint64_t limit) {
    if (now - last_events_ <= limit) return false;
    last_events_ = now;
    return true;
  }

  // Called after a spin. `from_elsewhere` says whether the global queue has a
  // task, and `found` whether the spin has found anything to do.
  void OnSpun(bool from_elsewhere, bool found) {
    if (from_elsewhere) {
      spin_.OnFound();
    } else if (found) {
      // The work did not come from elsewhere, or others were faster.
      spin_.OnWokenOtherwise();
    } else {
      spin_.OnFoundNothing();
      spun_in_vain_ = true;
    }
  }

  // Called after a park of `cycles` cycles. `for_single_task` says whether
  // another thread has ended the park, and the global queue has one task.
  //
  // A spin would have seen a task from elsewhere, if tasks come one at a time.
  // If many come, the worker should be late: then it does not disturb the
  // thread that spawns them, and that thread does not wait for the first task.
  // A spin does not see an event: only the driver does.
  void OnParked(bool for_single_task, uint64_t cycles,
                double cycles_per_nanosecond) {
    if (!for_single_task) {
      spin_.OnWokenOtherwise();
    } else if (!spun_in_vain_ && may_spin_) {
      spin_.OnWoken(absl::Nanoseconds(static_cast<double>(cycles) /
                                      cycles_per_nanosecond));
    }
  }

 private:
  // Returns whether workers may spin. Not with an auto-advancing clock, which
  // advances as soon as there is nothing to do.
  static bool MaySpin(const Options& options) {
    return CanSpin() &&
           (options.clock == nullptr || !options.clock->HasAutoAdvance());
  }

  AdaptiveSpin spin_;
  const bool may_spin_;
  bool spun_in_vain_ = false;  // before the latest park
  uint64_t last_events_ = 0;   // when it last checked for events before a spin
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_WORKER_SPIN_H_

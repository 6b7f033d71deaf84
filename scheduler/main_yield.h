// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: main_yield.h
// -----------------------------------------------------------------------------
//
// The yield of a future that a worker's thread polls beside the tasks, such as
// the main future of a `BlockOn()`. Internal to the scheduler.

#ifndef ROUSE_SCHEDULER_MAIN_YIELD_H_
#define ROUSE_SCHEDULER_MAIN_YIELD_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <cstdint>

namespace rouse::scheduler {

// MainYield
//
// Belongs to one worker. The yield lasts until the tasks that were waiting at
// its beginning have had their turn.
class MainYield {
 public:
  // Begins a yield of at most `turns` turns. `by_force` says whether the budget
  // is used up.
  void Begin(size_t turns, bool by_force) {
    turns_ = turns;
    by_force_ = by_force;
  }

  bool IsInProgress() const { return turns_ != 0; }

  // Counts a turn. Returns whether the turn was the last.
  //
  // REQUIRES: a yield is in progress.
  bool CountTurn() { return --turns_ == 0; }

  // Ends the yield without any further effect.
  void Cancel() { turns_ = 0; }

  // Ends the yield: the future that has yielded comes next. Returns whether the
  // driver must be checked before, which is not the case after a forced yield.
  bool Finish() {
    Cancel();
    if (!by_force_) return true;
    ++forced_;
    return false;
  }

  // Returns the number of polls before which the driver was not checked: polls
  // after forced yields.
  uint64_t forced() const { return forced_; }

 private:
  // Number of turns, at most, until the yield ends; 0 without a yield.
  size_t turns_ = 0;
  uint64_t forced_ = 0;
  bool by_force_ = false;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_MAIN_YIELD_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: event_check.h
// -----------------------------------------------------------------------------
//
// When a worker with tasks checks the driver for events. Internal to the
// scheduler.

#ifndef ROUSE_SCHEDULER_EVENT_CHECK_H_
#define ROUSE_SCHEDULER_EVENT_CHECK_H_

#include "rouse/base/cxx20.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace rouse::scheduler {

// EventCheck
//
// Belongs to one worker. Numbers the worker's checks for events, and knows when
// the next periodic check is due: see `Options::event_interval`.
//
// A check by any worker serves all workers. The more workers there are, the
// longer is the time between the checks of each: if all checked as often as one
// does, they would mostly wait for the driver's cache line.
class EventCheck {
 public:
  // Returns the shortest time between two checks of one of `workers` workers: 0
  // for a single worker, and so much that all workers together check every 250
  // nanoseconds at most; but no longer than 50 microseconds.
  static absl::Duration Gap(size_t workers) {
    return std::min(absl::Nanoseconds(250) * (workers - 1),
                    absl::Microseconds(50));
  }

  explicit EventCheck(uint64_t gap_cycles) : gap_(gap_cycles) {}

  // Returns whether the worker has not checked within the gap before `cycles`.
  bool IsTime(uint64_t cycles) const { return cycles - last_cycles_ >= gap_; }

  // Returns whether the periodic check is due, `polls` polls after the worker's
  // first, with an interval of `interval` polls.
  bool IsDue(uint64_t polls, uint32_t interval) const {
    return polls - last_polls_ >= interval;
  }

  // Returns the number of further polls until the periodic check is due.
  uint64_t PollsLeft(uint64_t polls, uint32_t interval) const {
    return IsDue(polls, interval) ? 0 : last_polls_ + interval - polls;
  }

  // Called when the periodic check begins.
  void Begin(uint64_t polls) { last_polls_ = polls; }

  // Called after each check, periodic or not, at the time `cycles`.
  void Count(uint64_t cycles) {
    last_cycles_ = cycles;
    if (++number_ == 0) number_ = 1;
  }

  // Returns a number that grows with each check, and is not 0. A task that
  // yields is marked with this number: if the two are equal, there has been no
  // check since.
  uint16_t number() const { return number_; }

 private:
  const uint64_t gap_;
  uint64_t last_cycles_ = 0;
  uint64_t last_polls_ = 0;
  uint16_t number_ = 1;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_EVENT_CHECK_H_

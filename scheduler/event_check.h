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

#include <cstdint>

namespace rouse::scheduler {

// EventCheck
//
// Belongs to one worker. Numbers the worker's checks for events, and knows when
// the next periodic check is due: see `Options::event_interval`.
class EventCheck {
 public:
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

  // Called after each check, periodic or not.
  void Count() {
    if (++number_ == 0) number_ = 1;
  }

  // Returns a number that grows with each check, and is not 0. A task that
  // yields is marked with this number: if the two are equal, there has been no
  // check since.
  uint16_t number() const { return number_; }

 private:
  uint64_t last_polls_ = 0;
  uint16_t number_ = 1;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_EVENT_CHECK_H_

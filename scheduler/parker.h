// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: parker.h
// -----------------------------------------------------------------------------
//
// How a worker sleeps: in the driver, if no other worker does, else on a futex.
// Internal to the scheduler.

#ifndef ROUSE_SCHEDULER_PARKER_H_
#define ROUSE_SCHEDULER_PARKER_H_

#include <cstdint>

#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/scheduler/driver.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::scheduler {

// Parker
//
// One worker's. `Unpark()` is for any thread, the rest for the worker.
class Parker {
 public:
  // `driver` outlives the parker.
  explicit Parker(SharedDriver& driver);
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;

  // Blocks until unparked, or until the driver has had an event. If unparked
  // before it looks for events of the driver, and returns at once.
  void Park();

  // Looks for events of the driver, unless another worker does. Returns whether
  // it has looked.
  bool PollDriver();

  // Whether the next `Park()` would return at once.
  bool IsUnparked() const;

  // Ends the current `Park()` or else the next one. What came before is visible
  // to the worker after.
  void Unpark();

 private:
  SharedDriver& driver_;
  ThreadParker thread_;
  const ThreadParker::Unparker thread_unparker_;
  // The protocol is in parker.cc.
  Atomic<uint32_t> state_;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_PARKER_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: parker.h
// -----------------------------------------------------------------------------
//
// A `Parker` lets a worker sleep: in the driver, if no other worker does, and
// otherwise on a futex. Internal to the scheduler.

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
// Belongs to one worker. `Unpark()` can be called by any thread, the other
// functions only by the worker.
class Parker {
 public:
  // REQUIRES: `driver` outlives the parker.
  explicit Parker(SharedDriver& driver);
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;

  // Blocks until unparked or, in the driver, until the driver has had an event.
  // If unparked before, returns at once, but checks for events of the driver
  // first, unless another thread holds the driver.
  void Park();

  // Checks for events of the driver, unless another worker does. Returns
  // whether it has checked.
  bool PollDriver();

  // Begins a park that blocks in an event loop other than the driver, and
  // returns how long that loop may wait: see `AnyDriver::PrepareToWait()`. The
  // worker has the driver until `EndWait()`, which checks the driver for
  // events.
  //
  // REQUIRES: no other worker shares the driver.
  absl::Duration BeginWait();
  void EndWait();

  // Returns whether the next `Park()` would return at once.
  bool IsUnparked() const;

  // Ends the current `Park()`, or otherwise the next one. Writes before this
  // call are visible to the worker after its park.
  void Unpark();

 private:
  SharedDriver& driver_;
  ThreadParker thread_;
  const ThreadParker::Unparker thread_unparker_;
  // The protocol is described in parker.cc.
  Atomic<uint32_t> state_;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_PARKER_H_

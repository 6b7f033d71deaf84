// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: parking_driver.h
// -----------------------------------------------------------------------------
//
// A driver without events, from which tests of the scheduler derive drivers
// whose parks or checks take long.

#ifndef ROUSE_TESTING_INTERNAL_PARKING_DRIVER_H_
#define ROUSE_TESTING_INTERNAL_PARKING_DRIVER_H_

#include "absl/time/time.h"
#include "rouse/scheduler/driver.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::testing::internal {

// ParkingDriver
class ParkingDriver : public scheduler::AnyDriver {
 public:
  // Blocks until the next `Unpark()`.
  void Park() override { parker_.Park(); }
  // Returns at once: there are no events.
  void ParkFor(absl::Duration /*limit*/) override {}
  absl::Duration PrepareToWait() override { return absl::ZeroDuration(); }
  void Shutdown() override {}
  void Unpark() const override { unparker_.Unpark(); }

 private:
  ThreadParker parker_;
  const ThreadParker::Unparker unparker_ = parker_.unparker();
};

}  // namespace rouse::testing::internal

#endif  // ROUSE_TESTING_INTERNAL_PARKING_DRIVER_H_

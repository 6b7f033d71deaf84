// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: io_outcome.h
// -----------------------------------------------------------------------------
//
// For use in reactor/, net/ and process/ only: what a poll of a system call has
// returned. An `IoOutcome` fits into a register, and costs nothing to pass on.
// Only the outermost function makes a `StatusOr`.

#ifndef ROUSE_REACTOR_IO_OUTCOME_H_
#define ROUSE_REACTOR_IO_OUTCOME_H_

#include "rouse/base/cxx20.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace rouse::reactor {

// IoOutcome
//
// A value. Thread-safe like an integer.
class IoOutcome {
 public:
  // Makes the outcome of a call that must wait.
  static constexpr IoOutcome Pending() { return IoOutcome(kPendingValue); }
  // Makes the outcome of a call that has returned `count`.
  static constexpr IoOutcome Count(size_t count) {
    return IoOutcome(static_cast<int64_t>(count));
  }
  // Makes the outcome of a call that has failed with `error`, a value of
  // `errno`. A call that has left no error in `errno` has failed with EIO.
  static constexpr IoOutcome Failed(int error) {
    return IoOutcome(kCannotBecomeReadyValue - (error > 0 ? error : EIO));
  }
  // Makes the outcome of a call that was not made, because its source was
  // deregistered or its reactor shut down.
  static constexpr IoOutcome CannotBecomeReady() {
    return IoOutcome(kCannotBecomeReadyValue);
  }

  // Returns whether the call has returned a number.
  constexpr bool IsCount() const { return value_ >= 0; }
  // Returns whether the call must wait.
  constexpr bool IsPending() const { return value_ == kPendingValue; }

  // Returns the number that the call has returned. REQUIRES: `IsCount()`.
  constexpr size_t count() const { return static_cast<size_t>(value_); }

  // Returns the call's `errno`, or 0 if the call was not made.
  // REQUIRES: neither `IsCount()` nor `IsPending()`.
  constexpr int error() const {
    return static_cast<int>(kCannotBecomeReadyValue - value_);
  }

 private:
  static constexpr int64_t kPendingValue = -1;
  // The values below are errors.
  static constexpr int64_t kCannotBecomeReadyValue = -2;

  explicit constexpr IoOutcome(int64_t value) : value_(value) {}

  int64_t value_;
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_IO_OUTCOME_H_

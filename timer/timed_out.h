// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: timed_out.h
// -----------------------------------------------------------------------------
//
// Tells a timeout from an error of what it was put on:
//
//   absl::StatusOr<Reply> reply =
//       co_await rouse::Timeout(absl::Seconds(1), Ask(server));
//   if (rouse::TimedOut(reply.status())) {
//     ...   // no answer within a second
//   }

#ifndef ROUSE_TIMER_TIMED_OUT_H_
#define ROUSE_TIMER_TIMED_OUT_H_

#include "absl/status/status.h"

namespace rouse {

// TimedOut()
//
// Returns whether `status` is the DeadlineExceeded of a timeout whose time was
// up: of the `Timeout` that was awaited, of a `StreamTimeout`, or of their
// namesakes in `rouse::heap`.
//
// Returns false for every other error, such as a DeadlineExceeded of the
// operating system, and for an error that the future in a `Timeout` has given,
// also if that has come from a `Timeout` within the future.
//
// The mark is a payload of the status: it is copied with the status, and lost
// in a new status that is made of the code and the message of the old one. A
// status with it does not equal one without. A function that returns such a
// status to its caller, as `OrReturn` does, hands on the mark; only a `Timeout`
// around the function's future removes it.
//
// Thread-safe. Costs a comparison, and for a DeadlineExceeded the look for a
// payload.
bool TimedOut(const absl::Status& status);

namespace internal {

// The error of a timeout.
absl::Status MakeTimedOut();

// Makes `TimedOut(status)` false.
void ForgetTimedOut(absl::Status& status);

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_TIMER_TIMED_OUT_H_

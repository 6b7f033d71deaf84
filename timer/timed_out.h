// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: timed_out.h
// -----------------------------------------------------------------------------
//
// `TimedOut()` tells a timeout from other errors of a future with a timeout:
//
//   absl::StatusOr<Reply> reply =
//       co_await rouse::Timeout(absl::Seconds(1), Ask(server));
//   if (rouse::TimedOut(reply.status())) {
//     ...   // no answer within a second
//   }

#ifndef ROUSE_TIMER_TIMED_OUT_H_
#define ROUSE_TIMER_TIMED_OUT_H_

#include "rouse/base/cxx20.h"

#include "absl/status/status.h"

namespace rouse {

// TimedOut()
//
// Returns whether `status` is the DeadlineExceeded of a timeout whose time was
// up: of the `Timeout` that was awaited, of a `StreamTimeout`, or of their
// namesakes in `rouse::heap`.
//
// Returns false for every other error, such as a DeadlineExceeded of the
// operating system. Also returns false for an error of the future in a
// `Timeout`, even if the error comes from a `Timeout` within that future.
//
// The mark is a payload of the status. A copy of the status has the mark; a new
// status made of the code and the message of the old status does not. A status
// with the mark does not equal a status without. A function that returns such a
// status to its caller, as `OrReturn` does, passes the mark on; only a
// `Timeout` around the function's future removes the mark.
//
// Thread-safe. Costs a comparison and, for a DeadlineExceeded, the search for a
// payload.
bool TimedOut(const absl::Status& status);

namespace internal {

// Returns the error of a timeout.
absl::Status MakeTimedOut();

// Removes the mark, which makes `TimedOut(status)` false.
void ForgetTimedOut(absl::Status& status);

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_TIMER_TIMED_OUT_H_

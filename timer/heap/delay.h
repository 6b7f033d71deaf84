// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: delay.h
// -----------------------------------------------------------------------------
//
// `Delay` waits until a time has passed, in a program without a runtime:
//
//   absl::Status status = BlockOn(heap::Delay(absl::Seconds(1)));
//
// A delay can be put off:
//
//   heap::Delay idle(absl::Seconds(30));
//   while (...) {
//     ... wait for a message, or for `idle` ...
//     RETURN_IF_ERROR(idle.Reset(absl::Seconds(30)));
//   }
//
// Within a runtime use `Sleep` ("rouse/timer/sleep.h"), which allocates
// nothing.

#ifndef ROUSE_TIMER_HEAP_DELAY_H_
#define ROUSE_TIMER_HEAP_DELAY_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/timer/heap/ref_counted.h"
#include "rouse/timer/heap/scheduled_timer.h"
#include "rouse/timer/heap/timer_core.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::heap {

// Delay
//
// A future of an `absl::Status`: OK when the time has passed, or `kUnavailable`
// if the timer was destroyed earlier or never existed.
//
// # Time
//
// A delay uses the clock of its timer. Unlike the time of a `Sleep`, the time
// of a delay starts when the delay is made. A delay never ends early. If the
// deadline has passed, the delay ends when the timer next advances. A duration
// too long for the clock never ends.
//
// # Use
//
// A delay can be moved at any time, and is for a single thread at a time.
// Polling a delay that has ended and was not reset is a `Panic()`. Ending takes
// a unit of the task's budget.
//
// Destroying a delay cancels it, and drops its waker unless the timer's thread
// is calling the waker at the moment. The timer drops the rest at the next
// check.
//
// Making, resetting and destroying a delay cost a few atomic operations here,
// and O(log n) on the timer's thread. Making a delay allocates. Making and
// resetting wake the timer's thread.
class [[nodiscard("a Delay does nothing until it is awaited")]] Delay {
 public:
  // Makes a delay with the `DefaultTimer()`.
  explicit Delay(AnyDuration duration);
  explicit Delay(Instant deadline);
  // Makes a delay with the timer of `handle`.
  Delay(const TimerHandle& handle, AnyDuration duration)
      : Delay(handle, handle.clock().Now() + duration) {}
  Delay(const TimerHandle& handle, Instant deadline);

  // A moved-from delay may only be destroyed or assigned to.
  Delay(Delay&&) noexcept = default;
  Delay& operator=(Delay other) noexcept;
  ~Delay();

  PollResult<absl::Status> Poll(Context& cx);

  // Restarts the delay with another deadline. May be called at any time. From
  // the return on, the delay does not end at the old deadline. If a task waits,
  // the task continues to wait, and needs no poll to be woken at the new
  // deadline; before that it may be woken for nothing. A delay that has ended
  // must be polled again.
  //
  // Returns `kUnavailable` if the timer has been destroyed: then the delay is
  // `kUnavailable`, too.
  absl::Status ResetAt(Instant deadline);
  // Like `ResetAt()`, with a deadline `duration` from now.
  absl::Status Reset(AnyDuration duration);

  // Returns when the delay ends or has ended.
  Instant Deadline() const { return node_->deadline(); }

 private:
  Ref<internal::TimerCore> core_;
  Ref<ScheduledTimer> node_;  // null after a move from this
  bool has_ended_ = false;
};

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_DELAY_H_

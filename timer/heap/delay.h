// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: delay.h
// -----------------------------------------------------------------------------
//
// `Delay` waits for a time to pass, in a program that has no runtime:
//
//   absl::Status status = BlockOn(heap::Delay(absl::Seconds(1)));
//
// One that is kept can be put off:
//
//   heap::Delay idle(absl::Seconds(30));
//   while (...) {
//     ... wait for a message, or for `idle` ...
//     RETURN_IF_ERROR(idle.Reset(absl::Seconds(30)));
//   }
//
// Within a runtime take `Sleep` ("rouse/timer/sleep.h"), which allocates
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
// A future of an `absl::Status`: OK when the time has passed, `kUnavailable`
// when the timer has gone before that, or there never was one.
//
// # Time
//
// It is on the clock of its timer. Unlike that of a `Sleep` it starts when the
// delay is made. It never ends early; a deadline that is past ends when the
// timer next advances. Durations that are too long for the clock are forever.
//
// # Use
//
// It may be moved at any time, and is for one thread at a time. Polling one
// that has ended and was not reset is a `Panic()`. Ending takes a unit of the
// task's budget.
//
// Destroying it cancels it, and drops its waker, unless the timer's thread is
// calling that at this moment. The timer forgets the rest when it next looks.
//
// Making, resetting and destroying one cost a few atomic operations here, and
// O(log n) on the timer's thread; making one allocates, and the first two wake
// that thread.
class [[nodiscard("a Delay does nothing until it is awaited")]] Delay {
 public:
  // With the `DefaultTimer()`.
  explicit Delay(AnyDuration duration);
  explicit Delay(Instant deadline);
  // With the timer of `handle`.
  Delay(const TimerHandle& handle, AnyDuration duration)
      : Delay(handle, handle.clock().Now() + duration) {}
  Delay(const TimerHandle& handle, Instant deadline);

  // What was moved from may only be destroyed or assigned to.
  Delay(Delay&&) noexcept = default;
  Delay& operator=(Delay other) noexcept;
  ~Delay();

  PollResult<absl::Status> Poll(Context& cx);

  // Begins again, with another end; may be called at any time. From the return
  // on it does not end at the old one. If a task waits it goes on waiting and
  // needs no poll to be woken at the new time, but may be woken for nothing,
  // before. One that has ended is to be polled again.
  //
  // `kUnavailable` if the timer has gone: then the delay is, too.
  absl::Status ResetAt(Instant deadline);
  // The same, for `duration` from now.
  absl::Status Reset(AnyDuration duration);

  // When it ends or has ended.
  Instant Deadline() const { return node_->deadline(); }

 private:
  Ref<internal::TimerCore> core_;
  Ref<ScheduledTimer> node_;  // null if it was moved from
  bool has_ended_ = false;
};

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_DELAY_H_

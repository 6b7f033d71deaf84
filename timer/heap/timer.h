// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: timer.h
// -----------------------------------------------------------------------------
//
// A `Timer` ends `Delay`s (delay.h), for a program without a runtime. Most
// programs need not make a timer: a delay without a handle uses the timer of a
// helper thread, see timer_handle.h. An event loop can also drive a timer:
//
//   heap::Timer timer;
//   heap::Delay delay(timer.handle(), absl::Seconds(1));
//   while (...) {
//     Context cx(waker_of_this_loop);
//     static_cast<void>(timer.Poll(cx));
//     timer.Advance();
//     ... wait for events, or a wake, until timer.NextEvent() ...
//   }

#ifndef ROUSE_TIMER_HEAP_TIMER_H_
#define ROUSE_TIMER_HEAP_TIMER_H_

#include <memory>
#include <optional>

#include "rouse/timer/clock.h"
#include "rouse/timer/heap/arc_list.h"
#include "rouse/timer/heap/heap.h"
#include "rouse/timer/heap/ref_counted.h"
#include "rouse/timer/heap/scheduled_timer.h"
#include "rouse/timer/heap/timer_core.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::heap {

// Timer
//
// A heap of deadlines. A timer is for a single thread at a time, but the delays
// and handles are for any thread. A timer is also a future, which is never
// ready: polling it arranges for a wake when a delay is made or reset, which
// may bring the next event forward. Cancelling a delay causes no wake.
//
// # Time
//
// A timer reads its clock only in `Advance()`. Nothing fires early. How late a
// delay fires depends on the code that drives the timer: there are no ticks.
//
// # Cost
//
// Each of the three calls checks all changes, at O(log n) for each delay that
// was made, reset or cancelled since. Firing a delay costs O(log n), and wakes
// the task on this thread. A deadline takes 40 bytes here, including 16 in the
// heap proper, in addition to the delay's memory.
//
// Checking the changes may allocate. If there is no memory, the
// `std::bad_alloc` is passed on and nothing is lost: the next call continues.
//
// # Destroying it
//
// Every delay that has not fired is woken, and is `kUnavailable`. So is each
// delay that is made or reset later.
class Timer {
 public:
  // Makes a timer with a clock of its own.
  Timer() : Timer(std::make_shared<Clock>()) {}
  explicit Timer(std::shared_ptr<Clock> clock);
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer();

  // Returns a handle for delays with this timer, and the timer's clock.
  TimerHandle handle() const { return TimerHandle(core_); }
  const Clock& clock() const { return *core_->clock(); }

  // Returns kPending, always.
  PollResult<void> Poll(Context& cx);

  // Returns the earliest deadline, by which to call `Advance()`, or nothing if
  // there is no deadline. The delay of this deadline may have been reset or
  // cancelled in the meantime. `Instant::Max()` never comes.
  std::optional<Instant> NextEvent();

  // Fires the delays whose deadlines are at or before `now`, in the order of
  // their deadlines. `Instant::Max()` never comes, even if `now` is
  // `Instant::Max()`. A waker may use the timer, but must not destroy it. An
  // exception of a waker is passed on; the delays that are left fire at the
  // next call.
  void AdvanceTo(Instant now);

  // Like `AdvanceTo()`, with the present of the clock.
  void Advance() { AdvanceTo(clock().Now()); }

 private:
  void LookAtChanges();
  void LookAtBatch();
  void Update(Ref<ScheduledTimer> node);

  const Ref<internal::TimerCore> core_;
  Heap<Instant, Ref<ScheduledTimer>> heap_;
  // Nodes that were taken from the core and have not been checked. Empty
  // between calls, except after a call that threw.
  ArcList<ScheduledTimer>::Batch changed_;
};

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_TIMER_H_

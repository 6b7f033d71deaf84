// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: timer.h
// -----------------------------------------------------------------------------
//
// A `Timer` ends `Delay`s (delay.h), for a program that has no runtime. Most
// need not make one: a delay without a handle uses a helper thread's, see
// timer_handle.h. An event loop of one's own drives its own:
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
// A heap of deadlines. For one thread at a time: its delays and handles are for
// any. It is also a future, which is never ready: polling it arranges for a
// wake when a delay is made or reset, which may bring the next event forward.
// One that is cancelled wakes nobody.
//
// # Time
//
// It takes the time from its clock, and only in `Advance()`. Nothing fires
// early. How late a delay fires is for whoever drives the timer: there are no
// ticks.
//
// # Cost
//
// All that has changed is looked at in each of the three calls, at O(log n) for
// each delay that was made, reset or cancelled since. A delay that fires is
// O(log n), and wakes its task on this thread. A deadline takes 40 bytes here,
// 16 of them in the heap proper, beside what its delay has.
//
// Looking at what has changed may allocate. If there is no memory, the
// `std::bad_alloc` is passed on and nothing is lost: the next call goes on.
//
// # Destroying it
//
// Every delay that has not fired is woken, and is `kUnavailable`; so is each
// that is made or reset later.
class Timer {
 public:
  // On a clock of its own.
  Timer() : Timer(std::make_shared<Clock>()) {}
  explicit Timer(std::shared_ptr<Clock> clock);
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer();

  TimerHandle handle() const { return TimerHandle(core_); }
  const Clock& clock() const { return *core_->clock(); }

  // Pending, always.
  PollResult<void> Poll(Context& cx);

  // The earliest deadline, or nothing if there is none: by when to call
  // `Advance()`. May be that of a delay which has been reset meanwhile, or
  // cancelled. `Instant::Max()` is never.
  std::optional<Instant> NextEvent();

  // Fires the delays whose deadline is `now` or earlier, in the order of their
  // deadlines; `Instant::Max()` is never, also by then. A waker that is called
  // may use the timer, but not destroy it. What it throws is passed on; the
  // delays after it fire at the next call.
  void AdvanceTo(Instant now);

  // The same with the clock's present.
  void Advance() { AdvanceTo(clock().Now()); }

 private:
  void LookAtChanges();
  void LookAtBatch();
  void Update(Ref<ScheduledTimer> node);

  const Ref<internal::TimerCore> core_;
  Heap<Instant, Ref<ScheduledTimer>> heap_;
  // What was taken from the core and has not been looked at. Empty between
  // calls, but after one that threw.
  ArcList<ScheduledTimer>::Batch changed_;
};

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_TIMER_H_

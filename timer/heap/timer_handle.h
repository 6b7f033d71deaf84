// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: timer_handle.h
// -----------------------------------------------------------------------------
//
// A `TimerHandle` is how a `Delay` finds its `Timer`:
//
//   heap::Delay delay(timer.handle(), absl::Seconds(1));
//   heap::Delay other(absl::Seconds(1));   // with DefaultTimer()
//
// The default (default_timer.h) is a timer on a helper thread. A program that
// drives a timer itself says so, before it makes a delay:
//
//   heap::Timer timer;
//   CHECK_OK(timer.handle().SetAsGlobalFallback());

#ifndef ROUSE_TIMER_HEAP_TIMER_HANDLE_H_
#define ROUSE_TIMER_HEAP_TIMER_HANDLE_H_

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/ref_counted.h"
#include "rouse/timer/heap/timer_core.h"

namespace rouse::heap {

// TimerHandle
//
// Weak: it does not keep the timer. What is made with the handle of a timer
// that has gone is `kUnavailable` when it is polled. Copying costs one atomic
// operation. Thread-safe as an `int` is.
class TimerHandle {
 public:
  // A handle of no timer: what is made with it says `kUnavailable`, with the
  // message of `why`.
  static TimerHandle Defunct(const absl::Status& why);

  // Makes this handle the default, for as long as the process lives. Once:
  // `kAlreadyExists` if there is a default, also if that is the helper
  // thread's.
  absl::Status SetAsGlobalFallback() const;

  // What was set by that, if anything was.
  static std::optional<TimerHandle> GlobalFallback();

  // The timer's clock, also when the timer has gone.
  const Clock& clock() const { return *core_->clock(); }

 private:
  friend class Delay;
  friend class Timer;

  explicit TimerHandle(Ref<internal::TimerCore> core)
      : core_(std::move(core)) {}

  Ref<internal::TimerCore> core_;
};

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_TIMER_HANDLE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: timer_handle.h
// -----------------------------------------------------------------------------
//
// A `TimerHandle` leads a `Delay` to its `Timer`:
//
//   heap::Delay delay(timer.handle(), absl::Seconds(1));
//   heap::Delay other(absl::Seconds(1));   // with DefaultTimer()
//
// The default (default_timer.h) is a timer on a helper thread. A program that
// drives a timer makes the timer the default, before making a delay:
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
// A handle is weak: it does not keep the timer alive. An object made with the
// handle of a destroyed timer is `kUnavailable` when polled. Copying costs one
// atomic operation. A handle is as thread-safe as an `int`.
class TimerHandle {
 public:
  // Returns a handle of no timer: an object made with the handle gives
  // `kUnavailable`, with the message of `why`.
  static TimerHandle Defunct(const absl::Status& why);

  // Makes this handle the default, for the life of the process. At most one
  // call succeeds. Returns `kAlreadyExists` if there is already a default, even
  // if the default is the helper thread's.
  absl::Status SetAsGlobalFallback() const;

  // Returns the handle that `SetAsGlobalFallback()` has set, if any.
  static std::optional<TimerHandle> GlobalFallback();

  // Returns the timer's clock, even after the timer was destroyed.
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

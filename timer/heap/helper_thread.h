// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: helper_thread.h
// -----------------------------------------------------------------------------
//
// `HelperThread` drives a `Timer` on a thread of its own:
//
//   absl::StatusOr<heap::HelperThread> helper = heap::HelperThread::Start();
//   if (!helper.ok()) return helper.status();
//   heap::Delay delay(helper->handle(), absl::Seconds(1));

#ifndef ROUSE_TIMER_HEAP_HELPER_THREAD_H_
#define ROUSE_TIMER_HEAP_HELPER_THREAD_H_

#include <memory>

#include "absl/status/statusor.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/timer_handle.h"

namespace rouse::heap {

// HelperThread
//
// The thread sleeps until the next deadline, or for as long as there is none;
// that is as exact as the system's timers. While the clock is paused it sleeps
// until that is advanced or resumed. Tasks are woken on it: a waker that
// throws ends the program.
//
// Destroying it ends the thread and waits for that; its delays that have not
// fired are `kUnavailable`. Not to be done from a waker that it calls.
//
// Move-only. What was moved from is only to be destroyed.
class HelperThread {
 public:
  // `kUnavailable` if there can be no more threads. `kInvalidArgument` if the
  // clock advances by itself (see `Clock::SetAutoAdvance()`): that is for
  // drivers that know when nothing else can run, and this thread would wait for
  // ever. Take a `wheel::Driver`, or a clock that the test advances.
  static absl::StatusOr<HelperThread> Start() {
    return Start(std::make_shared<Clock>());
  }
  static absl::StatusOr<HelperThread> Start(std::shared_ptr<Clock> clock);

  HelperThread(HelperThread&&) noexcept;
  HelperThread& operator=(HelperThread&&) = delete;
  ~HelperThread();

  TimerHandle handle() const;

  // Lets the thread run until the process ends.
  void Forget() &&;

 private:
  class Driver;

  explicit HelperThread(std::unique_ptr<Driver> driver);

  std::unique_ptr<Driver> driver_;
};

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_HELPER_THREAD_H_

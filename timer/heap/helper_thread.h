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
// The thread sleeps until the next deadline, or for as long as there is no
// deadline, as exactly as the system's timers permit. While the clock is
// paused, the thread sleeps until the clock is advanced or resumed. Tasks are
// woken on this thread: a throwing waker ends the program.
//
// Destroying a `HelperThread` ends the thread and waits for the end. Its delays
// that have not fired are `kUnavailable`. A waker must not destroy the
// `HelperThread` that calls the waker.
//
// Move-only. A moved-from `HelperThread` may only be destroyed.
class HelperThread {
 public:
  // Starts a thread. Returns `kUnavailable` if no more threads can be started.
  // Returns `kInvalidArgument` if the clock auto-advances (see
  // `Clock::SetAutoAdvance()`): auto-advance is for drivers that know when
  // nothing else can run, and the helper thread would wait forever. Use a
  // `wheel::Driver`, or a clock that the test advances.
  static absl::StatusOr<HelperThread> Start() {
    return Start(std::make_shared<Clock>());
  }
  static absl::StatusOr<HelperThread> Start(std::shared_ptr<Clock> clock);

  HelperThread(HelperThread&&) noexcept;
  HelperThread& operator=(HelperThread&&) = delete;
  ~HelperThread();

  // Returns a handle for delays on this thread.
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

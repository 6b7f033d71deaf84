// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: watchdog.h
// -----------------------------------------------------------------------------
//
// A task that computes for a second without a suspension should have been a
// blocking call. As long as it is not, the watchdog keeps the rest of the
// program going.
//
// A worker in a long poll may leave behind
//
//   private tasks         which it would have run or shared next
//                         (private_queue.h);
//   the driver            if it was the last to check for events, and the
//                         others sleep on their futexes: no socket and no
//                         timer wakes any worker (tokio #4730).
//
// The tasks that the worker has shared are no concern: they have been stolen,
// or will be. Shorter polls also delay events, because a worker checks for
// events after a number of polls, however long they take.
//
// A worker that counts as searching also delays tasks, because no other worker
// is woken meanwhile (idle.h). It ends its search when it finds a task, but may
// be off its processor, or in the driver, with events that wake tasks of other
// schedulers.
//
// Therefore the watchdog's thread checks all workers every half of the bound. A
// worker that is awake and has not begun a poll since the last check is stuck.
// Its private tasks are moved to the global queue, and the long poll is
// reported, once, for the metrics and for `Builder::OnLongPoll()`. If no thread
// has left the driver since, and none is in the driver, a sleeping worker is
// woken and then parks there; if no worker sleeps, the watchdog itself checks
// for events. If tasks wait for any worker at two checks in a row, a sleeping
// worker is woken. Work that arrives just after a check is handled at the
// second check after that: within the bound.
//
// After all workers have been asleep for a while, the watchdog sleeps, too,
// until a worker awakes or is woken.

#ifndef ROUSE_SCHEDULER_WATCHDOG_H_
#define ROUSE_SCHEDULER_WATCHDOG_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/thread.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::scheduler {

// Watchdog
//
// Owns a thread. Must be started before the scheduler's workers run, and
// destroyed when they no longer run.
class Watchdog {
 public:
  // Starts to watch over `scheduler`, which must outlive the watchdog, on a
  // thread with the name `name`. The thread calls `scope` first, and destroys
  // the result last. Fails like `Thread::Start()`.
  static absl::StatusOr<std::unique_ptr<Watchdog>> Start(
      Scheduler& scheduler, absl::Duration bound, const std::string& name,
      std::function<std::shared_ptr<void>()> scope = {});

  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  // Returns whether the calling thread is the watchdog's, as in a waker called
  // by the watchdog.
  //
  // REQUIRES: `Start()` has returned.
  bool IsThisThread() const { return thread_->IsThisThread(); }

 private:
  // Number of successive checks with all workers asleep after which the
  // watchdog sleeps. Each check costs some microseconds. Waking the watchdog
  // costs as much for a worker that comes back from sleep, so this must not
  // happen often.
  static constexpr int kQuietChecks = 10;

  Watchdog(Scheduler& scheduler, absl::Duration bound);

  void Run();
  // Checks the workers and the driver. Returns whether a worker is awake.
  bool Check();
  // Wakes a worker if tasks have waited since the last check.
  void SeeToTasks();
  void SeeToEvents();
  void SleepUntilAWorkerIsAwake();

  Scheduler& scheduler_;
  const absl::Duration period_;
  ThreadParker parker_;
  // Values at the last check, of the workers and of the driver.
  std::vector<uint64_t> ticks_;
  std::vector<uint64_t> progress_;
  uint64_t turns_ = 0;
  bool had_work_ = false;
  // True if the current poll of a worker has been reported.
  std::vector<bool> found_;
  Atomic<bool> stop_{false};
  std::optional<Thread> thread_;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_WATCHDOG_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: watchdog.h
// -----------------------------------------------------------------------------
//
// A task that computes for a second without a suspension should have been a
// blocking call. Until it is, the watchdog keeps the rest of the program going.
//
// A worker in a long poll may leave behind
//
//   tasks                 that it keeps to itself, and would have run or
//                         shared next (private_queue.h);
//   the driver            if it was the last to look for events, and the others
//                         sleep on their futexes: no socket and no timer wakes
//                         anybody (tokio #4730).
//
// What it has shared is no concern: it was stolen, or will be. Polls that are
// not as long keep events waiting, too: a worker looks for them after so many
// polls, whatever they take.
//
// So a thread looks at all workers every half of the bound. One that is awake
// and has not begun a poll since is stuck: what it keeps is moved to the shared
// queue, and it is told that it is in a long poll, once, for the metrics and
// for `Builder::OnLongPoll()`. If nobody has left the driver since, and nobody
// is in it, a sleeping worker is woken, which then parks there; if none sleeps,
// the watchdog itself looks for events. What came just after a look is seen to
// at the second look after: within the bound.
//
// While all workers have been asleep for a while the watchdog sleeps, too, and
// a worker that awakes wakes it.

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
// A thread. Started before the scheduler's workers run, destroyed when they do
// not any more.
class Watchdog {
 public:
  // Watches over `scheduler`, which outlives it, on a thread of this name.
  // `scope` is called there first, and what it returns destroyed last. Fails as
  // `Thread::Start()`.
  static absl::StatusOr<std::unique_ptr<Watchdog>> Start(
      Scheduler& scheduler, absl::Duration bound, const std::string& name,
      std::function<std::shared_ptr<void>()> scope = {});

  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  // Whether it has called the caller, such as a waker. Not to be asked before
  // `Start()` has returned.
  bool IsThisThread() const { return thread_->IsThisThread(); }

 private:
  // After so many looks at workers that are all asleep it sleeps itself. Each
  // costs some microseconds; to be woken costs a worker that comes back from
  // sleep as much, so it must not happen often.
  static constexpr int kQuietLooks = 10;

  Watchdog(Scheduler& scheduler, absl::Duration bound);

  void Run();
  // Whether a worker is awake.
  bool Look();
  void SeeToEvents();
  void SleepUntilAWorkerIsAwake();

  Scheduler& scheduler_;
  const absl::Duration period_;
  ThreadParker parker_;
  // At the last look: of the workers, and of the driver.
  std::vector<uint64_t> ticks_;
  std::vector<uint64_t> progress_;
  uint64_t turns_ = 0;
  // Whether the poll that a worker is in has been reported.
  std::vector<bool> found_;
  Atomic<bool> stop_{false};
  std::optional<Thread> thread_;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_WATCHDOG_H_

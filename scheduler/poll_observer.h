// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: poll_observer.h
// -----------------------------------------------------------------------------
//
// What a worker does before and after a poll if something observes polls:
// histograms, hooks, and reports of long polls. Internal to the scheduler.

#ifndef ROUSE_SCHEDULER_POLL_OBSERVER_H_
#define ROUSE_SCHEDULER_POLL_OBSERVER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "rouse/scheduler/current_poll.h"
#include "rouse/scheduler/metrics.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/poll_times.h"
#include "rouse/scheduler/task/task.h"

namespace rouse::scheduler {

// PollObserver
//
// Belongs to one worker. `Read()` and `OnFoundInPoll()` can be called by any
// thread, the other functions only by the thread that runs the worker.
class PollObserver {
 public:
  // REQUIRES: `options` outlives the observer.
  PollObserver(const Options& options, size_t worker);

  // Called before a poll of `task`. Returns the time at which the poll begins,
  // in cycles.
  //
  // REQUIRES: the caller keeps `task` until the end of the poll.
  uint64_t Begin(task::Header* task);

  // Called after a poll of `task` that began at `start`. Does not report the
  // poll if `Abandon()` was called.
  void End(task::Header* task, uint64_t start);

  // Ends the watch on the current poll, which is not reported from then on: the
  // worker is about to be given away, or the poll has thrown.
  void Abandon() {
    if (current_poll_ != nullptr) current_poll_->End();
  }

  // Called if `task` has yielded and will be polled again.
  void OnYielded(task::Header* task);

  // Counts and reports a long poll: see `Worker::OnFoundInPoll()`. `at_least`
  // is in cycles.
  bool OnFoundInPoll(uint64_t at_least);

  // Adds the histograms, and the number of long polls, to `metrics`.
  void Read(WorkerMetrics& metrics) const;

 private:
  void CountLongPoll();
  // Reports `task` after a long poll.
  void Report(task::Header* task, absl::Duration duration);

  const Options& options_;
  const size_t worker_;
  // Null if not asked for.
  const std::unique_ptr<PollTimes> poll_times_;
  const std::unique_ptr<PollTimes> schedule_latencies_;
  // Null if long polls are not reported.
  const std::unique_ptr<CurrentPoll> current_poll_;
  // Number of long polls found. Also written by the watchdog.
  std::atomic<uint64_t> long_polls_{0};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_POLL_OBSERVER_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: metrics.h
// -----------------------------------------------------------------------------
//
// What a scheduler has done so far (and with it a runtime, whose
// `RuntimeMetrics` are these and more):
//
//   scheduler::Metrics metrics = scheduler.metrics();
//   for (const scheduler::WorkerMetrics& worker : metrics.workers) {
//     LOG(INFO) << worker.polls << " polls, busy for " << worker.busy;
//   }
//
// Each worker counts for itself, in memory of its own, with plain stores; to
// read the counts disturbs nobody, and they are of about the same moment. They
// begin at zero, and do not wrap in any time that matters.

#ifndef ROUSE_SCHEDULER_METRICS_H_
#define ROUSE_SCHEDULER_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"

namespace rouse::scheduler {

// PollTimeBuckets
//
// How polls are counted by their length, or by how long their tasks have waited
// for them. A bucket is twice as wide as the one
// before; `linear_steps`, which is 1, 2, 4 or 8, divides each into so many
// equal parts. What is shorter than `shortest` shares a bucket, and what is
// longer than `longest` another.
struct PollTimeBuckets {
  absl::Duration shortest = absl::ZeroDuration();
  absl::Duration longest = absl::InfiniteDuration();
  uint32_t linear_steps = 1;
};

// So many polls took `from` or longer, and less than what the next one says; or
// so long did their tasks wait for them.
struct PollTimeBucket {
  absl::Duration from;
  uint64_t polls = 0;
};

struct WorkerMetrics {
  // Polls of tasks; cancelling one counts, too.
  uint64_t polls = 0;
  // Tasks taken from other workers, and how often some were.
  uint64_t steals = 0;
  uint64_t steal_operations = 0;
  // Tasks that did not fit where others can steal them when the worker gave up
  // all that it had, for instance to block in place.
  uint64_t overflows = 0;
  // How often the worker has parked; and how often again without having polled
  // a task since the last time.
  uint64_t parks = 0;
  uint64_t noop_parks = 0;
  // How often a poll ended because its budget was used up.
  uint64_t forced_yields = 0;
  // Polls that were found to keep the worker for long: by the watchdog, which
  // sees all that last for `LongPollBound()`, and of those that last for half
  // of that some. Without a watchdog, in a current-thread runtime, only if
  // there is an `OnLongPoll()`: those that last for the bound.
  uint64_t long_polls = 0;
  // Time not parked, as of the last time that the worker parked, and the mean
  // length of a poll lately, what lies between polls included: by the
  // processor's clock, whatever the scheduler's own says.
  absl::Duration busy;
  absl::Duration mean_poll_time;
  // Tasks that wait in its queue now.
  size_t local_queue_depth = 0;
  // Polls by their length, if `Options::poll_time_histogram` says so; else
  // empty. Each bucket is twice as wide as the one before, unless
  // `PollTimeBuckets` says otherwise.
  std::vector<PollTimeBucket> poll_times;
  // Polls by how long their tasks have waited for them, if
  // `Options::schedule_latency_histogram` says so; else empty. A task waits
  // from when it is put into a queue, because it was spawned or woken, or has
  // yielded, to when its poll begins: by the processor's clock, as above. One
  // that is woken while it is polled is put there when that poll has ended. A
  // poll counts with the worker that has polled.
  std::vector<PollTimeBucket> schedule_latencies;
};

struct Metrics {
  // In the order of their indices.
  std::vector<WorkerMetrics> workers;
  // How often a budget was used up, and how many long polls were found, on
  // whichever worker.
  uint64_t forced_yields = 0;
  uint64_t long_polls = 0;
  // Tasks that have been spawned. (Some that were refused at the end of the
  // scheduler may count.)
  uint64_t spawned_tasks = 0;
  // How often a task was queued by another thread than a worker's: spawned
  // there, or woken.
  uint64_t remote_schedules = 0;
  // How often a task was queued by a worker: all that were polled or wait now,
  // but for the former. Less by those that are on their way from a queue to a
  // poll, of which each worker has one at most; and, when the scheduler has
  // ended, by those that it has dropped.
  uint64_t local_schedules = 0;
  // Tasks that have not ended.
  size_t alive_tasks = 0;
  // Tasks that wait in the shared queue now.
  size_t inject_queue_depth = 0;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_METRICS_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: metrics.h
// -----------------------------------------------------------------------------
//
// What a scheduler has done so far. (A runtime's `RuntimeMetrics` contain the
// same values and more.)
//
//   scheduler::Metrics metrics = scheduler.metrics();
//   for (const scheduler::WorkerMetrics& worker : metrics.workers) {
//     LOG(INFO) << worker.polls << " polls, busy for " << worker.busy;
//   }
//
// Each worker counts in its own memory, with plain stores. Reading the counts
// disturbs no worker, and gives values of approximately the same moment. Counts
// begin at zero, and do not wrap in any relevant time.

#ifndef ROUSE_SCHEDULER_METRICS_H_
#define ROUSE_SCHEDULER_METRICS_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"

namespace rouse::scheduler {

// PollTimeBuckets
//
// The buckets for counting polls by their length, or by how long their tasks
// waited for them. Each bucket is twice as wide as the one before.
// `linear_steps`, which is 1, 2, 4 or 8, divides each bucket into this many
// equal parts. All times below `shortest` share a bucket, and all times above
// `longest` share another.
struct PollTimeBuckets {
  absl::Duration shortest = absl::ZeroDuration();
  absl::Duration longest = absl::InfiniteDuration();
  uint32_t linear_steps = 1;
};

// Number of polls with a length, or a wait before the poll, of `from` or more,
// but less than the `from` of the next bucket.
struct PollTimeBucket {
  absl::Duration from;
  uint64_t polls = 0;
};

// What a worker has done so far.
struct WorkerMetrics {
  // Polls of tasks. The cancellation of a task also counts.
  uint64_t polls = 0;
  // Number of tasks taken from other workers, and number of times the worker
  // took some.
  uint64_t steals = 0;
  uint64_t steal_operations = 0;
  // Tasks that did not fit into the stealable queue when the worker gave up all
  // tasks, for instance to block in place.
  uint64_t overflows = 0;
  // Number of times the worker has parked, and how many of these parks followed
  // the one before without a poll of a task in between.
  uint64_t parks = 0;
  uint64_t noop_parks = 0;
  // Number of polls ended because the budget was used up.
  uint64_t forced_yields = 0;
  // Number of long polls found. The watchdog finds every poll of
  // `LongPollBound()` or more, and some of the polls of at least half the
  // bound. Without a watchdog, in a current-thread runtime, long polls are
  // found only if there is an `OnLongPoll()`: the polls of `LongPollBound()` or
  // more.
  uint64_t long_polls = 0;
  // `busy` is the time spent neither parked nor spinning, as of the latest
  // measurement. (The worker measures before each park, and more often.)
  // `mean_poll_time` is the mean length of recent polls, including the time
  // between polls. Both are measured by the processor's clock, whatever the
  // scheduler's own clock says.
  absl::Duration busy;
  absl::Duration mean_poll_time;
  // Tasks waiting in the worker's own queues now.
  size_t local_queue_depth = 0;
  // Polls by their length, if `Options::poll_time_histogram` is set; otherwise
  // empty. Each bucket is twice as wide as the one before, unless
  // `PollTimeBuckets` says otherwise.
  std::vector<PollTimeBucket> poll_times;
  // Polls by how long their tasks waited for them, if
  // `Options::schedule_latency_histogram` is set; otherwise empty. A wait
  // begins when the task is put into a queue, because it was spawned or woken
  // or has yielded, and ends when the poll begins. A task woken during a poll
  // is put into a queue at the end of the poll. Waits are measured by the
  // processor's clock, as above. A poll counts for the worker that polled.
  std::vector<PollTimeBucket> schedule_latencies;
};

// What a scheduler has done so far.
struct Metrics {
  // Metrics of each worker, in the order of their indices.
  std::vector<WorkerMetrics> workers;
  // Number of polls that used up their budget, and number of long polls found,
  // on all workers together.
  uint64_t forced_yields = 0;
  uint64_t long_polls = 0;
  // Tasks spawned so far. (Some tasks refused at the end of the scheduler may
  // be included.)
  uint64_t spawned_tasks = 0;
  // Number of times a task was queued (spawned or woken) by a thread other than
  // a worker's.
  uint64_t remote_schedules = 0;
  // Number of times a task was queued by a worker: all tasks polled so far or
  // waiting now, except those counted by `remote_schedules`. The count lacks
  // tasks on their way from a queue to a poll (at most one for each worker)
  // and, after the scheduler has ended, the tasks dropped by the scheduler.
  uint64_t local_schedules = 0;
  // Tasks that have not ended.
  size_t alive_tasks = 0;
  // Tasks waiting in the global queue now.
  size_t inject_queue_depth = 0;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_METRICS_H_

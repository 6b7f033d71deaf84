// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/poll_observer.h"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/time/time.h"
#include "rouse/base/cycle_clock.h"
#include "rouse/scheduler/current_poll.h"
#include "rouse/scheduler/long_poll.h"
#include "rouse/scheduler/metrics.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/poll_times.h"
#include "rouse/scheduler/task/task.h"

namespace rouse::scheduler {

PollObserver::PollObserver(const Options& options, size_t worker)
    : options_(options),
      worker_(worker),
      poll_times_(options.poll_time_histogram
                      ? std::make_unique<PollTimes>(options.poll_time_buckets)
                      : nullptr),
      schedule_latencies_(
          options.schedule_latency_histogram
              ? std::make_unique<PollTimes>(options.schedule_latency_buckets)
              : nullptr),
      current_poll_(options.hooks.on_long_poll != nullptr
                        ? std::make_unique<CurrentPoll>()
                        : nullptr) {}

uint64_t PollObserver::Begin(task::Header* task) {
  if (schedule_latencies_ != nullptr) {
    if (const auto waited = task->EndWaiting(CycleClock::Now())) {
      schedule_latencies_->Count(*waited);
    }
  }
  if (options_.hooks.before_task_poll) {
    options_.hooks.before_task_poll(task->meta());
  }
  const uint64_t start = CycleClock::Now();
  if (current_poll_ != nullptr) current_poll_->Begin(task, start);
  return start;
}

void PollObserver::End(task::Header* task, uint64_t start) {
  const uint64_t cycles = CycleClock::Now() - start;
  if (poll_times_ != nullptr) poll_times_->Count(cycles);
  if (current_poll_ == nullptr) return;
  const CurrentPoll::Ended ended = current_poll_->End();
  const absl::Duration duration = CycleClock::ToDuration(cycles);
  const bool is_long = duration >= options_.long_poll_bound;
  if (is_long && ended.was_there && !ended.was_found) CountLongPoll();
  if (ended.was_there && (is_long || ended.was_found)) Report(task, duration);
}

void PollObserver::OnYielded(task::Header* task) {
  if (schedule_latencies_ != nullptr) task->BeginWaiting(CycleClock::Now());
}

void PollObserver::CountLongPoll() {
  // Relaxed: the count orders nothing.
  long_polls_.fetch_add(1, std::memory_order_relaxed);
}

void PollObserver::Report(task::Header* task, absl::Duration duration) {
  LongPoll poll;
  poll.task = task->meta();
  poll.duration = duration;
  poll.ended = true;
  poll.worker = worker_;
  poll.thread = gettid();
  task::Trace(task, poll.awaits);
  options_.hooks.on_long_poll(poll);
}

bool PollObserver::OnFoundInPoll(uint64_t at_least) {
  if (current_poll_ == nullptr) {
    CountLongPoll();
    return true;
  }
  const uint64_t now = CycleClock::Now();
  // Empty if the worker is in a hook, or in a waker called by the driver, or
  // already in another poll.
  const std::optional<CurrentPoll::Seen> seen =
      current_poll_->Find(now - std::min(at_least, now));
  if (!seen.has_value()) return false;
  CountLongPoll();
  LongPoll poll;
  poll.task = seen->task();
  poll.duration = CycleClock::ToDuration(now - seen->begun);
  poll.worker = worker_;
  poll.thread = seen->thread;
  options_.hooks.on_long_poll(poll);
  return true;
}

void PollObserver::Read(WorkerMetrics& metrics) const {
  // Relaxed: the count orders nothing.
  metrics.long_polls = long_polls_.load(std::memory_order_relaxed);
  if (poll_times_ != nullptr) metrics.poll_times = poll_times_->Read();
  if (schedule_latencies_ != nullptr) {
    metrics.schedule_latencies = schedule_latencies_->Read();
  }
}

}  // namespace rouse::scheduler

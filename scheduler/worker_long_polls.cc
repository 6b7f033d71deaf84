// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The reports that a worker makes of long polls.

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "rouse/base/cycle_clock.h"
#include "rouse/scheduler/current_poll.h"
#include "rouse/scheduler/long_poll.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/scheduler/worker.h"

namespace rouse::scheduler {

void Worker::ReportLongPoll(task::Header* task, absl::Duration duration) {
  LongPoll poll;
  poll.task = task->meta();
  poll.duration = duration;
  poll.ended = true;
  poll.worker = index_;
  poll.thread = gettid();
  task::Trace(task, poll.awaits);
  scheduler_.options().hooks.on_long_poll(poll);
}

bool Worker::OnFoundInPoll(absl::Duration at_least) {
  if (current_poll_ == nullptr) {
    // Relaxed: the count orders nothing.
    long_polls_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  const uint64_t now = CycleClock::Now();
  const auto cycles = static_cast<uint64_t>(
      absl::ToDoubleNanoseconds(at_least) * scheduler_.cycles_per_nanosecond());
  // Empty if the worker is in a hook, or in a waker called by the driver, or
  // already in another poll.
  const std::optional<CurrentPoll::Seen> seen =
      current_poll_->Find(now - std::min(cycles, now));
  if (!seen.has_value()) return false;
  // Relaxed: the count orders nothing.
  long_polls_.fetch_add(1, std::memory_order_relaxed);
  LongPoll poll;
  poll.task = seen->task();
  poll.duration = CycleClock::ToDuration(now - seen->begun);
  poll.worker = index_;
  poll.thread = seen->thread;
  scheduler_.options().hooks.on_long_poll(poll);
  return true;
}

}  // namespace rouse::scheduler

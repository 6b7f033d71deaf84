// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: current_poll.h
// -----------------------------------------------------------------------------
//
// A `CurrentPoll` shows other threads which task a worker polls. Internal to
// the scheduler, and kept only if long polls must be reported.

#ifndef ROUSE_SCHEDULER_CURRENT_POLL_H_
#define ROUSE_SCHEDULER_CURRENT_POLL_H_

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/scheduler/task/task_meta.h"

namespace rouse::scheduler {

// CurrentPoll
//
// The worker's thread begins and ends polls; any thread can see them.
class CurrentPoll {
 public:
  // A copy of the current poll's data, with the task's name.
  struct Seen {
    TaskMeta task() const { return {meta.id, name, meta.spawned_at}; }

    TaskMeta meta;  // without the name
    std::string name;
    uint64_t begun = 0;  // cycles
    pid_t thread = 0;
  };

  // Begins a poll of `task` at the time `now`, in cycles.
  //
  // REQUIRES: the caller keeps `task` until `End()`.
  void Begin(const task::Header* task, uint64_t now) {
    // The system is asked only once for each thread.
    static thread_local const pid_t here = gettid();
    const absl::MutexLock lock(&mu_);
    task_ = task;
    begun_ = now;
    thread_ = here;
  }

  struct Ended {
    bool was_there = false;  // false if the worker was given away
    bool was_found = false;
  };
  Ended End() {
    const absl::MutexLock lock(&mu_);
    return {std::exchange(task_, nullptr) != nullptr,
            std::exchange(found_, false)};
  }

  // Returns the current poll, and marks it as found, if it began at `until` or
  // before. Called by a thread that searches for long polls.
  std::optional<Seen> Find(uint64_t until) {
    const absl::MutexLock lock(&mu_);
    if (task_ == nullptr || begun_ > until) return std::nullopt;
    found_ = true;
    Seen seen;
    seen.meta = task_->meta();
    seen.name = std::string(seen.meta.name);
    seen.begun = begun_;
    seen.thread = thread_;
    return seen;
  }

 private:
  absl::Mutex mu_;
  const task::Header* task_ ABSL_GUARDED_BY(mu_) = nullptr;
  uint64_t begun_ ABSL_GUARDED_BY(mu_) = 0;
  pid_t thread_ ABSL_GUARDED_BY(mu_) = 0;
  bool found_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_CURRENT_POLL_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: long_poll.h
// -----------------------------------------------------------------------------
//
// A `LongPoll` describes a poll that has kept a thread from other tasks for
// long:
//
//   builder.OnLongPoll([](const rouse::LongPoll& poll) {
//     LOG(WARNING) << poll;
//   });

#ifndef ROUSE_SCHEDULER_LONG_POLL_H_
#define ROUSE_SCHEDULER_LONG_POLL_H_

#include <sys/types.h>

#include <cstddef>
#include <functional>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "rouse/future/await_trace.h"
#include "rouse/scheduler/task/task_meta.h"

namespace rouse {

// LongPoll
//
// Refers to the task's name, and therefore must not outlive the call to which
// it is an argument.
struct LongPoll {
  TaskMeta task;
  // Length of the whole poll if it has ended, and otherwise so far.
  absl::Duration duration;
  // True if the poll has ended.
  bool ended = false;
  // Index of the worker, and id (gettid(2)) of the thread, that is in the poll,
  // or was.
  size_t worker = 0;
  pid_t thread = 0;
  // Where the task waits after the poll, just after the code that took so long.
  // Empty if the poll has not ended, or has ended the task, or if the task has
  // yielded.
  AwaitTrace awaits = {};

  template <class Sink>
  friend void AbslStringify(Sink& sink, const LongPoll& poll) {
    absl::Format(&sink, "%v %s %s on worker %d (thread %d)", poll.task,
                 poll.ended ? "was polled for" : "has been polled for",
                 absl::FormatDuration(poll.duration), poll.worker, poll.thread);
    if (poll.ended && !poll.awaits.steps().empty()) {
      absl::Format(&sink, ", and now waits in\n%s", poll.awaits.ToString(2));
    }
  }
};

// Called for each long poll: see `Builder::OnLongPoll()`.
using LongPollCallback = std::function<void(const LongPoll&)>;

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_LONG_POLL_H_

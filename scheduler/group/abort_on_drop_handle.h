// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: abort_on_drop_handle.h
// -----------------------------------------------------------------------------
//
// `AbortOnDropHandle<T>` is a `JoinHandle<T>` whose destruction aborts the
// task, for a task that must not outlive its user:
//
//   rouse::AbortOnDropHandle<> heartbeat(rouse::Spawn(SendHeartbeats(peer)));
//   co_return co_await Talk(peer);
//   // The heartbeats end here, or wherever this coroutine is destroyed.

#ifndef ROUSE_SCHEDULER_GROUP_ABORT_ON_DROP_HANDLE_H_
#define ROUSE_SCHEDULER_GROUP_ABORT_ON_DROP_HANDLE_H_

#include <exception>
#include <utility>

#include "rouse/future/await_trace.h"
#include "rouse/scheduler/task/abort_handle.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"

namespace rouse {

// AbortOnDropHandle
//
// A future of the task's result, like `JoinHandle`. The destructor and an
// assignment request the cancellation of the task that the object had, unless
// the task has ended. They do not wait for the end of the task: after a
// request, the task ends at its next suspension. A task that has begun to run
// as a blocking call cannot be aborted, and runs to its end.
//
// A moved-from object has no task. Thread safety is as for `JoinHandle`.
template <class T = void>
class [[nodiscard("destroying the handle aborts the task")]] AbortOnDropHandle {
 public:
  // Takes over `handle`. Implicit conversions do not exist, because they would
  // decide silently between detaching and aborting.
  explicit AbortOnDropHandle(JoinHandle<T> handle)
      : handle_(std::move(handle)) {}
  AbortOnDropHandle(AbortOnDropHandle&&) noexcept = default;
  AbortOnDropHandle& operator=(AbortOnDropHandle&& other) noexcept {
    // The replaced task is aborted now, not when `other` is destroyed.
    AbortOnDropHandle replaced(std::move(other));
    std::swap(handle_, replaced.handle_);
    return *this;
  }
  ~AbortOnDropHandle() { handle_.Abort(); }

  // Gives the task's result: see `JoinHandle`. Abandoning an await of an lvalue
  // loses nothing and aborts nothing.
  PollResult<JoinResult<T>> Poll(Context& cx) { return handle_.Poll(cx); }
  void Trace(AwaitTrace& trace) const { handle_.Trace(trace); }

  // Returns the handle, whose destruction detaches the task instead. Leaves
  // this object moved-from: the task is no longer aborted.
  JoinHandle<T> Release() && { return std::move(handle_); }

  // Call the functions of the same name of `JoinHandle`.
  PollResult<void> PollFinished(Context& cx) const {
    return handle_.PollFinished(cx);
  }
  void Abort() const { handle_.Abort(); }
  bool IsFinished() const { return handle_.IsFinished(); }
  AbortHandle abort_handle() const { return handle_.abort_handle(); }
  TaskId id() const { return handle_.id(); }
  std::exception_ptr exception() const { return handle_.exception(); }
  bool was_cancelled() const { return handle_.was_cancelled(); }

 private:
  JoinHandle<T> handle_;
};

template <class T>
AbortOnDropHandle(JoinHandle<T>) -> AbortOnDropHandle<T>;

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_GROUP_ABORT_ON_DROP_HANDLE_H_

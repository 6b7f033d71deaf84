// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: join_handle.h
// -----------------------------------------------------------------------------
//
// `JoinHandle<T>` is the caller's handle of a spawned task:
//
//   rouse::JoinHandle<int> sum = rouse::Spawn(Sum(numbers));
//   absl::StatusOr<int> result = co_await sum;
//
// Dropping the handle detaches the task, which then runs on.

#ifndef ROUSE_SCHEDULER_TASK_JOIN_HANDLE_H_
#define ROUSE_SCHEDULER_TASK_JOIN_HANDLE_H_

#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/scheduler/task/abort_handle.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"

namespace rouse {

namespace task {

// The type that joining a task with output `T` returns: an `absl::StatusOr`, or
// an `absl::Status` if `T` is void or a status.
template <class T>
struct JoinResultOf {
  static_assert(!std::is_reference_v<T>,
                "a task cannot return a reference: return a pointer");
  using type = absl::StatusOr<T>;
};
template <class T>
struct JoinResultOf<absl::StatusOr<T>> {
  using type = absl::StatusOr<T>;
};
template <>
struct JoinResultOf<absl::Status> {
  using type = absl::Status;
};
template <>
struct JoinResultOf<void> {
  using type = absl::Status;
};

}  // namespace task

// The result type of joining a task with output `T`. It is `absl::Status` for
// void and for `absl::Status`, and otherwise `absl::StatusOr<T>`; a `StatusOr`
// is not nested.
template <class T>
using JoinResult = typename task::JoinResultOf<T>::type;

namespace task {

// The place where a task stores its outcome.
template <class T>
struct JoinOutcome {
  PollResult<JoinResult<T>>& result;
  std::exception_ptr& exception;  // set only if an exception ended the task
  bool cancelled = false;
};

}  // namespace task

// JoinHandle
//
// A future of the task's result, which may be polled from any task or thread.
// In addition to what the task itself returns, the result can be
//
//   kCancelled  the task was aborted, or its runtime was shut down first;
//   kInternal   an exception (including a `Panic()`) escaped from the task, or
//               from the destructor of its future. The message names the task
//               and the place where it was spawned, and contains the text of
//               the exception. `exception()` returns the exception.
//
// While a handle exists, the exception belongs to the handle. If the handle is
// destroyed without having given its result, before or after the exception, the
// exception counts as unhandled, and by default it is logged once, as an error:
// see `Builder::OnUnhandledException()`.
//
// The result's own destructor must not throw, because it may run on any thread;
// a task with such a result does not compile. An exception from the result's
// move constructor ends the program, in `absl::StatusOr`. An exception from the
// joiner's waker propagates out of the call that used the waker.
//
// Destroying the handle detaches the task. Abandoning an await of the handle
// loses nothing: the handle can be awaited again, until it has given its
// result. Move-only; can be moved at any time. A handle may be used by only one
// thread at a time, but `Abort()` and `IsFinished()` may run concurrently with
// each other.
template <class T>
class JoinHandle {
 public:
  // Takes over a reference.
  explicit JoinHandle(task::Header* task) : task_(task), id_(task->id) {}
  JoinHandle(JoinHandle&& other) noexcept
      : task_(std::exchange(other.task_, nullptr)),
        id_(other.id_),
        exception_(std::move(other.exception_)) {}
  JoinHandle& operator=(JoinHandle&& other) noexcept {
    std::swap(task_, other.task_);
    std::swap(id_, other.id_);
    std::swap(exception_, other.exception_);
    return *this;
  }
  ~JoinHandle() { Detach(); }

  PollResult<JoinResult<T>> Poll(Context& cx) {
    if (task_ == nullptr) {
      Panic(
          "JoinHandle was polled after it completed or was moved from; keep "
          "the result");
    }
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    if (!task::PollJoin(task_, cx.waker())) return kPending;
    unit->MadeProgress();
    PollResult<JoinResult<T>> result = kPending;
    task::JoinOutcome<T> outcome{result, exception_};
    task_->vtable->take_output(task_, &outcome);
    if (outcome.cancelled) id_ |= kWasCancelled;
    task::DropHandleOfTaken(std::exchange(task_, nullptr));
    return result;
  }

  // Returns ready when the task has ended, including after the result was
  // taken. Takes neither the result nor a unit of the budget. The waker of `cx`
  // replaces the waker of an earlier `Poll()`.
  PollResult<void> PollFinished(Context& cx) const {
    if (task_ == nullptr || task::PollJoin(task_, cx.waker())) return {};
    return kPending;
  }

  // Adds a leaf that names the task: see await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddLeaf(internal::TypeName<JoinHandle>(),
                  absl::StrCat("task ", id()));
  }

  // Requests the cancellation of the task. The task ends at its next
  // suspension, or immediately if it is suspended, on a thread of its runtime.
  // The future is destroyed on the same thread, never inside this call. Joining
  // the task then gives `kCancelled`, unless the task completed first. Does
  // nothing to a task that has ended.
  void Abort() const {
    if (task_ != nullptr) task::Abort(task_);
  }

  // Returns whether the task has ended; true after the result was taken.
  bool IsFinished() const {
    return task_ == nullptr || task_->state.IsComplete();
  }

  // Returns a handle for aborting the task from elsewhere. The handle has no
  // effect if it is made after the result was taken.
  AbortHandle abort_handle() const { return AbortHandle(task_, id()); }

  // Returns the task's id, even after the result was taken.
  TaskId id() const { return id_ & ~kWasCancelled; }

  // Returns the exception that ended the task, after the result was taken;
  // otherwise null.
  std::exception_ptr exception() const { return exception_; }

  // Returns true if the result was taken and is `kCancelled` because the task
  // was aborted or its runtime was shut down, rather than because the task
  // itself returned `kCancelled`. Otherwise returns false.
  bool was_cancelled() const { return (id_ & kWasCancelled) != 0; }

  // Detaches the task, which continues to run. Drops the result, in this call
  // if the result is already there, and also drops the waker of the last poll.
  // While the result is destroyed here, `CurrentTaskId()` is the task's id, as
  // when the runtime destroys the result.
  void Detach() {
    if (task_ != nullptr) task::DropHandle(std::exchange(task_, nullptr));
  }

 private:
  // A bit of `id_`, so that a handle is no larger because of the flag: no id
  // comes near 2^63.
  static constexpr TaskId kWasCancelled = TaskId{1} << 63;

  task::Header* task_;
  TaskId id_;
  std::exception_ptr exception_;
};

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_TASK_JOIN_HANDLE_H_

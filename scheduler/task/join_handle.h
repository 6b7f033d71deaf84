// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: join_handle.h
// -----------------------------------------------------------------------------
//
// `JoinHandle<T>` is the caller's hold on a task that it has spawned:
//
//   rouse::JoinHandle<int> sum = rouse::Spawn(Sum(numbers));
//   absl::StatusOr<int> result = co_await sum;
//
// Dropping it detaches the task, which runs on.

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

// What joining a task of output `T` gives: `absl::Status` for void and
// `absl::Status`, else `absl::StatusOr<T>`; a `StatusOr` is not nested.
template <class T>
using JoinResult = typename task::JoinResultOf<T>::type;

namespace task {

// Where a task puts how it ended.
template <class T>
struct JoinOutcome {
  PollResult<JoinResult<T>>& result;
  std::exception_ptr& exception;  // untouched unless one ended the task
  bool cancelled = false;
};

}  // namespace task

// JoinHandle
//
// A future of the task's result, which may be polled from any task or thread.
// Beside what the task itself returns the result is
//
//   kCancelled  the task was aborted, or its runtime was shut down first;
//   kInternal   an exception (a `Panic()` too) left the task, or the destructor
//               of its future; the message names the task and the place where
//               it was spawned, and carries what the exception says, and
//               `exception()` has the exception.
//
// The exception is the handle's as long as there is a handle. If the handle
// goes, or has gone, without having given its result, nobody has taken the
// exception, and by default it is logged as an error, once: see
// `Builder::OnUnhandledException()`.
//
// The result's own destructor must not throw, since it may run on any thread:
// such a task does not compile. An exception of its move constructor ends the
// program, in `absl::StatusOr`. What a waker of the joiner's throws comes out
// of the call that used the waker.
//
// Destroying the handle detaches the task. Abandoning an await of it loses
// nothing: the handle can be awaited again, until it has given its result.
// Move-only, movable at any time. One thread at a time uses a handle; `Abort()`
// and `IsFinished()` may run beside one another.
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
          "JoinHandle: polled after it gave its result or was moved from; "
          "keep the result of the first time");
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

  // Ready when the task has ended, and after its result was taken; takes
  // neither the result nor a unit of the budget. `cx` is woken in place of that
  // of an earlier `Poll()`.
  PollResult<void> PollFinished(Context& cx) const {
    if (task_ == nullptr || task::PollJoin(task_, cx.waker())) return {};
    return kPending;
  }

  // A leaf that names the task: see await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddLeaf(internal::TypeName<JoinHandle>(),
                  absl::StrCat("task ", id()));
  }

  // Asks for the task to be cancelled. It ends at its next suspension, or now
  // if it is suspended, on a thread of its runtime; its future is destroyed
  // there, never inside this call. Joining it then gives `kCancelled`, unless
  // it completed first. Does nothing to a task that has ended.
  void Abort() const {
    if (task_ != nullptr) task::Abort(task_);
  }

  // Whether the task has ended; true after its result was taken.
  bool IsFinished() const {
    return task_ == nullptr || task_->state.IsComplete();
  }

  // For others that may abort the task. Of no effect after the result was
  // taken.
  AbortHandle abort_handle() const { return AbortHandle(task_, id()); }

  // The task's id, also after the result was taken.
  TaskId id() const { return id_ & ~kWasCancelled; }

  // The exception that ended the task, after the result was taken; else null.
  std::exception_ptr exception() const { return exception_; }

  // After the result was taken: whether it is `kCancelled` since the task was
  // aborted, or its runtime shut down, and not since the task has returned
  // that. Else false.
  bool was_cancelled() const { return (id_ & kWasCancelled) != 0; }

  // Lets the task run on by itself; its result is dropped, here if it is there
  // already, and so is the waker of the last poll. While the result is
  // destroyed here `CurrentTaskId()` is the task's, as it is where its runtime
  // destroys it.
  void Detach() {
    if (task_ != nullptr) task::DropHandle(std::exchange(task_, nullptr));
  }

 private:
  // A bit of `id_`, so that a handle is no larger for it: no id comes near
  // 2^63.
  static constexpr TaskId kWasCancelled = TaskId{1} << 63;

  task::Header* task_;
  TaskId id_;
  std::exception_ptr exception_;
};

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_TASK_JOIN_HANDLE_H_

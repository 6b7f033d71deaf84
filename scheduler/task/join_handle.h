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
#include <memory>
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

// What a handle keeps of a task that an exception has ended. Allocated, because
// few tasks end in this way.
struct ThrownTask {
  TaskId id;
  std::exception_ptr exception;
};

// The place where a task stores its outcome.
template <class T>
struct JoinOutcome {
  PollResult<JoinResult<T>>& result;
  // Set only if an exception ended the task.
  std::unique_ptr<ThrownTask> thrown = nullptr;
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
  explicit JoinHandle(task::Header* task)
      : word_(reinterpret_cast<uintptr_t>(task)) {}
  JoinHandle(JoinHandle&& other) noexcept
      : word_(std::exchange(other.word_, kEnded)) {}
  JoinHandle& operator=(JoinHandle&& other) noexcept {
    std::swap(word_, other.word_);
    return *this;
  }
  ~JoinHandle() {
    if (HasTask()) {
      task::DropHandle(task());
    } else if (kind() == kThrew) [[unlikely]] {
      delete thrown();
    }
  }

  PollResult<JoinResult<T>> Poll(Context& cx) {
    if (!HasTask()) {
      Panic(
          "JoinHandle was polled after it completed or was moved from; keep "
          "the result");
    }
    if (!cx.HasBudget()) [[unlikely]]
      return YieldForBudget(cx);
    task::Header* const task = this->task();
    if (!task::PollJoin(task, cx.waker())) return kPending;
    TakeUnitIfAny(cx);
    PollResult<JoinResult<T>> result = kPending;
    task::JoinOutcome<T> outcome{result};
    task->vtable->take_output(task, &outcome);
    if (outcome.thrown != nullptr) [[unlikely]] {
      word_ = reinterpret_cast<uintptr_t>(outcome.thrown.release()) | kThrew;
    } else {
      word_ =
          task->id << kKindBits | (outcome.cancelled ? kWasCancelled : kEnded);
    }
    task::DropHandleOfTaken(task);
    return result;
  }

  // Returns ready when the task has ended, including after the result was
  // taken. Takes neither the result nor a unit of the budget. The waker of `cx`
  // replaces the waker of an earlier `Poll()`.
  PollResult<void> PollFinished(Context& cx) const {
    if (!HasTask() || task::PollJoin(task(), cx.waker())) return {};
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
    if (HasTask()) task::Abort(task());
  }

  // Returns whether the task has ended; true after the result was taken.
  bool IsFinished() const { return !HasTask() || task()->state.IsComplete(); }

  // Returns a handle for aborting the task from elsewhere. The handle has no
  // effect if it is made after the result was taken.
  AbortHandle abort_handle() const {
    return AbortHandle(HasTask() ? task() : nullptr, id());
  }

  // Returns the task's id, even after the result was taken or the task was
  // detached. Returns 0 for a handle from which another was constructed. A move
  // assignment swaps the two handles.
  TaskId id() const {
    if (HasTask()) return task()->id;
    return kind() == kThrew ? thrown()->id : word_ >> kKindBits;
  }

  // Formats the handle, for logs, as "task 7".
  template <class Sink>
  friend void AbslStringify(Sink& sink, const JoinHandle& handle) {
    sink.Append(absl::StrCat("task ", handle.id()));
  }

  // Returns the exception that ended the task, after the result was taken;
  // otherwise null.
  std::exception_ptr exception() const {
    return kind() == kThrew ? thrown()->exception : nullptr;
  }

  // Returns true if the result was taken and is `kCancelled` because the task
  // was aborted or its runtime was shut down, rather than because the task
  // itself returned `kCancelled`. Otherwise returns false.
  bool was_cancelled() const { return kind() == kWasCancelled; }

  // Detaches the task, which continues to run. Drops the result, in this call
  // if the result is already there, and also drops the waker of the last poll.
  // While the result is destroyed here, `CurrentTaskId()` is the task's id, as
  // when the runtime destroys the result.
  void Detach() {
    if (!HasTask()) return;
    task::Header* const task = this->task();
    word_ = task->id << kKindBits | kEnded;
    task::DropHandle(task);
  }

 private:
  // A handle takes a single word, because a program can have a million. The low
  // bits say what is in the other bits.
  static constexpr int kKindBits = 2;
  static constexpr uintptr_t kKindMask = (uintptr_t{1} << kKindBits) - 1;
  static constexpr uintptr_t kTask = 0;          // the task
  static constexpr uintptr_t kThrew = 1;         // a `ThrownTask`
  static constexpr uintptr_t kEnded = 2;         // the id of the task
  static constexpr uintptr_t kWasCancelled = 3;  // the id of the task
  static_assert(alignof(task::Header) > kKindMask &&
                alignof(task::ThrownTask) > kKindMask);
  // No id comes near 2^62.
  static_assert(sizeof(uintptr_t) == sizeof(TaskId));

  uintptr_t kind() const { return word_ & kKindMask; }
  bool HasTask() const { return kind() == kTask; }
  // REQUIRES: `HasTask()`.
  task::Header* task() const { return reinterpret_cast<task::Header*>(word_); }
  // REQUIRES: `kind()` is `kThrew`.
  task::ThrownTask* thrown() const {
    return reinterpret_cast<task::ThrownTask*>(word_ - kThrew);
  }

  uintptr_t word_;
};

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_TASK_JOIN_HANDLE_H_

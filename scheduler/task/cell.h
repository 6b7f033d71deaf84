// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: cell.h
// -----------------------------------------------------------------------------
//
// A whole task in one block of memory: its header, and its future. When the
// future has ended, the output takes the future's place. Internal to the
// scheduler.

#ifndef ROUSE_SCHEDULER_TASK_CELL_H_
#define ROUSE_SCHEDULER_TASK_CELL_H_

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "rouse/base/error_for.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/frame_pool.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/spawn_options.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"

namespace rouse::task {

// Compiles if an argument of type `F&&` can be spawned. Called first by
// functions which spawn: the compiler then explains the error and names the
// line of the call. (The return type `auto` makes g++ report this error before
// all resulting errors.)
template <class F>
constexpr auto CheckSpawnable() {
  constexpr bool kIsFuture = IntoFuture<std::decay_t<F>>;
  static_assert(kIsFuture,
                "Spawn takes a future, or a callable that returns a future");
  static_assert(!kIsFuture || std::is_constructible_v<std::decay_t<F>, F>,
                "Spawn stores its argument, and this argument cannot be "
                "copied: move the argument, as in Spawn(std::move(co))");
}

template <Future F>
class Cell final : public Header {
  using Output = FutureOutput<F>;
  using Result = JoinResult<Output>;

 public:
  // Line 0 in `spawned_at` means an unknown place.
  template <class Arg>
  Cell(Schedule* scheduler, TaskId id, Arg&& arg,
       const SpawnOptions& options = {}, std::source_location spawned_at = {})
      : Header(&kVTable, scheduler, id, options, spawned_at) {
    if constexpr (std::same_as<std::decay_t<Arg>, F>) {
      if (internal::BorrowsClosure(arg)) [[unlikely]] {
        internal::PanicBorrowsClosure(spawned_at);
      }
    }
    std::construct_at(&future_, std::forward<Arg>(arg));
  }
  ~Cell() {}

#ifndef ROUSE_MODEL  // in models the pool's steps would multiply a task's
  static void* operator new(size_t size) { return FramePool::Allocate(size); }
  static void operator delete(void* cell, size_t size) {
    FramePool::Free(cell, size);
  }
#endif

 private:
  static_assert(std::is_void_v<Output> ||
                    std::is_nothrow_destructible_v<Output>,
                "the destructor of a task's output must not throw: no code may "
                "be able to catch the exception");
  static_assert(std::max(alignof(F), alignof(Result)) <= FramePool::kAlignment,
                "a task is aligned to 16 bytes: store a future or an output of "
                "larger alignment behind a pointer");

  enum class Holds : unsigned char {
    kFuture,
    kResult,
    kCancelled,  // the result says "cancelled"
    kException,
    kNothing,
  };

  static Cell* From(Header* task) { return static_cast<Cell*>(task); }

  static Outcome Poll(Header* task, Context& cx) {
    Cell* cell = From(task);
    ROUSE_TRY {
      PollResult<Output> output = cell->future_.Poll(cx);
      if (output.IsPending()) return Outcome::kPending;
      if constexpr (std::is_void_v<Output>) {
        cell->Finish(absl::OkStatus());
      } else {
        cell->Finish(std::move(output).value());
      }
    }
    ROUSE_CATCH_ALL { return cell->FinishWithException(); }
    return Outcome::kReady;
  }

  static Outcome Cancel(Header* task) {
    Cell* cell = From(task);
    const Outcome outcome =
        FinishWith(task, [task] { return ErrorOfCancelled(task->id); });
    if (outcome == Outcome::kReady) cell->holds_ = Holds::kCancelled;
    return outcome;
  }

  static Outcome Fail(Header* task, const absl::Status& error) {
    return FinishWith(task, [&error] { return error; });
  }

  // `make()` may throw if memory runs out.
  template <class Make>
  static Outcome FinishWith(Header* task, Make make) {
    Cell* cell = From(task);
    ROUSE_TRY { cell->Finish(internal::ErrorFor<Result>(make())); }
    ROUSE_CATCH_ALL { return cell->FinishWithException(); }
    return Outcome::kReady;
  }

  static void TakeOutput(Header* task, void* outcome) {
    Cell* cell = From(task);
    auto* to = static_cast<JoinOutcome<Output>*>(outcome);
    if (cell->holds_ == Holds::kException) {
      // Made first: if this throws, the exception is still available.
      std::unique_ptr<ThrownTask> thrown(new ThrownTask{task->id, nullptr});
      to->result.emplace(
          internal::ErrorFor<Result>(ErrorOfThrown(task, cell->exception_)));
      thrown->exception = std::move(cell->exception_);
      to->thrown = std::move(thrown);
      cell->Drop();
      return;
    }
    to->result.emplace(std::move(cell->result_));
    to->cancelled =
        std::exchange(cell->holds_, Holds::kNothing) == Holds::kCancelled;
    std::destroy_at(&cell->result_);
  }

  static const std::exception_ptr& Exception(const Header* task) {
    return static_cast<const Cell*>(task)->exception_;
  }

  static void DropOutput(Header* task) {
    Cell* cell = From(task);
    if (cell->holds_ == Holds::kException) {
      task->scheduler->Unhandled(task, cell->exception_);
    }
    cell->Drop();
  }
  static void Deallocate(Header* task) { delete From(task); }

  static void Trace(const Header* task, AwaitTrace& trace) {
    trace.Add(static_cast<const Cell*>(task)->future_);
  }

  // Replaces the future, which still exists, with the output.
  template <class Value>
  void Finish(Value value) {
    // Set first, because the destructor may throw.
    holds_ = Holds::kNothing;
    std::destroy_at(&future_);
    std::construct_at(&result_, std::move(value));
    holds_ = Holds::kResult;
  }

  // Like `Finish()`, but called in an exception handler: the output is the
  // current exception.
  Outcome FinishWithException() {
#ifdef ABSL_HAVE_EXCEPTIONS
    // If a destructor run because of this exception throws a second exception,
    // the first exception counts.
    std::exception_ptr exception = std::current_exception();
    try {
      Drop();
    } catch (...) {
    }
    std::construct_at(&exception_, std::move(exception));
    holds_ = Holds::kException;
#endif
    return Outcome::kThrew;
  }

  void Drop() {
    switch (std::exchange(holds_, Holds::kNothing)) {
      case Holds::kFuture:
        std::destroy_at(&future_);
        break;
      case Holds::kResult:
      case Holds::kCancelled:
        std::destroy_at(&result_);
        break;
      case Holds::kException:
        std::destroy_at(&exception_);
        break;
      case Holds::kNothing:
        break;
    }
  }

  static constexpr VTable kVTable = {&Poll,       &Cancel,    &Fail,
                                     &Trace,      &Exception, &TakeOutput,
                                     &DropOutput, &Deallocate};

  Holds holds_ = Holds::kFuture;
  union {
    F future_;
    Result result_;
    std::exception_ptr exception_;
  };
};

}  // namespace rouse::task

#endif  // ROUSE_SCHEDULER_TASK_CELL_H_

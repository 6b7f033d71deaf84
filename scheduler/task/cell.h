// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: cell.h
// -----------------------------------------------------------------------------
//
// The whole of a task in one block: its header, and its future or, when that
// has ended, its output in the same place. Internal to the scheduler.

#ifndef ROUSE_SCHEDULER_TASK_CELL_H_
#define ROUSE_SCHEDULER_TASK_CELL_H_

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "rouse/base/error_for.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/frame_pool.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/coro_attributes.h"
#include "rouse/future/future.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/spawn_options.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::task {

// A future made, when it is first polled, by a callable that lives as long as
// it does: so the captures of a lambda coroutine last.
template <class F>
class CallableFuture {
 public:
  using Inner = std::invoke_result_t<F&>;

  explicit CallableFuture(F&& callable) : callable_(std::move(callable)) {}
  explicit CallableFuture(const F& callable) : callable_(callable) {}
  // Only before the first poll.
  CallableFuture(CallableFuture&& other)
      : callable_(std::move(other.callable_)) {}

  auto Poll(Context& cx) {
    if (!inner_.has_value()) {
      // Made in place: a future need not be movable.
      inner_.emplace(Make(*this));
    }
    return inner_->Poll(cx);
  }

  void Trace(AwaitTrace& trace) const {
    if (inner_.has_value()) {
      trace.Add(*inner_);
    } else {
      trace.AddLeaf(internal::TypeName<Inner>(), "not begun");
    }
  }

 private:
  // Converts to what the callable returns, so that `emplace` elides the move.
  struct Make {
    explicit Make(CallableFuture& self) : self(self) {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    ROUSE_CORO_WRAPPER operator Inner() const { return self.callable_(); }
    CallableFuture& self;
  };

  F callable_;
  std::optional<Inner> inner_;
};

// What `Spawn(f)` runs: `f` itself if it is a future, else what calling it
// returns, which must be one.
template <class F>
concept Spawnable =
    Future<F> || (std::invocable<F&> && Future<std::invoke_result_t<F&>>);

template <class F>
struct SpawnedFuture {
  using type = CallableFuture<F>;
};
template <Future F>
struct SpawnedFuture<F> {
  using type = F;
};

template <Future F>
class Cell final : public Header {
  using Output = FutureOutput<F>;
  using Result = JoinResult<Output>;

 public:
  // A task of which nobody says where it was spawned has line 0.
  template <class Arg>
  Cell(Schedule* scheduler, TaskId id, Arg&& arg,
       const SpawnOptions& options = {}, std::source_location spawned_at = {})
      : Header(&kVTable, scheduler, id, options, spawned_at) {
    std::construct_at(&future_, std::forward<Arg>(arg));
  }
  ~Cell() {}

#ifndef ROUSE_MODEL  // where the pool's own steps would multiply a task's
  static void* operator new(size_t size) { return FramePool::Allocate(size); }
  static void operator delete(void* cell, size_t size) {
    FramePool::Free(cell, size);
  }
#endif

 private:
  static_assert(std::is_void_v<Output> ||
                    std::is_nothrow_destructible_v<Output>,
                "the output of a task must not throw when it is destroyed: "
                "that may happen where nobody can catch it");
  static_assert(std::max(alignof(F), alignof(Result)) <= FramePool::kAlignment,
                "a task is aligned to 16 bytes: hold a future or an output of "
                "larger alignment through a pointer");

  enum class Holds : unsigned char { kFuture, kResult, kException, kNothing };

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
    return FinishWith(task, [task] { return ErrorOfCancelled(task->id); });
  }

  static Outcome Fail(Header* task, const absl::Status& error) {
    return FinishWith(task, [&error] { return error; });
  }

  // `make()` may throw for want of memory.
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
      // First what may throw: the exception is still to be had then.
      to->result.emplace(internal::ErrorFor<Result>(
          ErrorOfThrown(task->id, cell->exception_)));
      to->exception = std::move(cell->exception_);
    } else {
      to->result.emplace(std::move(cell->result_));
    }
    cell->Drop();
  }

  static void DropOutput(Header* task) { From(task)->Drop(); }
  static void Deallocate(Header* task) { delete From(task); }

  static void Trace(const Header* task, AwaitTrace& trace) {
    trace.Add(static_cast<const Cell*>(task)->future_);
  }

  // Puts the output where the future was.
  template <class Value>
  void Finish(Value value) {
    Drop();
    std::construct_at(&result_, std::move(value));
    holds_ = Holds::kResult;
  }

  // The same in a handler, with what is being handled.
  Outcome FinishWithException() {
#ifdef ABSL_HAVE_EXCEPTIONS
    // Two exceptions: the first one counts, the second comes from a destructor
    // that is run because of it.
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
        std::destroy_at(&result_);
        break;
      case Holds::kException:
        std::destroy_at(&exception_);
        break;
      case Holds::kNothing:
        break;
    }
  }

  static constexpr VTable kVTable = {
      &Poll, &Cancel, &Fail, &Trace, &TakeOutput, &DropOutput, &Deallocate};

  Holds holds_ = Holds::kFuture;
  union {
    F future_;
    Result result_;
    std::exception_ptr exception_;
  };
};

}  // namespace rouse::task

#endif  // ROUSE_SCHEDULER_TASK_CELL_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: local_set.h
// -----------------------------------------------------------------------------
//
// `LocalSet` is a set of tasks that never leave their thread. The tasks can
// hold objects that must not leave the thread, and share such objects without
// locks:
//
//   rouse::LocalSet set;
//   auto cache = std::make_unique<Cache>();          // not thread-safe
//   auto main = [&]() -> rouse::Co<> {
//     for (const Url& url : urls) {
//       rouse::SpawnLocal(Refresh(*cache, url)).Detach();
//     }
//     co_await Serve(*cache);
//   };
//   runtime.BlockOn(set.RunUntil(main));
//
// The set does not run by itself. Its tasks run while the set is polled: the
// set is a future, and `RunUntil()` makes another future. Tasks of the set use
// the runtime on which the set is polled, like other tasks do, and may
// `Spawn()` tasks onto the runtime's threads.

#ifndef ROUSE_SCHEDULER_LOCAL_LOCAL_SET_H_
#define ROUSE_SCHEDULER_LOCAL_LOCAL_SET_H_

#include <cstddef>
#include <source_location>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/scheduler/local/local_schedule.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/spawn_options.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"

namespace rouse {

namespace internal {

// The caller must be the owner of `schedule`.
template <class F>
auto SpawnOnLocal(scheduler::LocalSchedule& schedule, F&& f,
                  const SpawnOptions& options, std::source_location where) {
  using Future = internal::FutureFrom<std::decay_t<F>>;
  auto* const task = new task::Cell<Future>(&schedule, task::NextTaskId(),
                                            std::forward<F>(f), options, where);
  JoinHandle<FutureOutput<Future>> handle(task);
  schedule.Adopt(task);
  return handle;
}

}  // namespace internal

// LocalSetGuard
//
// See `LocalSet::Enter()`. Guards nest: they must be destroyed on the thread
// that made them, in reverse order.
class [[nodiscard(
    "the thread leaves the set when the guard is destroyed")]] LocalSetGuard {
 public:
  // Adds a reference.
  explicit LocalSetGuard(scheduler::LocalSchedule* schedule);
  LocalSetGuard(const LocalSetGuard&) = delete;
  LocalSetGuard& operator=(const LocalSetGuard&) = delete;
  ~LocalSetGuard();

 private:
  scheduler::LocalSchedule* const schedule_;
  scheduler::LocalSchedule* const outer_;
};

template <class F>
class RunUntilFuture;

// LocalSet
//
// Belongs to the thread that made the set. On any other thread, calling a
// member or polling a future of the set is a `Panic()`; so is destroying the
// set, and the panic then ends the program. Movable on its thread, but not
// after the set has been polled as a future.
//
// The handles and wakers of the tasks can be used on any thread, and may
// outlive the set. Joining a task on another thread moves the output there, and
// dropping a handle on another thread may destroy the output there.
//
// Destroying the set cancels all its tasks: their futures are destroyed in the
// destructor, and joining the tasks gives `kCancelled`. Tasks spawned during
// the cancellation are cancelled too. A task of the set must not destroy the
// set; doing so ends the program.
//
// A wake costs as much as a push to a list; a wake from another thread also
// takes a lock. A poll runs up to 61 tasks, each with a budget of its own,
// before other tasks of the thread have their turn.
class LocalSet {
 public:
  LocalSet() : schedule_(new scheduler::LocalSchedule) {}
  LocalSet(LocalSet&& other) noexcept
      : schedule_(std::exchange(other.schedule_, nullptr)) {}
  LocalSet& operator=(LocalSet&&) = delete;
  ~LocalSet();

  // Starts a task in this set. The task runs when the set is polled next; any
  // future waiting for the set is woken. Otherwise like `rouse::Spawn()`.
  template <class F>
  auto Spawn(F&& f, const SpawnOptions& options = {},
             std::source_location where = std::source_location::current()) {
    task::CheckSpawnable<F>();
    schedule_->CheckOwner("LocalSet::Spawn");
    return internal::SpawnOnLocal(*schedule_, std::forward<F>(f), options,
                                  where);
  }

  // Returns a future for `f`, a future or a callable that returns a future. The
  // returned future also runs the tasks of the set. The result is ready when
  // `f` is ready, even if tasks are left; the remaining tasks run when the set
  // is polled again. Within `f`, `SpawnLocal()` uses the set.
  //
  // An lvalue future is polled in place, and must outlive the result; anything
  // else is moved into the result. Several futures may wait for the same set,
  // even inside a task of the set. (Use `co_await` there; blocking would last
  // forever.) The set must outlive the futures.
  template <Future F>
  RunUntilFuture<F> RunUntil(F&& f) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return RunUntilFuture<F>(schedule_, std::forward<F>(f));
  }
  template <class F>
    requires(!Future<F> && IntoFuture<F>)
  auto RunUntil(F&& f) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    using Called = internal::FutureFrom<F>;
    return RunUntilFuture<Called>(schedule_, Called(std::forward<F>(f)));
  }

  // Runs the tasks of the set. Is ready when no task is left. May be polled
  // again after more tasks were spawned. Calls `Panic()` inside a task of the
  // set, because the task would wait for itself.
  PollResult<void> Poll(Context& cx);

  // Makes `SpawnLocal()` on the calling thread use this set, until the guard is
  // destroyed.
  LocalSetGuard Enter() const {
    schedule_->CheckOwner("LocalSet::Enter");
    return LocalSetGuard(schedule_);
  }

  // Returns the number of tasks that have not ended.
  size_t alive_tasks() const {
    schedule_->CheckOwner("LocalSet::alive_tasks");
    return schedule_->alive_tasks();
  }

 private:
  scheduler::LocalSchedule* schedule_;
  scheduler::LocalSchedule::Driver driver_;
};

// SpawnLocal()
//
// Starts a task in the current `LocalSet` of the calling thread. In a task of a
// set, inside `LocalSet::RunUntil()`, and while a guard of `LocalSet::Enter()`
// exists, the respective set is current; the innermost set counts. Calls
// `Panic()` if no set is current. See `LocalSet::Spawn()`.
template <class F>
auto SpawnLocal(F&& f, const SpawnOptions& options = {},
                std::source_location where = std::source_location::current()) {
  task::CheckSpawnable<F>();
  return internal::SpawnOnLocal(scheduler::CurrentLocalOrPanic(),
                                std::forward<F>(f), options, where);
}

// RunUntilFuture
//
// See `LocalSet::RunUntil()`.
template <class F>
class [[nodiscard]] RunUntilFuture {
 public:
  // Adds a reference.
  RunUntilFuture(scheduler::LocalSchedule* schedule, F&& future)
      : schedule_(schedule), future_(std::forward<F>(future)) {
    schedule_->Ref();
  }
  // Only allowed before the first poll.
  RunUntilFuture(RunUntilFuture&& other)
      : schedule_(std::exchange(other.schedule_, nullptr)),
        future_(std::move(other.future_)) {}
  RunUntilFuture& operator=(RunUntilFuture&&) = delete;
  ~RunUntilFuture() { Finish(); }

  PollResult<FutureOutput<F>> Poll(Context& cx) {
    if (schedule_ == nullptr) {
      Panic(
          "LocalSet::RunUntil was polled after it completed; call RunUntil() "
          "again");
    }
    schedule_->CheckOwner("LocalSet::RunUntil");
    if (schedule_->is_closed()) {
      Panic(
          "LocalSet::RunUntil was polled after the LocalSet was destroyed; "
          "keep the LocalSet until RunUntil() completes");
    }
    PollResult<FutureOutput<F>> result = PollBoth(cx);
    if (result.IsReady()) Finish();
    return result;
  }

  bool BorrowsClosure() const {
    return internal::BorrowsClosure(future_.get());
  }
  void Trace(AwaitTrace& trace) const { trace.Add(future_.get()); }

 private:
  PollResult<FutureOutput<F>> PollBoth(Context& cx) {
    if (!schedule_->is_driving()) schedule_->Register(driver_, cx.waker());
    const scheduler::LocalSchedule::Driving driving(*schedule_);
    PollResult<FutureOutput<F>> result = future_.get().Poll(cx);
    if (result.IsPending() && !driving.is_nested() &&
        schedule_->RunTasks(&cx.rand())) {
      schedule_->YieldAs(driver_, cx);
    }
    return result;
  }

  void Finish() {
    if (schedule_ == nullptr) return;
    schedule_->Deregister(driver_);
    std::exchange(schedule_, nullptr)->Unref();
  }

  scheduler::LocalSchedule* schedule_;  // null: finished
  scheduler::LocalSchedule::Driver driver_;
  internal::OwnedOrRef<F> future_;
};

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_LOCAL_LOCAL_SET_H_

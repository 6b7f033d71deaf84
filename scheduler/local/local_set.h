// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: local_set.h
// -----------------------------------------------------------------------------
//
// `LocalSet` is a set of tasks that never leave their thread, so that they may
// hold what must not, and share it without locks:
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
// The set does not run by itself. Its tasks run while it is polled: it is a
// future, and `RunUntil()` makes another. They use the runtime that they are
// polled on as other tasks do, and may `Spawn()` onto its threads.

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

// The caller is the owner of `schedule`.
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
// See `LocalSet::Enter()`. Guards nest: they are destroyed on the thread that
// made them, the last one first.
class [[nodiscard("the set is left when the guard goes")]] LocalSetGuard {
 public:
  // Takes a reference.
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
// Belongs to the thread that made it. On any other a call of its members, or a
// poll of a future of it, is a `Panic()`; so is destroying it there, which ends
// the program. Movable on its thread, but not once it is polled as a future.
//
// The handles and the wakers of its tasks are for any thread, for as long as
// one likes. Joining a task on another thread moves its output there, and
// dropping a handle there may destroy it there.
//
// Destroying the set cancels all its tasks: their futures are destroyed here,
// and joining them gives `kCancelled`. What they spawn meanwhile is cancelled
// too. One of its own tasks must not destroy it: that ends the program.
//
// Waking costs what it costs to push to a list; from another thread, a lock. A
// poll runs up to 61 tasks, each with a budget of its own, before other tasks
// of the thread have their turn.
class LocalSet {
 public:
  LocalSet() : schedule_(new scheduler::LocalSchedule) {}
  LocalSet(LocalSet&& other) noexcept
      : schedule_(std::exchange(other.schedule_, nullptr)) {}
  LocalSet& operator=(LocalSet&&) = delete;
  ~LocalSet();

  // Starts a task in this set. It runs when the set is polled next; if somebody
  // waits for the set, that is woken. The rest is as for `rouse::Spawn()`.
  template <class F>
  auto Spawn(F&& f, const SpawnOptions& options = {},
             std::source_location where = std::source_location::current()) {
    task::CheckSpawnable<F>();
    schedule_->CheckOwner("LocalSet::Spawn");
    return internal::SpawnOnLocal(*schedule_, std::forward<F>(f), options,
                                  where);
  }

  // A future that is `f`, a future or a callable that returns one, and runs the
  // tasks of the set besides; ready when `f` is, though tasks may be left, to
  // run when the set is polled again. In `f`, `SpawnLocal()` finds the set.
  //
  // A future that is an lvalue is polled where it is, and outlives the result;
  // all else is moved in. Several may wait for one set, and also inside of one
  // of its tasks (with `co_await`; to block there would be for ever). The set
  // outlives them.
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

  // Runs the tasks; ready when there are none. May be polled again, when more
  // were spawned. Not inside of one of its own tasks, which it would wait for:
  // a `Panic()`.
  PollResult<void> Poll(Context& cx);

  // Makes this the set that `SpawnLocal()` finds on this thread, until the
  // guard goes.
  LocalSetGuard Enter() const {
    schedule_->CheckOwner("LocalSet::Enter");
    return LocalSetGuard(schedule_);
  }

  // How many tasks have not ended.
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
// Starts a task in the `LocalSet` of this thread: in a task of one, inside
// `LocalSet::RunUntil()`, and where a guard of `LocalSet::Enter()` lives, that
// one, the innermost. Without one, a `Panic()`. See `LocalSet::Spawn()`.
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
  // Takes a reference.
  RunUntilFuture(scheduler::LocalSchedule* schedule, F&& future)
      : schedule_(schedule), future_(std::forward<F>(future)) {
    schedule_->Ref();
  }
  // Only before the first poll.
  RunUntilFuture(RunUntilFuture&& other)
      : schedule_(std::exchange(other.schedule_, nullptr)),
        future_(std::move(other.future_)) {}
  RunUntilFuture& operator=(RunUntilFuture&&) = delete;
  ~RunUntilFuture() { Finish(); }

  PollResult<FutureOutput<F>> Poll(Context& cx) {
    if (schedule_ == nullptr) {
      Panic(
          "LocalSet::RunUntil: polled after it has finished; call RunUntil() "
          "again");
    }
    schedule_->CheckOwner("LocalSet::RunUntil");
    if (schedule_->is_closed()) {
      Panic("LocalSet::RunUntil: polled after its set was destroyed");
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

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: handle.h
// -----------------------------------------------------------------------------
//
// A `Handle` refers to a runtime from anywhere: it spawns tasks from threads
// that are not the runtime's, and lets them use its clock and its sockets.
//
//   rouse::Handle handle = runtime.handle();
//   std::thread other([handle] { handle.Spawn(Refresh()); });

#ifndef ROUSE_RUNTIME_HANDLE_H_
#define ROUSE_RUNTIME_HANDLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/functional/function_ref.h"
#include "rouse/base/frame_pool.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/future.h"
#include "rouse/reactor/handle.h"
#include "rouse/runtime/main_futures.h"
#include "rouse/runtime/metrics.h"
#include "rouse/scheduler/blocking/blocking_call.h"
#include "rouse/scheduler/blocking_pool.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/spawn_options.h"
#include "rouse/scheduler/task_dump.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

class EnterGuard;

// RuntimeId
//
// Unique within a process and never used again; never 0.
using RuntimeId = uint64_t;

// RuntimeFlavor
//
// Which of its two beginnings a `Builder` had.
enum class RuntimeFlavor : unsigned char { kCurrentThread, kMultiThread };

namespace internal {

// One that no runtime has had. Thread-safe.
RuntimeId NextRuntimeId();

class RuntimeInner;

// What the handles of one runtime share. Outlives the runtime.
struct RuntimeShared {
  // Takes over a reference to `scheduler`, and makes one to `blocking`.
  RuntimeShared(std::string name, RuntimeFlavor flavor,
                scheduler::Scheduler* scheduler,
                scheduler::BlockingPool* blocking, wheel::Handle timer,
                reactor::Handle reactor,
                std::shared_ptr<MainFutures> main_futures)
      : id(NextRuntimeId()),
        name(std::move(name)),
        flavor(flavor),
        scheduler(scheduler),
        blocking(blocking),
        timer(std::move(timer)),
        reactor(std::move(reactor)),
        main_futures(std::move(main_futures)) {
    blocking->Ref();
  }
  RuntimeShared(const RuntimeShared&) = delete;
  RuntimeShared& operator=(const RuntimeShared&) = delete;
  ~RuntimeShared() {
    blocking->Unref();
    scheduler->Unref();
  }

  const RuntimeId id;
  const std::string name;
  const RuntimeFlavor flavor;
  scheduler::Scheduler* const scheduler;
  scheduler::BlockingPool* const blocking;
  const wheel::Handle timer;
  const reactor::Handle reactor;
  const std::shared_ptr<MainFutures> main_futures;
};

// Names the runtime of this thread. Guards nest.
class ScopedRuntime {
 public:
  // `shared` outlives the guard.
  explicit ScopedRuntime(const std::shared_ptr<const RuntimeShared>& shared);
  ScopedRuntime(const ScopedRuntime&) = delete;
  ScopedRuntime& operator=(const ScopedRuntime&) = delete;
  ~ScopedRuntime();

  // A `Panic()` if a later guard of this thread is still there, or this is
  // another thread.
  void CheckEndsNow() const;

 private:
  const std::shared_ptr<const RuntimeShared>& shared_;
  const std::shared_ptr<const RuntimeShared>* const outer_;
};

}  // namespace internal

// Handle
//
// Thread-safe; copying counts a reference. It may outlive its runtime: a task
// that is spawned then is cancelled at once, and joining it gives `kCancelled`.
// One that was moved from may only be assigned to and destroyed.
class Handle {
 public:
  // The runtime of this thread: in a task, a blocking call or `BlockOn()`, and
  // where a guard of `Enter()` lives. A `Panic()` if there is none.
  static Handle Current();
  // The same; nothing if there is none.
  static std::optional<Handle> TryCurrent();

  // Runs `f`, a future or a callable that returns one, on this thread until it
  // is ready, and returns its output. It may use all of the runtime, whose
  // tasks run elsewhere: on the runtime's threads or, of a current-thread
  // runtime, on a thread that is in `Runtime::BlockOn()`; while there is none
  // they make no progress, and `f` may wait for ever.
  //
  // Not from inside a task or another `BlockOn()`: that is a `Panic()`. Else as
  // `Runtime::BlockOn()`.
  template <class F>
    requires IntoFuture<F>
  auto BlockOn(F&& f) const;

  // Starts a task, from any thread: see `rouse::Spawn()`. The handle must last
  // until the call returns, even if the task has ended before that.
  template <class F>
  auto Spawn(
      F&& f, const SpawnOptions& options = {},
      std::source_location where = std::source_location::current()) const {
    task::CheckSpawnable<F>();
    return shared_->scheduler->Spawn(std::forward<F>(f), options, where);
  }

  // Makes a call that blocks, on a thread for such calls: see
  // `rouse::SpawnBlocking()`.
  template <class F>
    requires scheduler::BlockingCallable<std::decay_t<F>>
  auto SpawnBlocking(F&& f, std::source_location where =
                                std::source_location::current()) const {
    return shared_->blocking->Spawn(std::forward<F>(f), where);
  }

  // The same; what was spawned before the runtime is shut down runs in any
  // case, even if it has not begun then.
  template <class F>
    requires scheduler::BlockingCallable<std::decay_t<F>>
  auto SpawnMandatoryBlocking(
      F&& f,
      std::source_location where = std::source_location::current()) const {
    return shared_->blocking->SpawnMandatory(std::forward<F>(f), where);
  }

  // Makes the runtime the current one of this thread until the guard goes:
  // `Spawn()`, `SpawnBlocking()`, `Sleep` and sockets find it.
  EnterGuard Enter() const;

  // The clock that the runtime's timers go by.
  Clock& clock() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return shared_->timer.clock();
  }

  // The driver of the runtime's timers, for what is given one: a `Sleep` that
  // is first polled on a thread of its own, a `DelayQueue`, `IntervalOptions`.
  const wheel::Handle& timer() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return shared_->timer;
  }

  // The runtime's id; its name, from `Builder::Name()`; and its kind. They stay
  // the same, also when the runtime has gone.
  RuntimeId id() const { return shared_->id; }
  std::string_view name() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return shared_->name;
  }
  RuntimeFlavor flavor() const { return shared_->flavor; }

  // How many tasks have been spawned and have not ended.
  size_t alive_tasks() const { return shared_->scheduler->alive_tasks(); }

  // What the runtime has done so far, and what waits in it now.
  RuntimeMetrics metrics() const {
    return {shared_->scheduler->metrics(), shared_->blocking->metrics(),
            shared_->blocking->lookup_metrics(), shared_->reactor.metrics()};
  }

  // What each task waits for, and since when: see task_dump.h. Not to be called
  // inside a `Trace()`.
  TaskDump Dump() const { return shared_->scheduler->Dump(); }

 private:
  friend class EnterGuard;
  friend class internal::RuntimeInner;

  explicit Handle(std::shared_ptr<const internal::RuntimeShared> shared)
      : shared_(std::move(shared)) {}

  void BlockOnPoll(absl::FunctionRef<bool(Context&)> poll) const;
  // A `Panic()` where this thread has to make progress.
  void CheckMayBlock() const;
  // If a main future can not be waited for any more.
  [[noreturn]] void PanicInBlockOn() const;

  std::shared_ptr<const internal::RuntimeShared> shared_;
};

// EnterGuard
//
// See `Handle::Enter()`. Guards nest: they are destroyed on the thread that
// made them, the last one first. Else that is a `Panic()` out of a destructor,
// which ends the program with its message.
class [[nodiscard("the runtime is left when the guard goes")]] EnterGuard {
 public:
  explicit EnterGuard(const Handle& handle)
      : shared_(handle.shared_),
        current_(shared_),
        scheduler_(*shared_->scheduler),
        blocking_(*shared_->blocking),
        timer_(shared_->timer),
        reactor_(shared_->reactor) {}
  EnterGuard(const EnterGuard&) = delete;
  EnterGuard& operator=(const EnterGuard&) = delete;
  ~EnterGuard() {
    current_.CheckEndsNow();
    // What the thread has done for the runtime it may have done.
    FramePool::OnIdle();
  }

 private:
  const std::shared_ptr<const internal::RuntimeShared> shared_;
  const internal::ScopedRuntime current_;
  const scheduler::ScopedDefault scheduler_;
  const scheduler::ScopedBlockingPool blocking_;
  const wheel::ScopedDefault timer_;
  const reactor::ScopedDefault reactor_;
};

inline EnterGuard Handle::Enter() const { return EnterGuard(*this); }

namespace internal {

// Makes the main future of `f`, and has `block_on` poll it until it is ready.
template <class F, class BlockOn>
auto RunMainFuture(const Handle& handle, F&& f, BlockOn block_on) {
  using Main = internal::FutureFrom<std::decay_t<F>>;
  using Output = FutureOutput<Main>;
  const EnterGuard enter(handle);  // also while `main` is destroyed
  Main main(std::forward<F>(f));
  PollResult<Output> output = kPending;
  block_on([&main, &output](Context& cx) {
    output = main.Poll(cx);
    return output.IsReady();
  });
  return static_cast<Output>(std::move(output).value());
}

}  // namespace internal

template <class F>
  requires IntoFuture<F>
auto Handle::BlockOn(F&& f) const {
  return internal::RunMainFuture(
      *this, std::forward<F>(f),
      [this](absl::FunctionRef<bool(Context&)> poll) { BlockOnPoll(poll); });
}

}  // namespace rouse

#endif  // ROUSE_RUNTIME_HANDLE_H_

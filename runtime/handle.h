// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: handle.h
// -----------------------------------------------------------------------------
//
// A `Handle` refers to a runtime from anywhere. Threads outside the runtime use
// a handle to spawn tasks, and to use the runtime's clock and sockets.
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
// Identifies a runtime. An id is unique within a process, is never used again,
// and is never 0.
using RuntimeId = uint64_t;

// RuntimeFlavor
//
// Says whether the runtime's builder came from `Builder::CurrentThread()` or
// `Builder::MultiThread()`.
enum class RuntimeFlavor : unsigned char { kCurrentThread, kMultiThread };

// Formats a flavor as "current-thread" or "multi-thread".
template <class Sink>
void AbslStringify(Sink& sink, RuntimeFlavor flavor) {
  sink.Append(flavor == RuntimeFlavor::kCurrentThread ? "current-thread"
                                                      : "multi-thread");
}

namespace internal {

// Returns a new id, unlike that of any other runtime. Thread-safe.
RuntimeId NextRuntimeId();

class RuntimeInner;

// State shared by the handles of a runtime. Outlives the runtime.
struct RuntimeShared {
  // Takes over a reference to `scheduler`, and adds a reference to `blocking`.
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

// Names the runtime of the calling thread. Guards nest.
class ScopedRuntime {
 public:
  // REQUIRES: `shared` outlives the guard.
  explicit ScopedRuntime(const std::shared_ptr<const RuntimeShared>& shared);
  ScopedRuntime(const ScopedRuntime&) = delete;
  ScopedRuntime& operator=(const ScopedRuntime&) = delete;
  ~ScopedRuntime();

  // Ends with a `Panic()` if a later guard of the calling thread still exists,
  // or if another thread made the guard.
  void CheckEndsNow() const;

 private:
  const std::shared_ptr<const RuntimeShared>& shared_;
  const std::shared_ptr<const RuntimeShared>* const outer_;
};

}  // namespace internal

// Handle
//
// Thread-safe. Copying a handle counts a reference. A handle can outlive its
// runtime: a task spawned after the runtime's end is cancelled at once, and
// joining the task returns `kCancelled`. A moved-from handle can only be
// assigned to and destroyed.
class Handle {
 public:
  // Returns the runtime of the calling thread: in a task, a blocking call or
  // `BlockOn()`, and while a guard of `Enter()` exists. Without a runtime, the
  // call is a `Panic()`.
  static Handle Current();
  // Returns the runtime of the calling thread like `Current()`, but returns
  // nothing if the thread has no runtime.
  static std::optional<Handle> TryCurrent();

  // Runs `f`, a future or a callable returning a future, on the calling thread
  // until the future is ready, and returns the future's output. The future can
  // use all of the runtime. The runtime's tasks run elsewhere: on the runtime's
  // threads or, for a current-thread runtime, on a thread in
  // `Runtime::BlockOn()`. While no thread is in `Runtime::BlockOn()`, the tasks
  // of a current-thread runtime make no progress, and `f` may wait forever.
  //
  // REQUIRES: The caller is not inside a task or another `BlockOn()`; a
  // violation is a `Panic()`. In all other respects the call is like
  // `Runtime::BlockOn()`.
  template <class F>
    requires IntoFuture<F>
  auto BlockOn(F&& f) const;

  // Spawns a task, from any thread: see `rouse::Spawn()`. The handle must exist
  // until the call returns, even if the task has ended before then.
  template <class F>
  auto Spawn(
      F&& f, const SpawnOptions& options = {},
      std::source_location where = std::source_location::current()) const {
    task::CheckSpawnable<F>();
    return shared_->scheduler->Spawn(std::forward<F>(f), options, where);
  }

  // Runs a blocking call on a thread for blocking calls: see
  // `rouse::SpawnBlocking()`.
  template <class F>
    requires scheduler::BlockingCallable<std::decay_t<F>>
  auto SpawnBlocking(F&& f, std::source_location where =
                                std::source_location::current()) const {
    return shared_->blocking->Spawn(std::forward<F>(f), where);
  }

  // Runs a blocking call like `SpawnBlocking()`, but as a mandatory call: if
  // spawned before the runtime is shut down, the call runs in any case, even if
  // it has not begun by then.
  template <class F>
    requires scheduler::BlockingCallable<std::decay_t<F>>
  auto SpawnMandatoryBlocking(
      F&& f,
      std::source_location where = std::source_location::current()) const {
    return shared_->blocking->SpawnMandatory(std::forward<F>(f), where);
  }

  // Makes the runtime the current runtime of the calling thread until the guard
  // is destroyed: `Spawn()`, `SpawnBlocking()`, `Sleep` and sockets then use
  // the runtime.
  EnterGuard Enter() const;

  // Returns the clock of the runtime's timers.
  Clock& clock() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return shared_->timer.clock();
  }

  // Returns the driver of the runtime's timers, to be passed to other objects:
  // a `Sleep` whose first poll is on a thread outside any runtime, a
  // `DelayQueue`, `IntervalOptions`.
  const wheel::Handle& timer() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return shared_->timer;
  }

  // Return the runtime's id, name (from `Builder::Name()`) and kind. All three
  // stay the same even after the runtime was destroyed.
  RuntimeId id() const { return shared_->id; }
  std::string_view name() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return shared_->name;
  }
  RuntimeFlavor flavor() const { return shared_->flavor; }

  // Returns all three, for logs, such as: runtime 1 "server" (multi-thread).
  std::string ToString() const;

  template <class Sink>
  friend void AbslStringify(Sink& sink, const Handle& handle) {
    sink.Append(handle.ToString());
  }

  // Returns how many tasks have been spawned and have not ended.
  size_t alive_tasks() const { return shared_->scheduler->alive_tasks(); }

  // Returns the runtime's counters so far, and the state of its queues now.
  RuntimeMetrics metrics() const {
    return {shared_->scheduler->metrics(), shared_->blocking->metrics(),
            shared_->blocking->lookup_metrics(), shared_->reactor.metrics()};
  }

  // Returns what each task waits for, and since when: see task_dump.h.
  //
  // REQUIRES: The caller is not inside a `Trace()`.
  TaskDump Dump() const { return shared_->scheduler->Dump(); }

 private:
  friend class EnterGuard;
  friend class internal::RuntimeInner;

  explicit Handle(std::shared_ptr<const internal::RuntimeShared> shared)
      : shared_(std::move(shared)) {}

  void BlockOnPoll(absl::FunctionRef<bool(Context&)> poll) const;
  // Ends with a `Panic()` if the calling thread must make progress, and so must
  // not block.
  void CheckMayBlock() const;
  // Reports why `call` cannot run the tasks, or wait for a main future, any
  // longer.
  [[noreturn]] void PanicInBlockOn(std::string_view call = "BlockOn") const;

  std::shared_ptr<const internal::RuntimeShared> shared_;
};

// EnterGuard
//
// Returned by `Handle::Enter()`. Guards nest: each guard must be destroyed on
// the thread that made it, the last one first. A violation is a `Panic()` out
// of a destructor, which ends the program with its message.
class [[nodiscard(
    "the thread leaves the runtime when the guard is destroyed")]] EnterGuard {
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
    // The thread may have finished its work for the runtime.
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

// Makes the main future of `f`, and has `block_on` poll the future until the
// future is ready.
template <class F, class BlockOn>
auto RunMainFuture(const Handle& handle, F&& f, BlockOn block_on) {
  using Main = internal::FutureFrom<std::decay_t<F>>;
  using Output = FutureOutput<Main>;
  const EnterGuard enter(handle);  // entered even while `main` is destroyed
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

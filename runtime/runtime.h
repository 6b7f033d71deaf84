// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: runtime.h
// -----------------------------------------------------------------------------
//
// A `Runtime` is a scheduler with the drivers that its tasks need: timers and
// sockets. A program makes one, and runs its main future on it:
//
//   rouse::Co<int> Main() { ... }
//
//   int main() {
//     absl::StatusOr<rouse::Runtime> runtime =
//         rouse::Builder::MultiThread().Build();
//     if (!runtime.ok()) { ... }
//     return runtime->BlockOn(Main());
//   }

#ifndef ROUSE_RUNTIME_RUNTIME_H_
#define ROUSE_RUNTIME_RUNTIME_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/future.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/metrics.h"
#include "rouse/scheduler/blocking/blocking_call.h"
#include "rouse/scheduler/long_poll.h"
#include "rouse/scheduler/metrics.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/spawn_options.h"
#include "rouse/scheduler/task/task_meta.h"
#include "rouse/scheduler/task/unhandled.h"
#include "rouse/timer/clock.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {
class RuntimeInner;
struct RuntimeOptions;
}  // namespace internal

// Runtime
//
// Made by a `Builder`. Movable; assigning swaps the two. One that was moved
// from may only be assigned to and destroyed.
//
// Destroying it shuts it down, in this order:
//
//   1. Blocking calls are not taken any more, and those that have not begun are
//      cancelled, unless they are mandatory.
//   2. Tasks are not polled any more. Each is destroyed on a thread of the
//      runtime, and its `JoinHandle` gives `kCancelled`. (On the destroying
//      thread if it is a current-thread runtime, or if all threads are in
//      `BlockInPlace()` and no other has begun to run in time.) The destructor
//      waits for the polls that are under way, but for those that are in a
//      `BlockInPlace()`.
//   3. Sleeps and sockets that others still wait for give `kUnavailable`. Now
//      the destructor waits for all polls.
//   4. The destructor waits for the blocking calls that are under way or
//      mandatory; but not for lookups of names, which are left to end by
//      themselves.
//
// It waits however long they take: see `ShutdownTimeout()`.
//
// Destroying a runtime from one of its own tasks would wait for itself: that is
// a `Panic()` out of a destructor, which ends the program with its message. Let
// the last owner be a thread outside, or see `ShutdownBackground()`. A blocking
// call may be the last owner, too; then blocking calls are not waited for.
//
// All functions are thread-safe but for moving and destroying.
class Runtime {
 public:
  Runtime(Runtime&& other) noexcept;
  Runtime& operator=(Runtime&& other) noexcept;
  ~Runtime();

  // Runs `f`, a future or a callable that returns one, on this thread until it
  // is ready, and returns its output. It may use all of the runtime. An
  // exception that leaves it comes out of this call. If one that leaves a task
  // shuts the runtime down, which is for `Builder::OnUnhandledException()` to
  // choose, and `f` is still pending then, that is a `Panic()`.
  //
  // The tasks run on the runtime's threads or, on a current-thread runtime,
  // here, beside `f`, and only here: they make no progress while nobody is in
  // `BlockOn()`. If several threads are, one of them runs the tasks.
  //
  // Not from inside a task or another `BlockOn()`: it would block what it waits
  // for, so that is a `Panic()`. Use `co_await`.
  template <class F>
    requires IntoFuture<F>
  auto BlockOn(F&& f);

  // Starts a task, from any thread: see `rouse::Spawn()`. The runtime must last
  // until the call returns, even if the task has ended before that.
  template <class F>
  auto Spawn(F&& f, const SpawnOptions& options = {},
             std::source_location where = std::source_location::current()) {
    task::CheckSpawnable<F>();
    return handle().Spawn(std::forward<F>(f), options, where);
  }

  // Makes a call that blocks: see `rouse::SpawnBlocking()`.
  template <class F>
    requires scheduler::BlockingCallable<std::decay_t<F>>
  auto SpawnBlocking(
      F&& f, std::source_location where = std::source_location::current()) {
    return handle().SpawnBlocking(std::forward<F>(f), where);
  }

  // Shuts the runtime down as the destructor does, but waits no longer than
  // `limit`, in real time. Whether all has ended. If not, polls and blocking
  // calls that are under way are left to end by themselves, and the runtime's
  // threads go through the rest of the phases without the caller (when one of
  // them comes back, if all are in `BlockInPlace()` and no other can be
  // started); the end of the program ends them, wherever they are. The runtime
  // is as one that was moved from.
  //
  // A current-thread runtime has no threads but for blocking calls: the caller
  // goes through the phases before them, whatever the limit.
  //
  // A task of the runtime would wait for itself: that is a `Panic()`, unless
  // `limit` is zero and the runtime has threads of its own.
  bool ShutdownTimeout(AnyDuration limit) &&;

  // The same without waiting at all. Hence a task may do it to its own runtime,
  // unless that is a current-thread one; it is cancelled as the others are. A
  // waker may do it, too, on whatever thread it is called: if that is the
  // watchdog (see `Builder::LongPollBound()`), another goes through the phases,
  // and if none can be started that is a `Panic()`.
  void ShutdownBackground() && {
    std::move(*this).ShutdownTimeout(absl::ZeroDuration());
  }

  const Handle& handle() const;

  // What the runtime has done so far, and what waits in it now.
  RuntimeMetrics metrics() const { return handle().metrics(); }

  // See `Handle::Enter()`.
  EnterGuard Enter() const { return handle().Enter(); }

 private:
  friend class Builder;

  explicit Runtime(std::shared_ptr<internal::RuntimeInner> inner);

  // Calls `poll`, each time that it has woken its context, until it returns
  // true.
  void BlockOnPoll(absl::FunctionRef<bool(Context&)> poll);

  std::shared_ptr<internal::RuntimeInner> inner_;
};

// Builder
//
// The choices of a runtime. Setters may be chained and called in any order; the
// last call of one counts. Movable, and reusable: each `Build()` makes another
// runtime.
class Builder {
 public:
  // Tasks run on threads of the runtime.
  static Builder MultiThread();
  // Tasks run on the thread that is in `BlockOn()`, and on no other.
  static Builder CurrentThread();

  Builder(Builder&& other) noexcept;
  Builder& operator=(Builder&& other) noexcept;
  ~Builder();

  // ---- Threads.

  // How many threads run tasks. By default, and for 0, the number in the
  // environment variable ROUSE_WORKER_THREADS, or else as many as there are
  // processors that the thread which calls `Build()` may run on; or, if that is
  // less, as its control group's quota of processor time allows, such as a
  // container's, rounded up. At most 32,768. Of no use for a current-thread
  // runtime.
  Builder& WorkerThreads(size_t count);

  // How many threads for blocking calls there may be, beside those that run
  // tasks; at least 1, 512 by default. They are started when they are needed.
  // `BlockInPlace()` has threads of its own: at most as many as this and
  // `WorkerThreads()` together, until the runtime is shut down. So have lookups
  // of names: at most 64, and no more than this.
  Builder& MaxBlockingThreads(size_t count);

  // How long such a thread waits for another call before it ends, in real time;
  // 10 seconds by default. May be zero, or infinite.
  Builder& ThreadKeepAlive(AnyDuration keep_alive);

  // What the threads are called, before a dash and their number: "rouse-0",
  // "rouse-blk-0". The system shows 15 bytes, so keep it to some 8.
  Builder& ThreadName(std::string name);

  // Called for the name of each thread instead, by whichever thread starts it;
  // but not for that which watches for long polls. It must neither throw, nor
  // use the runtime.
  Builder& ThreadNameFn(std::function<std::string()> call);

  // The size of their stacks in bytes. By default, and for 0, the system's.
  Builder& ThreadStackSize(size_t bytes);

  // Called on threads of the runtime before their first task or blocking call,
  // and after their last: on those that run tasks, those that stand in for one
  // which is in a `BlockInPlace()`, and those of blocking calls; not on the one
  // that watches for long polls. When a thread starts it has entered the
  // runtime: `Handle::Current()` is there. They must not throw. (Not on those
  // that look up names, either.)
  Builder& OnThreadStart(std::function<void()> call);
  Builder& OnThreadStop(std::function<void()> call);

  // ---- Which task runs next.

  // The seed of all random choices of the scheduler. The default is fixed, so
  // that runs resemble one another. With one worker and a paused clock they are
  // the same.
  Builder& Seed(uint64_t seed);

  // Whether what a task wakes runs right after it, ahead of what has waited
  // longer; three times in a row at the most. By default it does in a
  // multi-thread runtime: what was passed on is still in the processor's cache.
  Builder& LifoSlot(bool on);

  // After how many polls a thread looks for I/O and timers although it has
  // tasks to run; 61 by default. Larger is cheaper, smaller is sooner. Not 0.
  Builder& EventInterval(uint32_t polls);

  // How many events of sockets a thread takes from the system at a time, 1 to
  // 1024; 1024 by default. The rest is taken the next time.
  Builder& MaxEventsPerTurn(size_t events);

  // After how many polls a thread looks for tasks from outside although it has
  // its own. By default, and for 0, after 127 polls or 50 microseconds; or 31
  // polls where there is one thread.
  Builder& GlobalQueueInterval(uint32_t polls);

  // By when others see to it that I/O, timers, and the tasks that a thread
  // keeps to itself do not wait any longer for it while it is stuck in a long
  // poll, in real time; 10 milliseconds by default. (Tasks that it has shared
  // with the others can be stolen at any time.) From 100 microseconds; infinite
  // saves the thread that does this. Of no use for a current-thread runtime,
  // nor with a clock that is paused when the runtime is built: a simulation
  // must not depend on real time.
  Builder& LongPollBound(AnyDuration bound);

  // What is done when an exception leaves one of its tasks; by default it is
  // logged, once, unless somebody takes it: see `UnhandledException::kLog`.
  //
  // For its blocking calls, `kLog` and `kIgnore` say the same; the other two
  // count as `kLog` there. The exceptions of a `LocalSet`'s tasks are logged
  // unless somebody takes them, whatever is said here.
  Builder& OnUnhandledException(UnhandledException then);

  // The same as `kLog`, but `call` is called instead of logging, on the thread
  // where it turns out that nobody takes the exception: one of the runtime, or
  // the one that drops the `JoinHandle`, also when the runtime has gone. It
  // must not throw.
  Builder& OnUnhandledException(UnhandledExceptionCallback call);

  // ---- Observing it.

  // Called when a thread that runs tasks has none left, before it sleeps, and
  // when it goes on. They may spawn and wake tasks; they must not throw, nor
  // must the following.
  Builder& OnThreadPark(std::function<void()> call);
  Builder& OnThreadUnpark(std::function<void()> call);

  // Called with a task's id, its name and the place of its `Spawn()`: when it
  // is spawned, on the spawning thread; before and after each poll; and when it
  // has ended, in whatever way.
  Builder& OnTaskSpawn(std::function<void(const TaskMeta&)> call);
  Builder& BeforeTaskPoll(std::function<void(const TaskMeta&)> call);
  Builder& AfterTaskPoll(std::function<void(const TaskMeta&)> call);
  Builder& OnTaskTerminate(std::function<void(const TaskMeta&)> call);

  // Called when a poll of a task keeps its thread for long: with the task, its
  // worker and thread, and how long it has lasted.
  //
  // In a multi-thread runtime it is called once while the poll goes on, on the
  // thread that watches for long polls, after half of `LongPollBound()` at the
  // earliest and after all of it at the latest (plus what it takes the system
  // to run a thread). For a native stack, see `StackOfThread()` in
  // stack_of_thread.h, which may be called there. In any runtime it is called
  // when the poll has ended, on the thread that was in it, if it has lasted for
  // the bound or was reported before; then with the chain of coroutines by
  // which the task waits now. Not for polls that block in place.
  //
  // Costs each poll a reading of the cycle counter and some stores to the
  // memory of its worker. With an infinite bound, or a clock that is
  // paused when the runtime is built, it is never called. It must neither throw
  // nor block: as long as it runs nobody sees to long polls. Without it they
  // are counted all the same: see `WorkerMetrics::long_polls`.
  Builder& OnLongPoll(LongPollCallback call);

  // Counts polls by their length, for some 20 ns each: see
  // `WorkerMetrics::poll_times`. Off by default. The second form says how fine:
  // `linear_steps` must be 1, 2, 4 or 8, and `shortest` less than `longest`.
  Builder& PollTimeHistogram(bool on);
  Builder& PollTimeHistogram(const scheduler::PollTimeBuckets& buckets);

  // Counts polls by how long their tasks have waited for them, from being
  // spawned or woken, or from their yield: see
  // `WorkerMetrics::schedule_latencies`. Off by default. Costs each poll and
  // each wake a reading of the processor's clock, and each spawn an allocation,
  // unless the task has a name. The second form says how fine, as above.
  Builder& ScheduleLatencyHistogram(bool on);
  Builder& ScheduleLatencyHistogram(const scheduler::PollTimeBuckets& buckets);

  // What the runtime is called in what observes it: see `Handle::name()`. Empty
  // by default.
  Builder& Name(std::string name);

  // ---- Time.

  // The length of a timer tick, from 64 microseconds to one second; 1 ms by
  // default.
  Builder& TimerResolution(AnyDuration resolution);

  // The clock of timers: for a test, one that is paused. By default each
  // runtime has one of its own.
  Builder& WithClock(std::shared_ptr<Clock> clock);

  // Starts the threads that run tasks. Fails with `kInvalidArgument` for a
  // choice that is out of its range, and else with the status of the system
  // call that failed: `kUnavailable` if no more threads can be had,
  // `kResourceExhausted` if no more descriptors.
  absl::StatusOr<Runtime> Build();

 private:
  explicit Builder(bool multi_thread);

  std::unique_ptr<internal::RuntimeOptions> options_;
};

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

template <class F>
  requires IntoFuture<F>
auto Runtime::BlockOn(F&& f) {
  return internal::RunMainFuture(
      handle(), std::forward<F>(f),
      [this](absl::FunctionRef<bool(Context&)> poll) { BlockOnPoll(poll); });
}

}  // namespace rouse

#endif  // ROUSE_RUNTIME_RUNTIME_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: runtime.h
// -----------------------------------------------------------------------------
//
// A `Runtime` is a scheduler with drivers for timers and sockets. A program
// makes a runtime and runs its main future on the runtime:
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
// A `Builder` makes a `Runtime`. A runtime is movable; assignment swaps the two
// runtimes. A moved-from runtime can only be assigned to and destroyed.
//
// The destructor shuts the runtime down, in the following order:
//
//   1. Blocking calls are no longer accepted. Blocking calls that have not
//      begun are cancelled, unless they are mandatory.
//   2. Tasks are no longer polled. Each task is destroyed on a thread of the
//      runtime, and its `JoinHandle` returns `kCancelled`. (The destroying
//      thread destroys the tasks if the runtime is a current-thread runtime, or
//      if all threads are in `BlockInPlace()` and no other thread has begun to
//      run in time.) The destructor waits for the polls that are in progress,
//      except for polls that are in a `BlockInPlace()`.
//   3. Sleeps and sockets that are still waited for return `kUnavailable`. Now
//      the destructor waits for all polls.
//   4. The destructor waits for the blocking calls that are in progress or
//      mandatory. The exceptions are name lookups, and calls on standard
//      streams that may never end (process/standard_streams.h), which are left
//      to end by themselves.
//
// The destructor waits without a limit; see `ShutdownTimeout()`.
//
// If a task destroyed its own runtime, the destructor would wait for the
// calling task. Doing so is a `Panic()` out of a destructor, which ends the
// program with its message. Let a thread outside the runtime be the last owner,
// or see `ShutdownBackground()`. A blocking call can be the last owner, too;
// the destructor then does not wait for blocking calls.
//
// All functions are thread-safe, except for moving and destroying.
class Runtime {
 public:
  Runtime(Runtime&& other) noexcept;
  Runtime& operator=(Runtime&& other) noexcept;
  ~Runtime();

  // Runs `f`, a future or a callable returning a future, on the calling thread
  // until the future is ready, and returns the future's output. The future can
  // use all of the runtime. If an exception escapes the future, `BlockOn()`
  // throws it. An exception that escapes a task can shut the runtime down, if
  // `Builder::OnUnhandledException()` says so. If that happens while `f` is
  // still pending, `BlockOn()` ends with a `Panic()`.
  //
  // Tasks run on the runtime's threads. On a current-thread runtime, tasks run
  // only on the calling thread, beside `f`: they make no progress while no
  // thread is in `BlockOn()` or `Turn()`. If several threads are in
  // `BlockOn()`, only one of the threads runs the tasks.
  //
  // REQUIRES: The caller is not inside a task or another `BlockOn()`, because
  // the call would then block the thread whose progress it needs; a violation
  // is a `Panic()`. Use `co_await` there.
  template <class F>
    requires IntoFuture<F>
  auto BlockOn(F&& f);

  // Runs the tasks that are ready, and the tasks whose events and deadlines
  // have come, and returns without blocking. A thread that runs the event loop
  // of another library calls `Turn()` in place of `BlockOn()`: the library
  // waits for `fd()`, and the tasks run on the library's thread.
  //
  //   for (;;) {
  //     const absl::Duration wait = runtime.Turn();
  //     ... wait until runtime.fd() is readable, but no longer than `wait` ...
  //     ... do the other work of the loop ...
  //   }
  //
  // Returns how long the loop may wait before the next call: zero if tasks are
  // still ready, and otherwise until the earliest deadline of a timer, on the
  // monotonic clock; infinity without a timer. The result can be shorter for a
  // deadline that is far away, up to five times. A loop with a coarser unit
  // must round up, or calls in vain. The loop must call `Turn()` when the time
  // has passed, and when `fd()` is readable. More calls are allowed. A call
  // polls about as many tasks as `Builder::EventInterval()` says, so that the
  // loop has its turn.
  //
  // The first call binds the runtime to the calling thread: from then on, only
  // this thread runs tasks, in `Turn()` or in `BlockOn()`. `BlockOn()` on
  // another thread waits for its future, which must therefore be able to
  // complete without that thread. A task that is spawned or woken by any
  // thread, or by the loop between two calls, makes `fd()` readable.
  //
  // REQUIRES: The runtime is a current-thread runtime; no other thread has
  // called `Turn()`, or is in `BlockOn()` at the first call; and the caller is
  // not inside a task or a `BlockOn()`. A violation is a `Panic()`. If an
  // exception shuts the runtime down (see `Builder::OnUnhandledException()`),
  // the call ends with a `Panic()`, too. If a waker throws, so does the call;
  // `fd()` is then readable, and the loop can continue with another call.
  //
  // Costs a system call, which takes the events.
  absl::Duration Turn();

  // Returns the descriptor that is readable when `Turn()` must be called before
  // its time. The runtime continues to own the descriptor: the loop must remove
  // it before the runtime is destroyed. The descriptor may be readable without
  // a reason. A loop that waits for edges (EPOLLET) must add the descriptor
  // again, or modify it, before each wait.
  //
  // REQUIRES: The runtime is a current-thread runtime; a violation is a
  // `Panic()`.
  int fd() const;

  // Spawns a task, from any thread: see `rouse::Spawn()`. The runtime must
  // exist until the call returns, even if the task has ended before then.
  template <class F>
  auto Spawn(F&& f, const SpawnOptions& options = {},
             std::source_location where = std::source_location::current()) {
    task::CheckSpawnable<F>();
    return handle().Spawn(std::forward<F>(f), options, where);
  }

  // Runs a blocking call: see `rouse::SpawnBlocking()`.
  template <class F>
    requires scheduler::BlockingCallable<std::decay_t<F>>
  auto SpawnBlocking(
      F&& f, std::source_location where = std::source_location::current()) {
    return handle().SpawnBlocking(std::forward<F>(f), where);
  }

  // Shuts the runtime down as the destructor does, but waits no longer than
  // `limit`, in real time. Returns whether everything has ended. If not, polls
  // and blocking calls in progress are left to end by themselves, and the
  // runtime's threads go through the remaining phases without the caller. (If
  // all threads are in `BlockInPlace()` and no other thread can be started, the
  // remaining phases begin when a thread returns from there.) The end of the
  // program ends the threads, wherever they are. Afterwards the runtime is like
  // a moved-from runtime.
  //
  // A current-thread runtime has no threads except for blocking calls. The
  // caller therefore goes through phases 1 to 3, whatever the limit.
  //
  // If a task of the runtime made the call, the call would wait for its own
  // caller. Doing so is a `Panic()`, unless `limit` is zero and the runtime has
  // threads of its own.
  bool ShutdownTimeout(AnyDuration limit) &&;

  // Shuts the runtime down like `ShutdownTimeout()`, but does not wait at all.
  // A task can therefore shut its own runtime down, unless the runtime is a
  // current-thread runtime; the calling task is cancelled like the others. A
  // waker can also call `ShutdownBackground()`, on whatever thread the waker is
  // called. On the watchdog's thread (see `Builder::LongPollBound()`), another
  // thread goes through the phases; if no such thread can be started, the call
  // is a `Panic()`.
  void ShutdownBackground() && {
    std::move(*this).ShutdownTimeout(absl::ZeroDuration());
  }

  // Returns the runtime's handle, which can be copied and may outlive the
  // runtime.
  const Handle& handle() const;

  // Returns the runtime's counters so far, and the state of its queues now.
  RuntimeMetrics metrics() const { return handle().metrics(); }

  // Makes the runtime current on the calling thread: see `Handle::Enter()`.
  EnterGuard Enter() const { return handle().Enter(); }

 private:
  friend class Builder;

  explicit Runtime(std::shared_ptr<internal::RuntimeInner> inner);

  // Calls `poll` once at first, and again each time `poll`'s context is woken,
  // until `poll` returns true.
  void BlockOnPoll(absl::FunctionRef<bool(Context&)> poll);

  std::shared_ptr<internal::RuntimeInner> inner_;
};

// Builder
//
// Collects the options of a runtime. Setters can be chained and called in any
// order; the last call of a setter counts. A builder is movable and reusable:
// each `Build()` makes another runtime.
class Builder {
 public:
  // Returns a builder of multi-thread runtimes: tasks run on threads of the
  // runtime.
  static Builder MultiThread();
  // Returns a builder of current-thread runtimes: tasks run on the thread in
  // `BlockOn()` or in `Turn()`, and on no other thread.
  static Builder CurrentThread();

  Builder(Builder&& other) noexcept;
  Builder& operator=(Builder&& other) noexcept;
  ~Builder();

  // ---- Threads.

  // Sets the number of worker threads, which run the tasks. By default, and for
  // 0, the environment variable ROUSE_WORKER_THREADS gives the number. If the
  // variable is not set, the number is the smaller of two: the number of
  // processors on which the thread calling `Build()` can run, and the
  // processor-time quota of the thread's control group (such as a container's),
  // rounded up. At most 32,768. Has no effect on a current-thread runtime.
  Builder& WorkerThreads(size_t count);

  // Sets the largest number of threads for blocking calls, not counting the
  // worker threads. At least 1; 512 by default. The threads are started when
  // needed. `BlockInPlace()` has separate threads: at most as many as `count`
  // and `WorkerThreads()` together, until the runtime is shut down. Name
  // lookups, and calls on standard streams that may never end
  // (process/standard_streams.h), also have separate threads: at most 64
  // together, and no more than `count`.
  Builder& MaxBlockingThreads(size_t count);

  // Sets how long a thread for blocking calls waits for another call before the
  // thread ends, in real time. 10 seconds by default. Zero and infinity are
  // allowed.
  Builder& ThreadKeepAlive(AnyDuration keep_alive);

  // Sets the name of the threads. A dash and the thread's number follow the
  // name: "rouse-0", "rouse-blk-0". The system shows 15 bytes, so keep the name
  // to about 8.
  Builder& ThreadName(std::string name);

  // Sets a function to be called for the name of each thread, in place of
  // `ThreadName()`, by the thread that starts the new thread. The function is
  // not called for the watchdog's thread, which watches for long polls. The
  // function must neither throw nor use the runtime.
  Builder& ThreadNameFn(std::function<std::string()> call);

  // Sets the stack size of the threads, in bytes. By default, and for 0, the
  // system's default applies.
  Builder& ThreadStackSize(size_t bytes);

  // Sets functions to be called on threads of the runtime: before a thread's
  // first task or blocking call, and after its last. The calls happen on worker
  // threads, on threads that replace a worker thread in `BlockInPlace()`, and
  // on threads for blocking calls. They do not happen on the watchdog's thread,
  // which watches for long polls, nor on the separate threads for name lookups
  // and for calls on standard streams that may never end. A starting thread has
  // already entered the runtime, so `Handle::Current()` works. The functions
  // must not throw.
  Builder& OnThreadStart(std::function<void()> call);
  Builder& OnThreadStop(std::function<void()> call);

  // ---- Which task runs next.

  // Sets the seed of all random choices of the scheduler. The default is fixed,
  // so runs resemble each other. With a single worker and a paused clock that
  // starts at a fixed instant, runs are identical.
  Builder& Seed(uint64_t seed);

  // Sets whether tasks run in an order that uses the processor's cache best. If
  // on, a task woken by another task runs right after the waking task, ahead of
  // tasks that have waited longer, but at most three times in a row; and of the
  // tasks that have never been polled, the newest runs first. If off, tasks run
  // in the order in which they were spawned and woken.
  //
  // On by default in a multi-thread runtime, and off in a current-thread
  // runtime, whose programs may rely on the order. Switch it on if tasks of a
  // current-thread runtime spawn trees of tasks: fewer tasks are then begun at
  // once, and a tree of a million tasks is done in about a fifth of the time.
  Builder& LifoSlot(bool on);

  // Sets after how many polls a worker checks for I/O and timers even if tasks
  // are ready to run. `scheduler::kEventInterval` (61) by default. A larger
  // number is cheaper, a smaller number reacts sooner. Must not be 0. With n
  // workers, a worker leaves out a check within (n - 1) × 250 nanoseconds, but
  // at most 50 microseconds, of its last one, because a check by any worker
  // serves all workers.
  Builder& EventInterval(uint32_t polls);

  // Sets how many socket events a thread takes from the system at once, from 1
  // to 1024. 1024 by default. The thread takes the remaining events the next
  // time.
  Builder& MaxEventsPerTurn(size_t events);

  // Sets after how many polls a worker checks for tasks from outside even if
  // the worker has tasks of its own. By default, and for 0, a worker checks
  // after `scheduler::kGlobalQueueInterval` (127) polls or
  // `scheduler::kGlobalQueuePeriod` (50 microseconds); or after
  // `scheduler::kSoloGlobalQueueInterval` (31) polls if the runtime has a
  // single worker.
  Builder& GlobalQueueInterval(uint32_t polls);

  // Sets the time, in real time, within which other threads take over the work
  // of a worker thread in a long poll. I/O, timers, and the tasks in the
  // thread's private queue then no longer wait for the stuck thread. (Tasks
  // shared with other workers can be stolen at any time.)
  // `scheduler::kLongPollBound` (10 ms) by default, and at least 100
  // microseconds; infinity saves the watchdog's thread, which enforces the
  // bound. In a current-thread runtime, no other thread takes work over: the
  // bound only decides which polls are long (see `OnLongPoll()`). Has no effect
  // with a clock that is paused when the runtime is built, because a simulation
  // must not depend on real time.
  Builder& LongPollBound(AnyDuration bound);

  // Sets the reaction to an exception that escapes a task of the runtime. By
  // default the exception is logged, once, unless the program takes it: see
  // `UnhandledException::kLog`.
  //
  // For the runtime's blocking calls, `kLog` and `kIgnore` mean what they mean
  // for tasks; the other two values count as `kLog`. Exceptions of a
  // `LocalSet`'s tasks are logged unless the program takes them, whatever the
  // value of `then`.
  Builder& OnUnhandledException(UnhandledException then);

  // Chooses `kLog`, but with `call` in place of logging. `call` is called where
  // it becomes certain that the program does not take the exception: on a
  // thread of the runtime, or on the thread dropping the `JoinHandle`, even
  // after the runtime was destroyed. `call` must not throw.
  Builder& OnUnhandledException(UnhandledExceptionCallback call);

  // ---- Observing it.

  // Sets functions to be called when a thread that runs tasks has no task left,
  // before the thread sleeps, and when the thread continues. The functions can
  // spawn and wake tasks. They must not throw, nor must the functions below.
  Builder& OnThreadPark(std::function<void()> call);
  Builder& OnThreadUnpark(std::function<void()> call);

  // Sets functions to be called with a task's id, name and place of `Spawn()`:
  // when the task is spawned, on the spawning thread; before and after each
  // poll; and when the task has ended, in whatever way.
  Builder& OnTaskSpawn(std::function<void(const TaskMeta&)> call);
  Builder& BeforeTaskPoll(std::function<void(const TaskMeta&)> call);
  Builder& AfterTaskPoll(std::function<void(const TaskMeta&)> call);
  Builder& OnTaskTerminate(std::function<void(const TaskMeta&)> call);

  // Sets a function to be called when a poll of a task occupies its thread for
  // long. The function receives the task, the task's worker and thread, and how
  // long the poll has lasted.
  //
  // In a multi-thread runtime, the function is called once while the poll is in
  // progress, on the watchdog's thread: after half of `LongPollBound()` at the
  // earliest, and after all of the bound at the latest (plus the time for the
  // system to run a thread). For a native stack, the function can call
  // `StackOfThread()` in stack_of_thread.h there. In any runtime, the function
  // is called on the polling thread when the poll has ended, if the poll has
  // lasted for the bound or was reported before. The call at the end of the
  // poll also receives the chain of coroutines by which the task waits now.
  // Polls that block in place are not reported.
  //
  // Costs each poll a reading of the cycle counter and some stores to the
  // worker's memory. With an infinite bound, or a clock that is paused when the
  // runtime is built, the function is never called. The function must neither
  // throw nor block: while it runs, no thread takes care of long polls. Without
  // a function, long polls are counted all the same: see
  // `WorkerMetrics::long_polls`.
  Builder& OnLongPoll(LongPollCallback call);

  // Counts polls by length, at a cost of about 20 ns each: see
  // `WorkerMetrics::poll_times`. Off by default. The second overload sets the
  // resolution: `linear_steps` must be 1, 2, 4 or 8, and `shortest` less than
  // `longest`.
  Builder& PollTimeHistogram(bool on);
  Builder& PollTimeHistogram(const scheduler::PollTimeBuckets& buckets);

  // Counts polls by the time for which a task has waited for the poll, since
  // the task was spawned or woken or since it yielded: see
  // `WorkerMetrics::schedule_latencies`. Off by default. Costs each poll and
  // each wake a reading of the processor's clock, and costs each spawn an
  // allocation, unless the task has a name. The second overload sets the
  // resolution, with the limits of `PollTimeHistogram()`.
  Builder& ScheduleLatencyHistogram(bool on);
  Builder& ScheduleLatencyHistogram(const scheduler::PollTimeBuckets& buckets);

  // Sets the runtime's name, for tools that observe the runtime: see
  // `Handle::name()`. Empty by default.
  Builder& Name(std::string name);

  // ---- Time.

  // Sets the length of a timer tick, from 64 microseconds to 1 second. 1 ms by
  // default.
  Builder& TimerResolution(AnyDuration resolution);

  // Sets the clock of timers; a test can set a paused clock. By default each
  // runtime has its own clock.
  Builder& WithClock(std::shared_ptr<Clock> clock);

  // Makes a runtime and starts its worker threads. Fails with
  // `kInvalidArgument` for an out-of-range option. Otherwise fails with the
  // status of the failed system call: `kUnavailable` if no more threads can be
  // had, `kResourceExhausted` if no more descriptors can be had.
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

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: blocking_pool.h
// -----------------------------------------------------------------------------
//
// A `BlockingPool` provides threads for blocking calls, which a task must not
// make itself:
//
//   BlockingPool::Owner pool = BlockingPool::Create();
//   auto read = [] { return ReadAll("a.txt"); };
//   JoinHandle<std::string> text = pool->Spawn(read);
//   absl::StatusOr<std::string> result = co_await text;
//
// Each runtime has a pool: see `SpawnBlocking()`, in spawn_blocking.h. A pool
// can also be used alone, without any other part of a runtime.

#ifndef ROUSE_SCHEDULER_BLOCKING_BLOCKING_POOL_H_
#define ROUSE_SCHEDULER_BLOCKING_BLOCKING_POOL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/thread.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/scheduler/blocking/blocking_call.h"
#include "rouse/scheduler/queue/run_queue.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/spawn_options.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/scheduler/task/unhandled.h"
#include "rouse/timer/clock.h"
#include "rouse/waker/task_id.h"

namespace rouse::scheduler {

// BlockingOptions
//
// The options of a pool.
struct BlockingOptions {
  // Maximum number of threads that run calls at once; at least 1. Further calls
  // wait. A program in which `max_threads` calls wait for other calls is
  // deadlocked.
  size_t max_threads = 512;

  // Time for which a thread waits for work before ending, in real time,
  // regardless of `clock`. With zero or less, threads do not wait. May be
  // infinite.
  absl::Duration keep_alive = absl::Seconds(10);

  // The name of the threads. A dash and the thread's number are appended.
  std::string thread_name = "rouse-blk";

  // If set, called instead to get the name of each thread, on any thread that
  // starts a new thread, and under a lock: the function must not use the pool,
  // and must not throw.
  std::function<std::string()> name_thread = {};

  // The size of each thread's stack in bytes. 0 means the system's default,
  // usually 8 MiB. Unused stack costs only address space.
  size_t thread_stack_size = 0;

  // Called on every thread, before the thread's first call and after its last
  // call. Must not throw, and must not wait for a short call that another
  // thread has spawned, because that call may wait for this thread.
  std::function<void()> on_thread_start = {};
  std::function<void()> on_thread_stop = {};

  // Called instead of logging when an exception has left a call and was not
  // taken by means of the call's JoinHandle. Must not throw.
  UnhandledExceptionCallback on_unhandled_exception = {};

  // If this clock advances by itself, it does not do so while the pool has
  // work. (A call that then waits for a timer of this clock waits forever.)
  std::shared_ptr<Clock> clock = {};
};

// BlockingPool
//
// Starts no thread before work arrives. A call goes to the thread that became
// idle last, or else to a new thread. If no thread is idle and the limit is
// reached, the call waits in a queue, first in, first out. The number of
// waiting calls is not limited. No lock is held while a call runs. Short calls
// that are spawned together share threads: see `SpawnShort()`.
//
// Thread-safe. The owner and the threads of the pool keep the pool alive.
class BlockingPool final : public task::Schedule {
 public:
  // Shuts the pool down, and waits for all of its threads. Waits for no thread
  // after a `Shutdown()` has reached its limit.
  struct ShutDown {
    void operator()(BlockingPool* pool) const;
  };
  using Owner = std::unique_ptr<BlockingPool, ShutDown>;

  // Creates a pool. A `max_threads` of 0 is a `Panic()`.
  static Owner Create(BlockingOptions options = {});

  // Calls `f`, once, on a thread of the pool. Returns a `JoinHandle<R>` for the
  // return value of `f`. An exception that leaves `f` goes to the `JoinHandle`.
  // `f` and its members are destroyed on the thread that ran `f`, before the
  // result is available. One allocation, from `FramePool`; O(1).
  //
  // `Abort()` before the call has begun cancels the call, as soon as a thread
  // reaches it. A call that has begun runs to its end, and the handle gives its
  // result. Dropping the handle detaches the call.
  //
  // In addition to the results described at `JoinHandle`, joining can give
  //
  //   kCancelled          the pool was shut down before the call had begun;
  //   kResourceExhausted  no thread could be started, for lack of threads or of
  //                       memory, and the pool has no thread that could run the
  //                       call. `f` has not run, and is destroyed in `Spawn()`.
  //                       (If the pool has a thread, the call waits.)
  //
  // The joiner's waker is called on a thread of the pool, where an exception
  // from the waker ends the program.
  template <class F>
    requires BlockingCallable<std::decay_t<F>>
  auto Spawn(F&& f,
             std::source_location where = std::source_location::current()) {
    return Start(std::forward<F>(f), CallKind::kUsual, where);
  }

  // Like `Spawn()`, but a call spawned before the shutdown always runs. For
  // work that must not be lost, such as a last write.
  template <class F>
    requires BlockingCallable<std::decay_t<F>>
  auto SpawnMandatory(
      F&& f, std::source_location where = std::source_location::current()) {
    return Start(std::forward<F>(f), CallKind::kMandatory, where);
  }

  // Calls `f`, once, on a thread that takes waiting calls one after another.
  // For a call that usually takes no longer than to wake a thread, such as a
  // read of a file; a longer call is allowed. The result, the effects of
  // `Abort()` and of dropping the handle, the errors and the allocation are
  // those of `Spawn()`.
  //
  // Saves wake-ups: while threads are on their way to the queue, another thread
  // is woken, or started if none sleeps, only if more than 8 calls wait for
  // each of those threads. If a thread of this pool spawns the call, and may
  // therefore wait for it, a thread is called as in `Spawn()`.
  //
  // A call that takes long keeps no other call waiting, unless the limit is
  // reached or no thread can be started: a thread that takes a call first calls
  // the next thread, by the same rule. If many short calls are spawned together
  // and all of them hang, the threads are called one after another: the last of
  // 64 calls begins after some 21 wake-ups, or starts of threads. A usual or
  // mandatory call behind them in the queue waits as long.
  template <class F>
    requires BlockingCallable<std::decay_t<F>>
  auto SpawnShort(
      F&& f, std::source_location where = std::source_location::current()) {
    return Start(std::forward<F>(f), CallKind::kShort, where);
  }

  // Closes the pool to new work: new calls are cancelled at once, on the
  // spawning thread. Cancels all calls that have not begun, on the calling
  // thread, except for mandatory calls. Does nothing the second time. If wakers
  // of joiners throw, the first exception is rethrown when all calls are
  // cancelled.
  void Close();

  // Closes the pool, and waits until all of its threads have ended, but no
  // longer than `limit`, in real time. Returns whether all have ended. If not,
  // the threads finish all calls in progress, and all mandatory calls, by
  // themselves; nothing waits for the threads again, not even the end of the
  // program. An exception from `Close()` is thrown before any wait.
  //
  // A thread's `thread_local` objects are destroyed after the thread has left
  // the pool. `Shutdown()` also waits for the destructors, without a limit,
  // unless `limit` is zero.
  //
  // On a thread of the pool, `Shutdown()` waits for no thread.
  bool Shutdown(absl::Duration limit = absl::InfiniteDuration());

  // Removes the limit on threads. From now on no call waits for another to end:
  // the pool starts as many threads as the calls need, and as the system
  // allows. For the shutdown of an object that uses the pool.
  void LiftLimit();

  // What the pool is doing now.
  struct Metrics {
    size_t threads = 0;       // including idle threads
    size_t idle_threads = 0;  // threads that wait for work
    size_t queue_depth = 0;   // calls that wait for a thread
  };
  // Returns the numbers of one moment. Thread-safe.
  Metrics metrics() const;

  // Returns a separate pool for calls that have no time limit: name lookups,
  // and calls on standard streams that may never end
  // (process/standard_streams.h). These calls take no thread from the calls of
  // this pool, no matter how many of them hang. The lookup pool has the same
  // options, but at most 64 threads (and no more than this pool), and its
  // threads call no hooks. The lookup pool is closed together with this pool,
  // and nothing then waits for a call in progress there: the call ends by
  // itself, or with the program. Such a call must therefore own everything it
  // uses.
  //
  // Created by the first call; lives as long as this pool. Thread-safe.
  BlockingPool& lookups() ABSL_ATTRIBUTE_LIFETIME_BOUND;
  // Returns the metrics of `lookups()`, without creating the pool.
  Metrics lookup_metrics() const;

  // For a runtime: `scope` is called on every thread before anything else, and
  // its result is destroyed on the same thread after everything else. `Close()`
  // drops `scope`. Must be set before the pool has work.
  using ThreadScope = std::function<std::shared_ptr<void>()>;
  void SetThreadScope(ThreadScope scope);

  // task::Schedule:
  void Submit(task::Header* task) override;
  void Resubmit(task::Header* task) override;
  bool Release(task::Header* task) override;
  void Unhandled(task::Header* task,
                 const std::exception_ptr& exception) override;

 private:
  static constexpr size_t kMaxLookupThreads = 64;
  // How many short calls may wait for each thread that is woken or starting. A
  // larger number saves wake-ups, and delays calls behind calls that hang.
#ifdef ROUSE_MODEL
  // A model has few calls.
  static constexpr size_t kShortCallsPerThread = 2;
#else
  static constexpr size_t kShortCallsPerThread = 8;
#endif

  struct Member;
  struct Sleeper;
  using ClockHold = std::optional<Clock::AutoAdvanceHold>;

  explicit BlockingPool(BlockingOptions options);
  ~BlockingPool() override;

  enum class CallKind : unsigned char { kUsual, kShort, kMandatory };

  template <class F>
  auto Start(F&& f, CallKind kind, std::source_location where) {
    using Call = BlockingCall<std::decay_t<F>>;
    auto* task = new task::Cell<Call>(
        this, task::NextTaskId(), std::forward<F>(f), SpawnOptions(), where);
    JoinHandle<typename Call::Output> handle(task);
    Enqueue(task, kind);
    return handle;
  }

  void Enqueue(task::Header* task, CallKind kind);
  // Returns whether too few threads come for the queue, even if all calls in
  // the queue are short.
  bool LacksThread() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // A start may take long, so a thread that sleeps is better.
    const size_t coming = sleepers_.IsEmpty() ? woken_ + starting_ : woken_;
    return coming * kShortCallsPerThread < queue_depth_;
  }
  // Ensures that a thread takes the last call in the queue, if possible.
  absl::Status CallThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status StartThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status TryStartThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WakeSleeper() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // The body of a thread.
  void RunThread(Member* self, std::shared_ptr<const ThreadScope> scope);
  void Serve();
  // Called when a call has ended. Returns the next call, or null if the queue
  // is empty.
  task::Header* NextWork();
  // Returns null if the thread must end.
  task::Header* WaitForWork(bool starting);
  void Leave(Member* self);

  task::Header* Pop() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Like `Pop()`, on a thread of the pool, which will run the call. Calls the
  // next thread first, if the queue needs one.
  task::Header* Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // The part of `Shutdown()` that handles the pool's own threads, after the
  // pool was closed.
  bool JoinThreads(absl::Duration limit);
  // Waits for the threads of a closed pool, unless a call is in progress.
  void LeaveBehind(absl::Duration limit);

  // Counts a new call as work.
  void BeginWork() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Counts `count` calls as ended, for any reason.
  void WorkEnded(size_t count);
  // Like `WorkEnded()`, with the lock held. The result must be destroyed after
  // the lock is released.
  ClockHold EndWork(size_t count) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const BlockingOptions options_;
  // Made in advance, while memory is available.
  const absl::Status out_of_memory_;

  mutable ThreadMutex mu_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  size_t max_threads_ ABSL_GUARDED_BY(mu_) = options_.max_threads;
  RunQueue<task::Header> queue_ ABSL_GUARDED_BY(mu_);
  size_t queue_depth_ ABSL_GUARDED_BY(mu_) = 0;
  // The queued calls that run even after `Close()`.
  IntrusiveList<task::Header, task::AllTasksTag> mandatory_
      ABSL_GUARDED_BY(mu_);

  // The protocol is in blocking_pool.cc.
  size_t serving_ ABSL_GUARDED_BY(mu_) = 0;
  size_t woken_ ABSL_GUARDED_BY(mu_) = 0;
  size_t starting_ ABSL_GUARDED_BY(mu_) = 0;
  size_t sleeping_ ABSL_GUARDED_BY(mu_) = 0;
  // True if the last start of a thread failed, and no thread has ended since: a
  // thread that takes a call does not try to start another.
  bool start_failed_ ABSL_GUARDED_BY(mu_) = false;
  IntrusiveList<Sleeper> sleepers_ ABSL_GUARDED_BY(mu_);

  // All threads, except for threads with nothing left to do before they end.
  IntrusiveList<Member> members_ ABSL_GUARDED_BY(mu_);
  ThreadCondVar no_members_;
  bool detached_ ABSL_GUARDED_BY(mu_) = false;
  // The thread that ended last. The next thread to end joins this thread.
  std::optional<Thread> last_ended_ ABSL_GUARDED_BY(mu_);
  uint64_t threads_started_ ABSL_GUARDED_BY(mu_) = 0;
  std::shared_ptr<const ThreadScope> thread_scope_ ABSL_GUARDED_BY(mu_);

  // The number of calls that have not ended, and the hold that meanwhile keeps
  // the clock from advancing.
  size_t work_ ABSL_GUARDED_BY(mu_) = 0;
  ClockHold clock_hold_ ABSL_GUARDED_BY(mu_);

  // Null until the pool is needed. Written under the lock, and read without the
  // lock by threads that may come too early. Not an `Atomic`: no model uses the
  // pointer.
  std::atomic<BlockingPool*> lookups_{nullptr};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_BLOCKING_BLOCKING_POOL_H_

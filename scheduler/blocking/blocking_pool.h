// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: blocking_pool.h
// -----------------------------------------------------------------------------
//
// A `BlockingPool` has threads for calls that block, which a task must not:
//
//   BlockingPool::Owner pool = BlockingPool::Create();
//   auto read = [] { return ReadAll("a.txt"); };
//   JoinHandle<std::string> text = pool->Spawn(read);
//   absl::StatusOr<std::string> result = co_await text;
//
// A runtime has one: see `SpawnBlocking()`, in spawn_blocking.h. Alone, it
// needs nothing else of a runtime.

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
struct BlockingOptions {
  // How many threads may run calls at one time; at least 1. The rest waits: a
  // program that has this many calls waiting for one another stands still.
  size_t max_threads = 512;

  // How long a thread waits for work before it ends, in real time, whatever
  // `clock` says. Zero or less: no time at all. May be infinite.
  absl::Duration keep_alive = absl::Seconds(10);

  // What the threads are called, before a dash and their number.
  std::string thread_name = "rouse-blk";

  // Called for the name of each thread instead, if it is there, wherever one is
  // started, and under a lock: it must not use the pool, nor throw.
  std::function<std::string()> name_thread = {};

  // In bytes; 0 is the system's default, 8 MiB as a rule. What is not used
  // costs address space alone.
  size_t thread_stack_size = 0;

  // Called on every thread, before its first call and after its last. They must
  // not throw.
  std::function<void()> on_thread_start = {};
  std::function<void()> on_thread_stop = {};

  // Called instead of logging an exception that has left a call and that nobody
  // has taken by way of the call's JoinHandle. Must not throw.
  UnhandledExceptionCallback on_unhandled_exception = {};

  // If it advances by itself it does not while there is work in the pool. (A
  // call that then waits for a timer of this clock waits for ever.)
  std::shared_ptr<Clock> clock = {};
};

// BlockingPool
//
// Starts no thread before there is work. A call takes the thread that went idle
// last, or else a new one, or else, at the limit, waits for its turn, first in,
// first out. There is no limit to how many wait. No lock is held while a call
// runs.
//
// Thread-safe. Held by its owner and its threads.
class BlockingPool final : public task::Schedule {
 public:
  // Shuts the pool down, and waits for all of its threads; after a `Shutdown()`
  // that has reached its limit, for none.
  struct ShutDown {
    void operator()(BlockingPool* pool) const;
  };
  using Owner = std::unique_ptr<BlockingPool, ShutDown>;

  // `max_threads` of 0 is a `Panic()`.
  static Owner Create(BlockingOptions options = {});

  // Calls `f`, once, on a thread of the pool; `JoinHandle<R>` gives what it
  // returns. An exception that leaves `f` is the `JoinHandle`'s. `f` and what
  // it holds are destroyed on the thread that ran it, before its result can be
  // had. One allocation, from `FramePool`; O(1).
  //
  // `Abort()` before the call has begun cancels it, as soon as a thread comes
  // to it; a call that has begun runs to its end, and the handle gives its
  // result. Dropping the handle detaches the call.
  //
  // Beside what `JoinHandle` says, joining gives
  //
  //   kCancelled          the pool was shut down before the call had begun;
  //   kResourceExhausted  no thread could be started, for want of threads or of
  //                       memory, and there is none that would come to it. `f`
  //                       has not run, and is destroyed here. (Where there is a
  //                       thread, the call waits.)
  //
  // The joiner's waker is called on a thread of the pool, where what it throws
  // ends the program.
  template <class F>
    requires BlockingCallable<std::decay_t<F>>
  auto Spawn(F&& f,
             std::source_location where = std::source_location::current()) {
    return Start(std::forward<F>(f), /*mandatory=*/false, where);
  }

  // The same, but a call that was spawned before the shutdown runs in any case:
  // for what must not be lost, such as a last write.
  template <class F>
    requires BlockingCallable<std::decay_t<F>>
  auto SpawnMandatory(
      F&& f, std::source_location where = std::source_location::current()) {
    return Start(std::forward<F>(f), /*mandatory=*/true, where);
  }

  // Takes no more work: it is cancelled at once, on the thread that spawns it.
  // Cancels what has not begun, on this thread, unless it is mandatory. Does
  // nothing the second time. If wakers of joiners throw, the first exception
  // comes out when all is cancelled.
  void Close();

  // Closes the pool and waits until all of its threads have ended, or for
  // `limit`, of real time. Whether they have. If not, they finish what they
  // have begun, and all that is mandatory, by themselves; nobody waits for them
  // again, and the end of the program does not either. What `Close()` throws
  // comes out before anything is waited for.
  //
  // A thread's `thread_local` objects are destroyed after its end. That, too,
  // is waited for, and has no limit, unless `limit` is zero.
  //
  // Called on a thread of the pool it waits for nobody.
  bool Shutdown(absl::Duration limit = absl::InfiniteDuration());

  // From now on no call waits for its turn: there are as many threads as it
  // takes, and as the system gives. For the end of what needs them.
  void LiftLimit();

  struct Metrics {
    size_t threads = 0;       // idle ones too
    size_t idle_threads = 0;  // that wait for work
    size_t queue_depth = 0;   // calls that wait for a thread
  };
  Metrics metrics() const;

  // A pool of its own for calls that wait for the network and know no limit of
  // time, as lookups of names do: however many hang, they take no thread from
  // the calls of this pool. It has the same options, but at most 64 threads
  // (and no more than this pool), which call no hooks. It is closed with this
  // pool, and nobody waits for a call that is under way then: it is left to end
  // by itself, or with the program. So such a call owns all that it uses.
  //
  // Made by the first call; lives as long as this pool. Thread-safe.
  BlockingPool& lookups() ABSL_ATTRIBUTE_LIFETIME_BOUND;
  // Its metrics, without making it.
  Metrics lookup_metrics() const;

  // For a runtime: `scope` is called on every thread before all else, and what
  // it returns is destroyed there after all else. `Close()` forgets it. To be
  // set before there is work.
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

  struct Member;
  struct Sleeper;
  using ClockHold = std::unique_ptr<Clock::AutoAdvanceHold>;

  explicit BlockingPool(BlockingOptions options);
  ~BlockingPool() override;

  template <class F>
  auto Start(F&& f, bool mandatory, std::source_location where) {
    using Call = BlockingCall<std::decay_t<F>>;
    auto* task = new task::Cell<Call>(
        this, task::NextTaskId(), std::forward<F>(f), SpawnOptions(), where);
    JoinHandle<typename Call::Output> handle(task);
    Enqueue(task, mandatory);
    return handle;
  }

  void Enqueue(task::Header* task, bool mandatory);
  // Sees to it that a thread comes to the last one in the queue, if it can.
  absl::Status CallThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status StartThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status TryStartThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WakeSleeper() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // What a thread does.
  void RunThread(Member* self, std::shared_ptr<const ThreadScope> scope);
  void Serve();
  // When a call has ended. Null: there is no more.
  task::Header* NextWork();
  // Null: the thread's time is up.
  task::Header* WaitForWork(bool starting);
  void Leave(Member* self);

  task::Header* Pop() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // What `Shutdown()` does with the pool's own threads, when it is closed.
  bool JoinThreads(absl::Duration limit);
  // Closed, waits for its threads unless a call is under way.
  void LeaveBehind(absl::Duration limit);

  // There is more work. If that fails it is to be ended all the same.
  absl::Status BeginWork() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // So much work has ended, one way or the other.
  void WorkEnded(size_t count);
  // The same; what it gives is to be destroyed when the lock is free.
  ClockHold EndWork(size_t count) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const BlockingOptions options_;
  // Made in time.
  const absl::Status out_of_memory_;

  mutable ThreadMutex mu_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  size_t max_threads_ ABSL_GUARDED_BY(mu_) = options_.max_threads;
  RunQueue<task::Header> queue_ ABSL_GUARDED_BY(mu_);
  size_t queue_depth_ ABSL_GUARDED_BY(mu_) = 0;
  // Those in the queue that run also after `Close()`.
  IntrusiveList<task::Header, task::AllTasksTag> mandatory_
      ABSL_GUARDED_BY(mu_);

  // The protocol is in blocking_pool.cc.
  size_t serving_ ABSL_GUARDED_BY(mu_) = 0;
  size_t woken_ ABSL_GUARDED_BY(mu_) = 0;
  size_t starting_ ABSL_GUARDED_BY(mu_) = 0;
  size_t sleeping_ ABSL_GUARDED_BY(mu_) = 0;
  IntrusiveList<Sleeper> sleepers_ ABSL_GUARDED_BY(mu_);

  // All threads but those that have nothing left to do but to end.
  IntrusiveList<Member> members_ ABSL_GUARDED_BY(mu_);
  ThreadCondVar no_members_;
  bool detached_ ABSL_GUARDED_BY(mu_) = false;
  // Each thread that ends joins the one that did so before it.
  std::optional<Thread> last_ended_ ABSL_GUARDED_BY(mu_);
  uint64_t threads_started_ ABSL_GUARDED_BY(mu_) = 0;
  std::shared_ptr<const ThreadScope> thread_scope_ ABSL_GUARDED_BY(mu_);

  // Work that has not ended, and what it keeps from advancing.
  size_t work_ ABSL_GUARDED_BY(mu_) = 0;
  ClockHold clock_hold_ ABSL_GUARDED_BY(mu_);

  // Null until it is needed. Written under the lock, and read without it by who
  // may come too early. Not an `Atomic`: no model has one.
  std::atomic<BlockingPool*> lookups_{nullptr};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_BLOCKING_BLOCKING_POOL_H_

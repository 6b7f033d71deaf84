// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: task_tracker.h
// -----------------------------------------------------------------------------
//
// `TaskTracker` waits for tasks whose results nobody wants, such as those of
// connections, before a program ends:
//
//   rouse::TaskTracker connections;
//   while (!stopping) {
//     connections.Spawn(Serve(co_await Accept(listener))).Detach();
//   }
//   connections.Close();
//   co_await connections.Wait();
//
// Unlike a `JoinSet` it keeps nothing of a task that has ended, so it does not
// grow where nobody looks at results, and it is used from many threads at once.
// It aborts nothing: tell tasks to end by other means.

#ifndef ROUSE_SCHEDULER_GROUP_TASK_TRACKER_H_
#define ROUSE_SCHEDULER_GROUP_TASK_TRACKER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/spawn_options.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

namespace internal {

// What trackers, tokens and waits share.
class TrackerCore {
 public:
  // One that waits.
  struct Waiter : IntrusiveListNode<> {
    explicit Waiter(uint64_t ends) : ends_before(ends) {}

    // How many moments there had been that it does not wait for.
    const uint64_t ends_before;
    Waker waker;  // under the core's lock
  };

  // Starts with one reference, the caller's.
  TrackerCore() = default;
  TrackerCore(const TrackerCore&) = delete;
  TrackerCore& operator=(const TrackerCore&) = delete;

  void Ref();
  void Unref();

  void AddToken();
  void RemoveToken();

  bool Close();
  bool Reopen();

  size_t tokens() const {
    // Relaxed: it may be another number at once.
    return static_cast<size_t>(word_.load(std::memory_order_relaxed) / kToken);
  }
  bool is_closed() const {
    // Relaxed: as above.
    return (word_.load(std::memory_order_relaxed) & kClosed) != 0;
  }

  // How many moments there have been at which the tracker has become closed and
  // empty, without the one that still lasts.
  uint64_t EndCount();
  // Whether there have been more than `waiter` says, or one still lasts; if not
  // `waker` is woken at the next one.
  bool Poll(Waiter& waiter, const Waker& waker);
  void StopWaiting(Waiter& waiter);

 private:
  static constexpr uint64_t kClosed = 1;
  static constexpr uint64_t kToken = 2;

  ~TrackerCore() = default;

  bool IsDone() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // Relaxed: it becomes so under the lock.
    return word_.load(std::memory_order_relaxed) == kClosed;
  }

  // Whether `waiter` has nothing to wait for any more.
  bool IsDoneFor(const Waiter& waiter) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return ends_ != waiter.ends_before || IsDone();
  }

  // Ends the waits of all who wait at this moment, at which the tracker has
  // become closed and empty.
  void EndAndUnlock() ABSL_UNLOCK_FUNCTION(mu_);

  Atomic<uint64_t> references_{1};
  // kClosed, and kToken for each token.
  Atomic<uint64_t> word_{0};
  ThreadMutex mu_;
  // Counted under the lock under which it becomes so.
  uint64_t ends_ ABSL_GUARDED_BY(mu_) = 0;
  IntrusiveList<Waiter> waiters_ ABSL_GUARDED_BY(mu_);
};

}  // namespace internal

template <class F>
class TrackedFuture;

// TaskTrackerToken
//
// Counts as a task of its tracker as long as it lives: for work that is no
// task. A copy counts too. One token object is used by one thread at a time.
class TaskTrackerToken {
 public:
  TaskTrackerToken(const TaskTrackerToken& other)
      : TaskTrackerToken(other.core_) {}
  TaskTrackerToken(TaskTrackerToken&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)) {}
  TaskTrackerToken& operator=(TaskTrackerToken other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~TaskTrackerToken();

 private:
  friend class TaskTracker;
  template <class F>
  friend class TrackedFuture;

  explicit TaskTrackerToken(internal::TrackerCore* core);

  internal::TrackerCore* core_;
};

// TrackedFuture
//
// See `TaskTracker::Track()`.
template <class F>
class [[nodiscard]] TrackedFuture {
 public:
  template <class Arg>
  TrackedFuture(TaskTrackerToken token, Arg&& future)
      : token_(std::move(token)), future_(std::forward<Arg>(future)) {}
  // The token comes last: a panic leaves it with the future that counts.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  TrackedFuture(TrackedFuture&& other)
      : token_(nullptr), future_(std::move(other.future_)) {
    token_ = std::move(other.token_);
  }
  TrackedFuture& operator=(TrackedFuture&&) = delete;

  auto Poll(Context& cx) { return future_.Poll(cx); }

  bool BorrowsClosure() const { return internal::BorrowsClosure(future_); }
  // Where `future` waits.
  void Trace(AwaitTrace& trace) const { trace.Add(future_); }

 private:
  TaskTrackerToken token_;  // goes after the future
  F future_;
};

// TaskTrackerWait
//
// See `TaskTracker::Wait()`.
class [[nodiscard]] TaskTrackerWait {
 public:
  // Takes a reference.
  explicit TaskTrackerWait(internal::TrackerCore* core)
      : core_(core), waiter_(core->EndCount()) {
    core_->Ref();
  }
  // Only before the first poll.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  TaskTrackerWait(TaskTrackerWait&& other)
      : core_(other.core_), waiter_(other.waiter_.ends_before) {
    if (other.waits_) PanicMoved();
    other.core_ = nullptr;
  }
  TaskTrackerWait& operator=(TaskTrackerWait&&) = delete;
  ~TaskTrackerWait() { Finish(); }

  PollResult<void> Poll(Context& cx);

 private:
  [[noreturn]] ABSL_ATTRIBUTE_COLD static void PanicMoved();

  void Finish();

  internal::TrackerCore* core_;  // null: finished, or moved from
  bool waits_ = false;           // `waiter_` may be in the list
  internal::TrackerCore::Waiter waiter_;
};

// TaskTracker
//
// Copies refer to the same tasks. Thread-safe but for assigning and destroying
// one object. Destroying all of them does nothing to the tasks.
//
// To add a task and to end one are two atomic operations each, without
// allocating, and without a lock but to end the last one of a closed tracker.
// There is no limit to the number of tasks.
class TaskTracker {
 public:
  // Open and empty.
  TaskTracker() : core_(new internal::TrackerCore) {}
  TaskTracker(const TaskTracker& other) : core_(other.core_) { core_->Ref(); }
  TaskTracker& operator=(const TaskTracker& other) {
    TaskTracker copy(other);
    std::swap(core_, copy.core_);
    return *this;
  }
  ~TaskTracker() { core_->Unref(); }

  // A future that is `f`, a future or a callable that returns one, and counts
  // as a task of this tracker from now on until it has been destroyed.
  template <class F>
  auto Track(F&& f) const {
    task::CheckSpawnable<F>();
    using Inner = internal::FutureFrom<std::decay_t<F>>;
    return TrackedFuture<Inner>(Token(), std::forward<F>(f));
  }

  // Tracks `f` and starts it on the current scheduler: see `rouse::Spawn()`. A
  // tracker that is closed takes tasks too.
  template <class F>
  auto Spawn(
      F&& f, const SpawnOptions& options = {},
      std::source_location where = std::source_location::current()) const {
    task::CheckSpawnable<F>();
    return rouse::Spawn(Track(std::forward<F>(f)), options, where);
  }

  // The same by the `Spawn()` of `spawner`: a `Runtime`, a `Handle`, a
  // `LocalSet`.
  template <class Spawner, class F>
  auto SpawnOn(
      Spawner&& spawner, F&& f, const SpawnOptions& options = {},
      std::source_location where = std::source_location::current()) const {
    task::CheckSpawnable<F>();
    return std::forward<Spawner>(spawner).Spawn(Track(std::forward<F>(f)),
                                                options, where);
  }

  // One more that counts as a task until it goes.
  TaskTrackerToken Token() const { return TaskTrackerToken(core_); }

  // Lets `Wait()` be ready when there is no task: without it, a moment between
  // two tasks would count as the end. Whether it was open.
  bool Close() const { return core_->Close(); }

  // Takes that back. Whether it was closed.
  bool Reopen() const { return core_->Reopen(); }

  // A future that is ready when the tracker is closed and has no task. A moment
  // of that since this call is enough, though it was reopened before the future
  // was polled. What the tasks did before they ended is visible then.
  //
  // Any number of threads and tasks may wait. Destroying the future stops its
  // waiting. It keeps what it waits for, and may outlive the tracker.
  TaskTrackerWait Wait() const { return TaskTrackerWait(core_); }

  // How many tasks and tokens there are.
  size_t size() const { return core_->tokens(); }
  bool empty() const { return size() == 0; }
  bool is_closed() const { return core_->is_closed(); }

 private:
  internal::TrackerCore* core_;
};

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_GROUP_TASK_TRACKER_H_

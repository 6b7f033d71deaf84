// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: task_tracker.h
// -----------------------------------------------------------------------------
//
// `TaskTracker` waits for tasks whose results are not needed, such as the tasks
// of connections, before a program ends:
//
//   rouse::TaskTracker connections;
//   while (!stopping) {
//     connections.Spawn(Serve(co_await Accept(listener))).Detach();
//   }
//   connections.Close();
//   co_await connections.Wait();
//
// Unlike a `JoinSet`, a tracker keeps nothing of a task that has ended. It
// therefore does not grow when results are not taken, and can be used from many
// threads at once. A tracker aborts nothing: stop the tasks by other means.

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

// The state shared by trackers, tokens and waits.
//
// An "end" begins when the tracker becomes closed and empty, and lasts until
// the tracker is reopened or has a task again.
class TrackerCore {
 public:
  // A wait for the next end.
  struct Waiter : IntrusiveListNode<> {
    explicit Waiter(uint64_t ends) : ends_before(ends) {}

    // Number of earlier ends, for which the waiter does not wait.
    const uint64_t ends_before;
    Waker waker;  // guarded by the core's lock
  };

  // The caller owns the first reference.
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
    // Relaxed: the number may change at once.
    return static_cast<size_t>(word_.load(std::memory_order_relaxed) / kToken);
  }
  bool is_closed() const {
    // Relaxed: the state may change at once.
    return (word_.load(std::memory_order_relaxed) & kClosed) != 0;
  }

  // Returns the number of ends so far, not counting an end that still lasts.
  uint64_t EndCount();
  // Returns whether more ends have occurred than `waiter` has recorded, or an
  // end still lasts. If not, registers `waker` to be woken at the next end.
  bool Poll(Waiter& waiter, const Waker& waker);
  void StopWaiting(Waiter& waiter);

 private:
  static constexpr uint64_t kClosed = 1;
  static constexpr uint64_t kToken = 2;

  ~TrackerCore() = default;

  bool IsDone() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // Relaxed: the word takes this value under the lock.
    return word_.load(std::memory_order_relaxed) == kClosed;
  }

  // Returns whether `waiter` has nothing left to wait for.
  bool IsDoneFor(const Waiter& waiter) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return ends_ != waiter.ends_before || IsDone();
  }

  // Ends the waits of all current waiters. Called when the tracker has become
  // closed and empty.
  void EndAndUnlock() ABSL_UNLOCK_FUNCTION(mu_);

  Atomic<uint64_t> references_{1};
  // kClosed, plus kToken for each token.
  Atomic<uint64_t> word_{0};
  ThreadMutex mu_;
  // The number of ends. Incremented under the lock under which an end begins.
  uint64_t ends_ ABSL_GUARDED_BY(mu_) = 0;
  IntrusiveList<Waiter> waiters_ ABSL_GUARDED_BY(mu_);
};

}  // namespace internal

template <class F>
class TrackedFuture;

// TaskTrackerToken
//
// Counts as a task of its tracker as long as the token exists. For work that is
// not a task. A copy of a token counts too. Each token object may be used by
// only one thread at a time.
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
  // The token moves last: if the move of the future panics, the token stays
  // with the original future, which still counts.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  TrackedFuture(TrackedFuture&& other)
      : token_(nullptr), future_(std::move(other.future_)) {
    token_ = std::move(other.token_);
  }
  TrackedFuture& operator=(TrackedFuture&&) = delete;

  auto Poll(Context& cx) { return future_.Poll(cx); }

  bool BorrowsClosure() const { return internal::BorrowsClosure(future_); }
  // Reports where the future waits.
  void Trace(AwaitTrace& trace) const { trace.Add(future_); }

 private:
  TaskTrackerToken token_;  // destroyed after the future
  F future_;
};

// TaskTrackerWait
//
// See `TaskTracker::Wait()`.
class [[nodiscard]] TaskTrackerWait {
 public:
  // Adds a reference to `core`.
  explicit TaskTrackerWait(internal::TrackerCore* core)
      : core_(core), waiter_(core->EndCount()) {
    core_->Ref();
  }
  // Only allowed before the first poll.
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
// Copies refer to the same tasks. Thread-safe, except for assigning and
// destroying one object. Destroying all copies does not affect the tasks.
//
// Adding a task and ending a task are two atomic operations each. Neither
// allocates, and neither takes a lock, except for the end of the last task of a
// closed tracker. The number of tasks is not limited.
class TaskTracker {
 public:
  // Constructs a tracker that is open and empty.
  TaskTracker() : core_(new internal::TrackerCore) {}
  TaskTracker(const TaskTracker& other) : core_(other.core_) { core_->Ref(); }
  TaskTracker& operator=(const TaskTracker& other) {
    TaskTracker copy(other);
    std::swap(core_, copy.core_);
    return *this;
  }
  ~TaskTracker() { core_->Unref(); }

  // Returns a future that behaves like `f`, which is a future or a callable
  // that returns one. The future counts as a task of this tracker from now on,
  // until it is destroyed.
  template <class F>
  auto Track(F&& f) const {
    task::CheckSpawnable<F>();
    using Inner = internal::FutureFrom<std::decay_t<F>>;
    return TrackedFuture<Inner>(Token(), std::forward<F>(f));
  }

  // Tracks `f` and starts it on the current scheduler: see `rouse::Spawn()`. A
  // closed tracker accepts tasks too.
  template <class F>
  auto Spawn(
      F&& f, const SpawnOptions& options = {},
      std::source_location where = std::source_location::current()) const {
    task::CheckSpawnable<F>();
    return rouse::Spawn(Track(std::forward<F>(f)), options, where);
  }

  // Like `Spawn()`, but starts the task with the `Spawn()` of `spawner`: a
  // `Runtime`, a `Handle` or a `LocalSet`.
  template <class Spawner, class F>
  auto SpawnOn(
      Spawner&& spawner, F&& f, const SpawnOptions& options = {},
      std::source_location where = std::source_location::current()) const {
    task::CheckSpawnable<F>();
    return std::forward<Spawner>(spawner).Spawn(Track(std::forward<F>(f)),
                                                options, where);
  }

  // Returns a new token, which counts as a task until it is destroyed.
  TaskTrackerToken Token() const { return TaskTrackerToken(core_); }

  // Closes the tracker: `Wait()` becomes ready when no task exists. (Without
  // `Close()`, a moment between two tasks would count as the end.) Returns
  // whether the tracker was open.
  bool Close() const { return core_->Close(); }

  // Undoes `Close()`. Returns whether the tracker was closed.
  bool Reopen() const { return core_->Reopen(); }

  // Returns a future that is ready when the tracker is closed and has no task.
  // It is enough if this was so at any moment since this call, even if the
  // tracker was reopened before the future was polled. Everything that the
  // tasks did before they ended is then visible.
  //
  // Any number of threads and tasks may wait. Destroying the future ends its
  // wait. The future keeps the shared state alive, and may outlive the tracker.
  TaskTrackerWait Wait() const { return TaskTrackerWait(core_); }

  // Returns the number of tasks and tokens.
  size_t size() const { return core_->tokens(); }
  bool empty() const { return size() == 0; }
  bool is_closed() const { return core_->is_closed(); }

 private:
  internal::TrackerCore* core_;
};

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_GROUP_TASK_TRACKER_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: join_queue.h
// -----------------------------------------------------------------------------
//
// `JoinQueue<T>` is a queue of tasks. The tasks run concurrently, and the queue
// gives their results in the order in which the tasks were spawned:
//
//   rouse::JoinQueue<Page> pages;
//   for (const Url& url : urls) pages.Spawn(Fetch(url));
//   while (auto page = co_await pages.Next()) {   // absl::StatusOr<Page>
//     if (page->ok()) Print(**page);              // in the order of `urls`
//   }
//
// Destroying the queue aborts all tasks that have not ended. For results in the
// order in which the tasks end, use a `JoinSet`.

#ifndef ROUSE_SCHEDULER_GROUP_JOIN_QUEUE_H_
#define ROUSE_SCHEDULER_GROUP_JOIN_QUEUE_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <source_location>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/scheduler/blocking/blocking_call.h"
#include "rouse/scheduler/blocking/spawn_blocking.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/group/join_futures.h"  // IWYU pragma: export
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/spawn_options.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"

namespace rouse {

template <class T>
class JoinQueueNextFuture;
template <class T>
class JoinQueueNextWithIdFuture;
template <class T>
class JoinQueueJoinAllFuture;
template <class T>
class JoinQueueShutdownFuture;

// JoinQueue
//
// Each task costs a word in addition to the task, until its result is taken
// out. The number of tasks is not limited.
//
// May be used by only one thread at a time. Movable, but not while a future of
// the queue exists.
//
// Destroying the queue aborts all tasks and does not wait for them: see
// `Shutdown()`.
template <class T>
class JoinQueue {
 public:
  JoinQueue() = default;
  JoinQueue(JoinQueue&& other) noexcept
      : handles_(std::exchange(other.handles_, {})) {}
  JoinQueue& operator=(JoinQueue&& other) noexcept {
    // The old tasks are aborted now, not together with `other`.
    JoinQueue replaced(std::move(other));
    std::swap(handles_, replaced.handles_);
    return *this;
  }
  ~JoinQueue() {
    // The destructor of a result may add tasks.
    do {
      AbortAll();
      DetachAll();
    } while (!empty());
  }

  // Starts a task on the current scheduler, like `rouse::Spawn(f)`, and adds
  // the task to the end of the queue.
  template <class F>
  TaskId Spawn(F&& f, const SpawnOptions& options = {},
               std::source_location where = std::source_location::current()) {
    task::CheckSpawnable<F>();
    return Insert(rouse::Spawn(std::forward<F>(f), options, where));
  }

  // Like `Spawn()`, but starts the task with the `Spawn()` of `spawner`: a
  // `Runtime`, a `Handle` or a `LocalSet`.
  template <class Spawner, class F>
  TaskId SpawnOn(Spawner&& spawner, F&& f, const SpawnOptions& options = {},
                 std::source_location where = std::source_location::current()) {
    task::CheckSpawnable<F>();
    return Insert(std::forward<Spawner>(spawner).Spawn(std::forward<F>(f),
                                                       options, where));
  }

  // Starts a blocking call, like `rouse::SpawnBlocking(f)`, and adds the call
  // to the end of the queue.
  template <class F>
    requires scheduler::BlockingCallable<std::decay_t<F>>
  TaskId SpawnBlocking(
      F&& f, std::source_location where = std::source_location::current()) {
    return Insert(rouse::SpawnBlocking(std::forward<F>(f), where));
  }

  // Adds a task started elsewhere to the end of the queue. REQUIRES: `handle`
  // has not given its result.
  TaskId Insert(JoinHandle<T> handle) {
    const TaskId id = handle.id();
    handles_.push_back(std::move(handle));
    return id;
  }

  // Returns a future of the result of the first task in the queue, which leaves
  // the queue. The future gives `std::nullopt` if the queue is empty. For the
  // codes of results see `JoinHandle`. Only one such future may exist at a
  // time.
  //
  // Destroying the future loses nothing: the next future gives the result. Each
  // result takes a unit of the budget (context.h). The queue must outlive the
  // future.
  JoinQueueNextFuture<T> Next() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return JoinQueueNextFuture<T>(*this);
  }

  // Like `Next()`, but gives a `JoinedTask`, which includes the task's id.
  JoinQueueNextWithIdFuture<T> NextWithId() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return JoinQueueNextWithIdFuture<T>(*this);
  }

  // Returns what `Next()` would give, if the first task in the queue has ended,
  // and otherwise `std::nullopt`. Takes nothing of the budget.
  std::optional<JoinResult<T>> TryNext() {
    std::optional<JoinedTask<T>> joined = TryNextWithId();
    if (!joined.has_value()) return std::nullopt;
    return std::move(joined->result);
  }
  std::optional<JoinedTask<T>> TryNextWithId() {
    if (empty() || !handles_.front().IsFinished()) return std::nullopt;
    const Waker waker;
    Context cx(waker);
    return *PollNextWithId(cx);
  }

  // Polled by the futures. `PollNext()` makes the queue a `Stream`. The stream
  // continues if the queue is given new tasks after the stream has ended.
  PollResult<std::optional<JoinResult<T>>> PollNext(Context& cx) {
    PollResult<std::optional<JoinedTask<T>>> joined = PollNextWithId(cx);
    if (joined.IsPending()) return kPending;
    if (!joined->has_value()) return std::nullopt;
    return PollResult<std::optional<JoinResult<T>>>(
        std::in_place, std::move((*joined)->result));
  }
  PollResult<std::optional<JoinedTask<T>>> PollNextWithId(Context& cx) {
    if (empty()) return std::nullopt;
    JoinHandle<T>& first = handles_.front();
    PollResult<JoinResult<T>> result = first.Poll(cx);
    if (result.IsPending()) return kPending;
    PollResult<std::optional<JoinedTask<T>>> joined(
        std::in_place, std::in_place, first.id(), *std::move(result),
        first.exception(), first.was_cancelled());
    handles_.pop_front();
    return joined;
  }

  // Returns a future of the results of all tasks, in the order of the queue: a
  // `std::vector<JoinResult<T>>`. The future is ready when the queue is empty.
  // Destroying the future loses the results taken so far; the other tasks stay
  // in the queue. Otherwise like `Next()`.
  JoinQueueJoinAllFuture<T> JoinAll() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return JoinQueueJoinAllFuture<T>(*this);
  }

  // Requests the cancellation of all tasks, like `JoinHandle::Abort()`. The
  // tasks stay in the queue; `Next()` gives `kCancelled` for tasks that had not
  // ended. O(size).
  void AbortAll() {
    for (JoinHandle<T>& handle : handles_) handle.Abort();
  }

  // Returns a future that aborts all tasks when it is first polled, and is
  // ready when all have ended. Results are dropped, even the results of tasks
  // that had ended before. If the future is destroyed before it is ready, the
  // other tasks stay in the queue, aborted.
  JoinQueueShutdownFuture<T> Shutdown() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return JoinQueueShutdownFuture<T>(*this);
  }

  // Detaches all tasks, which continue to run, and leaves the queue empty.
  // Results are dropped, even the results of tasks that have ended. No future
  // of the queue may exist. O(size).
  void DetachAll() {
    // The destructor of a result may use the queue.
    const std::deque<JoinHandle<T>> detached = std::exchange(handles_, {});
  }

  // Returns the number of tasks in the queue, including ended tasks whose
  // results have not been taken.
  size_t size() const { return handles_.size(); }
  bool empty() const { return handles_.empty(); }

 private:
  friend class internal::JoinWait<JoinQueue>;

  static constexpr std::string_view kName = "JoinQueue";  // in panics

  // The waker of a destroyed future stays with the first task, and is woken in
  // vain.
  void StopWaiting() {}
  PollResult<void> PollDropNext(Context& cx) {
    if (PollNextWithId(cx).IsPending()) return kPending;
    return {};
  }

  // Destroyed handles detach their tasks.
  std::deque<JoinHandle<T>> handles_;
};

// JoinQueueNextFuture
//
// See `JoinQueue::Next()`.
template <class T>
class [[nodiscard]] JoinQueueNextFuture
    : public internal::JoinNext<JoinQueue<T>, JoinResult<T>> {
 public:
  using JoinQueueNextFuture::JoinNext::JoinNext;
};

// JoinQueueNextWithIdFuture
//
// See `JoinQueue::NextWithId()`.
template <class T>
class [[nodiscard]] JoinQueueNextWithIdFuture
    : public internal::JoinNextWithId<JoinQueue<T>, T> {
 public:
  using JoinQueueNextWithIdFuture::JoinNextWithId::JoinNextWithId;
};

// JoinQueueJoinAllFuture
//
// See `JoinQueue::JoinAll()`.
template <class T>
class [[nodiscard]] JoinQueueJoinAllFuture
    : public internal::JoinAllResults<JoinQueue<T>, T> {
 public:
  using JoinQueueJoinAllFuture::JoinAllResults::JoinAllResults;
};

// JoinQueueShutdownFuture
//
// See `JoinQueue::Shutdown()`.
template <class T>
class [[nodiscard]] JoinQueueShutdownFuture
    : public internal::JoinShutdown<JoinQueue<T>> {
 public:
  using JoinQueueShutdownFuture::JoinShutdown::JoinShutdown;
};

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_GROUP_JOIN_QUEUE_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: join_set.h
// -----------------------------------------------------------------------------
//
// `JoinSet<T>` is a set of tasks. The set gives the tasks' results as the tasks
// end:
//
//   rouse::JoinSet<Page> pages;
//   for (const Url& url : urls) pages.Spawn(Fetch(url));
//   while (auto page = co_await pages.Next()) {   // absl::StatusOr<Page>
//     if (page->ok()) Index(**page);
//   }
//
// Destroying the set aborts all tasks that have not ended.

#ifndef ROUSE_SCHEDULER_GROUP_JOIN_SET_H_
#define ROUSE_SCHEDULER_GROUP_JOIN_SET_H_

#include <cstddef>
#include <optional>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/cleanup/cleanup.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/future/many/ready_list.h"
#include "rouse/scheduler/blocking/blocking_call.h"
#include "rouse/scheduler/blocking/spawn_blocking.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/group/join_futures.h"  // IWYU pragma: export
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/spawn_options.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"
#include "rouse/waker/waker.h"

namespace rouse {

template <class T>
class JoinSetNextFuture;
template <class T>
class JoinSetNextWithIdFuture;
template <class T>
class JoinSetJoinAllFuture;
template <class T>
class JoinSetShutdownFuture;
template <class K, class T>
class JoinMap;

// JoinSet
//
// Each added task costs one small block in addition to the task, until its
// result is taken out. The number of tasks is not limited. The end of a task
// costs O(1), regardless of the number of other tasks.
//
// May be used by only one thread at a time. Movable, but not while a future of
// the set exists.
//
// Destroying the set aborts all tasks and does not wait for them: see
// `Shutdown()`.
template <class T>
class JoinSet {
 public:
  JoinSet() = default;
  JoinSet(JoinSet&& other) noexcept;
  JoinSet& operator=(JoinSet&& other) noexcept;
  ~JoinSet();

  // Starts a task on the current scheduler, like `rouse::Spawn(f)`, and adds
  // the task to the set.
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
  // to the set.
  template <class F>
    requires scheduler::BlockingCallable<std::decay_t<F>>
  TaskId SpawnBlocking(
      F&& f, std::source_location where = std::source_location::current()) {
    return Insert(rouse::SpawnBlocking(std::forward<F>(f), where));
  }

  // Adds a task started elsewhere, such as a blocking call. REQUIRES: `handle`
  // has not given its result.
  TaskId Insert(JoinHandle<T> handle);

  // Returns a future of the result of the next task to end. If tasks have ended
  // whose results have not been taken, the future gives the result of the
  // earliest of them. The future gives `std::nullopt` if the set is empty. For
  // the codes of results see `JoinHandle`. Only one such future may exist at a
  // time.
  //
  // Destroying the future loses nothing: the next future gives the result. Each
  // result takes a unit of the budget (context.h). The set must outlive the
  // future.
  JoinSetNextFuture<T> Next() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return JoinSetNextFuture<T>(*this);
  }

  // Like `Next()`, but gives a `JoinedTask`, which includes the task's id.
  JoinSetNextWithIdFuture<T> NextWithId() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return JoinSetNextWithIdFuture<T>(*this);
  }

  // Returns what `Next()` would give, if available now, and otherwise
  // `std::nullopt`. Takes nothing of the budget.
  std::optional<JoinResult<T>> TryNext();
  std::optional<JoinedTask<T>> TryNextWithId();

  // Polled by the futures. `PollNext()` makes the set a `Stream`. The stream
  // continues if the set is given new tasks after the stream has ended.
  PollResult<std::optional<JoinResult<T>>> PollNext(Context& cx);
  PollResult<std::optional<JoinedTask<T>>> PollNextWithId(Context& cx);

  // Returns a future of the results of all tasks, in the order of the tasks'
  // ends: a `std::vector<JoinResult<T>>`. The future is ready when the set is
  // empty. Destroying the future loses the results taken so far; the other
  // tasks stay in the set. Otherwise like `Next()`.
  JoinSetJoinAllFuture<T> JoinAll() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return JoinSetJoinAllFuture<T>(*this);
  }

  // Requests the cancellation of all tasks, like `JoinHandle::Abort()`. The
  // tasks stay in the set; `Next()` gives `kCancelled` for tasks that had not
  // ended. O(size).
  void AbortAll();

  // Returns a future that aborts all tasks when it is first polled, and is
  // ready when all have ended. Results are dropped, even the results of tasks
  // that had ended before. If the future is destroyed before it is ready, the
  // other tasks stay in the set, aborted.
  JoinSetShutdownFuture<T> Shutdown() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return JoinSetShutdownFuture<T>(*this);
  }

  // Detaches all tasks, which continue to run, and leaves the set empty.
  // Results are dropped, even the results of tasks that have ended. Wakes a
  // waiting `Next()`, which may have no task left to wait for; exceptions from
  // its waker are dropped. O(size).
  void DetachAll();

  // Returns the number of tasks in the set, including ended tasks whose results
  // have not been taken.
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  friend class internal::JoinWait<JoinSet>;
  template <class, class>
  friend class JoinMap;

  // A task that has not ended, or whose result has not been taken. A `JoinMap`
  // adds the task's key.
  class Entry : public internal::ReadyEntry, public IntrusiveListNode<> {
   public:
    Entry(internal::ReadyList* list, JoinHandle<T> handle)
        : ReadyEntry(list), handle(std::move(handle)) {}

    // Returns whether the task has ended. If not, the task marks the entry
    // ready when it ends.
    bool PollFinished() {
      const BorrowedWaker waker(raw_waker());
      Context cx(waker.get());
      return handle.PollFinished(cx).IsReady();
    }

    // Returns whether `Remove()` was called: the handle was moved from.
    bool IsRemoved() const { return handle.id() == 0; }

    // Takes the result of a task that has ended. If this throws, the result
    // stays in the task.
    JoinedTask<T> Take() {
      const BorrowedWaker waker(raw_waker());
      Context cx(waker.get());
      // The set takes the units of the budget.
      const UnconstrainedScope unconstrained(cx);
      JoinResult<T> result = *handle.Poll(cx);
      return JoinedTask<T>(handle.id(), std::move(result), handle.exception(),
                           handle.was_cancelled());
    }

    JoinHandle<T> handle;
  };

  // Nothing can be undone at this point, so an exception from a waker is
  // dropped.
  static void WakeNext(internal::ReadyList& list) noexcept {
    ROUSE_TRY { list.Wake(); }
    ROUSE_CATCH_ALL {}
  }

  internal::ReadyList& list() {
    if (list_ == nullptr) list_ = new internal::ReadyList;
    return *list_;
  }

  // Aborts and detaches all tasks.
  void Clear();

  // Adds `entry`, whose reference passes to the set. Returns the task's id.
  TaskId Add(Entry* entry);

  // Detaches the task of `entry` and removes it from the set. Its result never
  // comes. Wakes a waiting `Next()` if the set is empty now.
  void Remove(Entry* entry);

  // Calls `take` with the next ready entry. The entry is in the set until
  // `take` returns, and is then removed. Returns false if no entry is ready.
  template <class Take>
  bool TakeReady(Take take);

  // Like `PollNextWithId()`, but drops the result in place, so that an
  // exception counts as not taken. REQUIRES: the set is not empty.
  PollResult<void> PollDropNext(Context& cx);

  // Calls `try_take()`, and is ready if `try_take()` returns true. Otherwise
  // the waker of `cx` is woken for another attempt when a task ends.
  template <class TryTake>
  PollResult<void> PollTake(Context& cx, TryTake try_take);

  static constexpr std::string_view kName = "JoinSet";  // in panics

  // Drops the registered waker: nothing is woken any more.
  void StopWaiting() {
    if (list_ != nullptr) list_->Deregister();
  }

  static void Drop(Entry* entry) {
    entry->Unlink();
    // Drop the handle here, rather than with the last of the entry's wakers on
    // another thread.
    const JoinHandle<T> dropped_here = std::move(entry->handle);
    entry->Unref();
  }

  // Made with the first task.
  internal::ReadyList* list_ = nullptr;
  // Has a reference to each entry.
  IntrusiveList<Entry> entries_;
  // Has a reference to each removed entry that is or will be in `list_`.
  IntrusiveList<Entry> removed_;
  size_t size_ = 0;
};

// JoinSetNextFuture
//
// See `JoinSet::Next()`.
template <class T>
class [[nodiscard]] JoinSetNextFuture
    : public internal::JoinNext<JoinSet<T>, JoinResult<T>> {
 public:
  using JoinSetNextFuture::JoinNext::JoinNext;
};

// JoinSetNextWithIdFuture
//
// See `JoinSet::NextWithId()`.
template <class T>
class [[nodiscard]] JoinSetNextWithIdFuture
    : public internal::JoinNextWithId<JoinSet<T>, T> {
 public:
  using JoinSetNextWithIdFuture::JoinNextWithId::JoinNextWithId;
};

// JoinSetJoinAllFuture
//
// See `JoinSet::JoinAll()`.
template <class T>
class [[nodiscard]] JoinSetJoinAllFuture
    : public internal::JoinAllResults<JoinSet<T>, T> {
 public:
  using JoinSetJoinAllFuture::JoinAllResults::JoinAllResults;
};

// JoinSetShutdownFuture
//
// See `JoinSet::Shutdown()`.
template <class T>
class [[nodiscard]] JoinSetShutdownFuture
    : public internal::JoinShutdown<JoinSet<T>> {
 public:
  using JoinSetShutdownFuture::JoinShutdown::JoinShutdown;
};

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

template <class T>
JoinSet<T>::JoinSet(JoinSet&& other) noexcept
    : list_(std::exchange(other.list_, nullptr)),
      entries_(std::move(other.entries_)),
      removed_(std::move(other.removed_)),
      size_(std::exchange(other.size_, 0)) {}

template <class T>
JoinSet<T>& JoinSet<T>::operator=(JoinSet&& other) noexcept {
  // The old contents are destroyed now, not together with `other`.
  JoinSet taken(std::move(other));
  Clear();
  std::swap(list_, taken.list_);
  entries_ = std::move(taken.entries_);
  removed_ = std::move(taken.removed_);
  std::swap(size_, taken.size_);
  return *this;
}

template <class T>
JoinSet<T>::~JoinSet() {
  Clear();
}

template <class T>
void JoinSet<T>::Clear() {
  // The destructor of a result may add tasks to the set.
  do {
    AbortAll();
    DetachAll();
  } while (!empty());
}

template <class T>
TaskId JoinSet<T>::Insert(JoinHandle<T> handle) {
  return Add(new Entry(&list(), std::move(handle)));
}

template <class T>
TaskId JoinSet<T>::Add(Entry* entry) {
  entries_.PushBack(entry);
  ++size_;
  const TaskId id = entry->handle.id();
  // Polled at once, so that results come in the order in which tasks end.
  if (entry->PollFinished()) list_->MarkReady(entry);
  return id;
}

template <class T>
template <class Take>
bool JoinSet<T>::TakeReady(Take take) {
  if (list_ == nullptr) return false;
  while (auto* const entry = static_cast<Entry*>(list_->Pop())) {
    if (entry->IsRemoved()) {
      entry->Unlink();
      entry->Unref();
      continue;
    }
    if (!entry->handle.IsFinished()) {
      // A spurious wake, as wakers are allowed to cause.
      internal::ReadyList::Rearm(entry);
      if (entry->PollFinished()) list_->MarkReady(entry);
      continue;
    }
    absl::Cleanup put_back = [this, entry] { list_->PutBack(entry); };
    take(*entry);
    std::move(put_back).Cancel();
    // The entry is not rearmed, so no waker brings it back.
    --size_;
    Drop(entry);
    // If the caller is `TryNext()`, a `Next()` may be waiting for more.
    if (empty()) WakeNext(*list_);
    return true;
  }
  return false;
}

template <class T>
void JoinSet<T>::Remove(Entry* entry) {
  --size_;
  entry->Unlink();
  // The result may be destroyed here, and may use the set.
  const JoinHandle<T> dropped_here = std::move(entry->handle);
  if (internal::ReadyList::Retire(entry)) {
    entry->Unref();
  } else {
    // The entry is or will be in the list, where `TakeReady()` finds it.
    removed_.PushBack(entry);
  }
  if (empty()) WakeNext(*list_);
}

template <class T>
std::optional<JoinedTask<T>> JoinSet<T>::TryNextWithId() {
  std::optional<JoinedTask<T>> joined;
  TakeReady([&joined](Entry& entry) { joined.emplace(entry.Take()); });
  return joined;
}

template <class T>
std::optional<JoinResult<T>> JoinSet<T>::TryNext() {
  std::optional<JoinedTask<T>> joined = TryNextWithId();
  if (!joined.has_value()) return std::nullopt;
  return std::move(joined->result);
}

template <class T>
template <class TryTake>
PollResult<void> JoinSet<T>::PollTake(Context& cx, TryTake try_take) {
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  if (!try_take()) {
    list_->Register(cx.waker());
    // A task may have ended between the attempt and the registration.
    if (!try_take()) return kPending;
  }
  unit->MadeProgress();
  return {};
}

template <class T>
PollResult<void> JoinSet<T>::PollDropNext(Context& cx) {
  return PollTake(cx, [this] { return TakeReady([](Entry&) {}); });
}

template <class T>
PollResult<std::optional<JoinedTask<T>>> JoinSet<T>::PollNextWithId(
    Context& cx) {
  if (empty()) return std::nullopt;
  std::optional<JoinedTask<T>> joined;
  const PollResult<void> taken = PollTake(cx, [this, &joined] {
    joined = TryNextWithId();
    return joined.has_value();
  });
  if (taken.IsPending()) return kPending;
  return PollResult<std::optional<JoinedTask<T>>>(std::in_place,
                                                  std::move(joined));
}

template <class T>
PollResult<std::optional<JoinResult<T>>> JoinSet<T>::PollNext(Context& cx) {
  PollResult<std::optional<JoinedTask<T>>> joined = PollNextWithId(cx);
  if (joined.IsPending()) return kPending;
  if (!joined->has_value()) return std::nullopt;
  return PollResult<std::optional<JoinResult<T>>>(std::in_place,
                                                  std::move((*joined)->result));
}

template <class T>
void JoinSet<T>::AbortAll() {
  entries_.ForEach([](Entry* entry) { entry->handle.Abort(); });
}

template <class T>
void JoinSet<T>::DetachAll() {
  if (list_ == nullptr) return;
  // Later tasks use another list. Entries being woken now may keep this list
  // alive, and are not in the set any more.
  internal::ReadyList* const list = std::exchange(list_, nullptr);
  list->Close();
  while (Entry* const entry = removed_.PopFront()) entry->Unref();
  // Tasks that the destructor of a result adds to the set do not get into
  // `entries`.
  IntrusiveList<Entry> entries = std::move(entries_);
  size_ = 0;
  while (Entry* const entry = entries.Front()) Drop(entry);
  // A `Next()` that waited for the detached tasks may find new tasks, in
  // another list.
  const absl::Cleanup unref = [list] { list->Unref(); };
  WakeNext(*list);
}

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_GROUP_JOIN_SET_H_

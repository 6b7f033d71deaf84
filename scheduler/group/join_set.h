// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: join_set.h
// -----------------------------------------------------------------------------
//
// `JoinSet<T>` is a set of tasks whose results come out as they end:
//
//   rouse::JoinSet<Page> pages;
//   for (const Url& url : urls) pages.Spawn(Fetch(url));
//   while (auto page = co_await pages.Next()) {   // absl::StatusOr<Page>
//     if (page->ok()) Index(**page);
//   }
//
// When the set goes, those that have not ended are aborted.

#ifndef ROUSE_SCHEDULER_GROUP_JOIN_SET_H_
#define ROUSE_SCHEDULER_GROUP_JOIN_SET_H_

#include <cstddef>
#include <exception>
#include <optional>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/cleanup/cleanup.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/panic.h"
#include "rouse/scheduler/blocking/blocking_call.h"
#include "rouse/scheduler/blocking/spawn_blocking.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/group/ready_list.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/spawn_options.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"
#include "rouse/waker/waker.h"

namespace rouse {

// JoinedTask
//
// How a task of a `JoinSet` has ended.
template <class T>
class JoinedTask {
 public:
  JoinedTask(TaskId id, JoinResult<T> result, std::exception_ptr exception,
             bool was_cancelled)
      : id(id),
        result(std::move(result)),
        exception(std::move(exception)),
        was_cancelled(was_cancelled) {}

  TaskId id;
  JoinResult<T> result;
  std::exception_ptr exception;  // null unless one ended the task
  bool was_cancelled;            // see `JoinHandle::was_cancelled()`
};

namespace internal {
template <class T>
class JoinSetWait;
}  // namespace internal
template <class T>
class JoinSetNextFuture;
template <class T>
class JoinSetNextWithIdFuture;
template <class T>
class JoinSetJoinAllFuture;
template <class T>
class JoinSetShutdownFuture;

// JoinSet
//
// Each task that is added costs one small block besides the task, until its
// result is taken out. There is no limit to their number. A task that ends
// costs O(1), however many others there are.
//
// Used by one thread at a time. Movable, but not while there is a future of it.
//
// Destroying it aborts all tasks and does not wait for them: see `Shutdown()`.
template <class T>
class JoinSet {
 public:
  JoinSet() = default;
  JoinSet(JoinSet&& other) noexcept;
  JoinSet& operator=(JoinSet&& other) noexcept;
  ~JoinSet();

  // Starts a task on the current scheduler, as `rouse::Spawn(f)` does, and adds
  // it to the set.
  template <class F>
  TaskId Spawn(F&& f, const SpawnOptions& options = {},
               std::source_location where = std::source_location::current()) {
    task::CheckSpawnable<F>();
    return Insert(rouse::Spawn(std::forward<F>(f), options, where));
  }

  // The same by the `Spawn()` of `spawner`: a `Runtime`, a `Handle`, a
  // `LocalSet`.
  template <class Spawner, class F>
  TaskId SpawnOn(Spawner&& spawner, F&& f, const SpawnOptions& options = {},
                 std::source_location where = std::source_location::current()) {
    task::CheckSpawnable<F>();
    return Insert(std::forward<Spawner>(spawner).Spawn(std::forward<F>(f),
                                                       options, where));
  }

  // Makes a call that blocks, as `rouse::SpawnBlocking(f)` does, and adds it.
  template <class F>
    requires scheduler::BlockingCallable<std::decay_t<F>>
  TaskId SpawnBlocking(
      F&& f, std::source_location where = std::source_location::current()) {
    return Insert(rouse::SpawnBlocking(std::forward<F>(f), where));
  }

  // Adds a task that has been started, such as a blocking call. REQUIRES:
  // `handle` has not given its result.
  TaskId Insert(JoinHandle<T> handle);

  // A future of the result of the task that ends next, or that has ended before
  // all others whose results have not been taken; `std::nullopt` if the set is
  // empty. For the codes of results see `JoinHandle`. One such future at a
  // time.
  //
  // Destroying it loses nothing: the result is for the next one. It takes a
  // unit of the budget (context.h) for each result. The set outlives it.
  JoinSetNextFuture<T> Next() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return JoinSetNextFuture<T>(*this);
  }

  // The same, with what else there is to know of the task.
  JoinSetNextWithIdFuture<T> NextWithId() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return JoinSetNextWithIdFuture<T>(*this);
  }

  // What `Next()` gives, if it is there now, else `std::nullopt`. Takes nothing
  // of the budget.
  std::optional<JoinResult<T>> TryNext();
  std::optional<JoinedTask<T>> TryNextWithId();

  // What the futures poll. With `PollNext()` a set is a `Stream`, which goes on
  // if it is given new tasks after it has ended.
  PollResult<std::optional<JoinResult<T>>> PollNext(Context& cx);
  PollResult<std::optional<JoinedTask<T>>> PollNextWithId(Context& cx);

  // A future of the results of all tasks, in the order in which they end: a
  // `std::vector<JoinResult<T>>`, ready when the set is empty. Destroying it
  // loses the results that it has taken; the rest stays in the set. As `Next()`
  // otherwise.
  JoinSetJoinAllFuture<T> JoinAll() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return JoinSetJoinAllFuture<T>(*this);
  }

  // Asks for all tasks to be cancelled, as `JoinHandle::Abort()` does. They
  // stay in the set; `Next()` gives `kCancelled` for those that had not ended.
  // O(size).
  void AbortAll();

  // A future that aborts all tasks when it is first polled, and is ready when
  // they have ended. Results are dropped, also of those that had ended before.
  // If it is destroyed before that, the rest stays in the set, aborted.
  JoinSetShutdownFuture<T> Shutdown() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return JoinSetShutdownFuture<T>(*this);
  }

  // Lets all tasks run on by themselves, and leaves the set empty. Results are
  // dropped, also of those that have ended. Wakes a `Next()` that waits, for
  // which there may be nothing left; what that waker throws is dropped.
  // O(size).
  void DetachAll();

  // How many tasks are in the set, those included that have ended and whose
  // results have not been taken.
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  friend class internal::JoinSetWait<T>;
  friend class JoinSetShutdownFuture<T>;

  // A task that has not ended, or whose result is still in it.
  class Entry final : public scheduler::ReadyEntry, public IntrusiveListNode<> {
   public:
    Entry(scheduler::ReadyList* list, JoinHandle<T> handle)
        : ReadyEntry(list), handle(std::move(handle)) {}

    // Whether the task has ended; if not it wakes the entry when it does.
    bool PollFinished() {
      const BorrowedWaker waker(raw_waker());
      Context cx(waker.get());
      return handle.PollFinished(cx).IsReady();
    }

    // The result of a task that has ended. An exception leaves it there.
    JoinedTask<T> Take() {
      const BorrowedWaker waker(raw_waker());
      Context cx(waker.get());
      // It is the set that takes of the budget.
      const UnconstrainedScope unconstrained(cx);
      JoinResult<T> result = *handle.Poll(cx);
      return JoinedTask<T>(handle.id(), std::move(result), handle.exception(),
                           handle.was_cancelled());
    }

    JoinHandle<T> handle;
  };

  // By now nothing can be undone: what a waker throws is dropped.
  static void WakeNext(scheduler::ReadyList& list) noexcept {
    ROUSE_TRY { list.Wake(); }
    ROUSE_CATCH_ALL {}
  }

  scheduler::ReadyList& list() {
    if (list_ == nullptr) list_ = new scheduler::ReadyList;
    return *list_;
  }

  // Aborts and detaches all tasks.
  void Clear();

  // Calls `take` with the entry that is ready next, which is in the set until
  // `take` returns and then goes. False: there is none.
  template <class Take>
  bool TakeReady(Take take);

  // As `TryNextWithId()` and `PollNextWithId()`, but drops the result where it
  // is, so that an exception counts as taken by nobody. REQUIRES: not empty.
  PollResult<void> PollDropNext(Context& cx);

  // `try_take()`, or else has it tried again when a task ends: whether it has
  // returned true.
  template <class TryTake>
  PollResult<void> PollTake(Context& cx, TryTake try_take);

  // Wakes nobody any more.
  void StopWaiting() {
    if (list_ != nullptr) list_->Deregister();
  }

  static void Drop(Entry* entry) {
    entry->Unlink();
    // Not by the last of its wakers, on another thread.
    const JoinHandle<T> dropped_here = std::move(entry->handle);
    entry->Unref();
  }

  // Made with the first task.
  scheduler::ReadyList* list_ = nullptr;
  // Has a reference to each.
  IntrusiveList<Entry> entries_;
  size_t size_ = 0;
};

namespace internal {

// JoinSetWait
//
// What the futures of a set have in common: they wait for it until they have
// finished or go.
template <class T>
class JoinSetWait {
 public:
  explicit JoinSetWait(JoinSet<T>& set) : set_(&set) {}
  JoinSetWait(JoinSetWait&& other) noexcept
      : set_(std::exchange(other.set_, nullptr)) {}
  JoinSetWait& operator=(JoinSetWait&&) = delete;
  ~JoinSetWait() {
    if (set_ != nullptr) set_->StopWaiting();
  }

  // The set; a `Panic(panic)` if it has finished.
  JoinSet<T>& SetOrPanic(std::string_view panic) const {
    if (set_ == nullptr) Panic(panic);
    return *set_;
  }

  void Finish() { set_ = nullptr; }

 private:
  JoinSet<T>* set_;
};

}  // namespace internal

// JoinSetNextFuture
//
// See `JoinSet::Next()`.
template <class T>
class [[nodiscard]] JoinSetNextFuture {
 public:
  explicit JoinSetNextFuture(JoinSet<T>& set) : wait_(set) {}

  PollResult<std::optional<JoinResult<T>>> Poll(Context& cx) {
    PollResult<std::optional<JoinResult<T>>> result =
        wait_
            .SetOrPanic(
                "JoinSet::Next: polled after it has finished; call Next() "
                "again")
            .PollNext(cx);
    if (result.IsReady()) wait_.Finish();
    return result;
  }

 private:
  internal::JoinSetWait<T> wait_;
};

// JoinSetNextWithIdFuture
//
// See `JoinSet::NextWithId()`.
template <class T>
class [[nodiscard]] JoinSetNextWithIdFuture {
 public:
  explicit JoinSetNextWithIdFuture(JoinSet<T>& set) : wait_(set) {}

  PollResult<std::optional<JoinedTask<T>>> Poll(Context& cx) {
    PollResult<std::optional<JoinedTask<T>>> joined =
        wait_
            .SetOrPanic(
                "JoinSet::NextWithId: polled after it has finished; call "
                "NextWithId() again")
            .PollNextWithId(cx);
    if (joined.IsReady()) wait_.Finish();
    return joined;
  }

 private:
  internal::JoinSetWait<T> wait_;
};

// JoinSetJoinAllFuture
//
// See `JoinSet::JoinAll()`.
template <class T>
class [[nodiscard]] JoinSetJoinAllFuture {
 public:
  explicit JoinSetJoinAllFuture(JoinSet<T>& set) : wait_(set) {}

  PollResult<std::vector<JoinResult<T>>> Poll(Context& cx) {
    JoinSet<T>& set = wait_.SetOrPanic(
        "JoinSet::JoinAll: polled after it has finished; call JoinAll() again");
    for (;;) {
      PollResult<std::optional<JoinResult<T>>> result = set.PollNext(cx);
      if (result.IsPending()) return kPending;
      if (!result->has_value()) break;
      results_.push_back(**std::move(result));
    }
    wait_.Finish();
    return std::move(results_);
  }

 private:
  internal::JoinSetWait<T> wait_;
  std::vector<JoinResult<T>> results_;
};

// JoinSetShutdownFuture
//
// See `JoinSet::Shutdown()`.
template <class T>
class [[nodiscard]] JoinSetShutdownFuture {
 public:
  explicit JoinSetShutdownFuture(JoinSet<T>& set) : wait_(set) {}

  PollResult<void> Poll(Context& cx) {
    JoinSet<T>& set = wait_.SetOrPanic(
        "JoinSet::Shutdown: polled after it has finished; call Shutdown() "
        "again");
    if (!std::exchange(aborted_, true)) set.AbortAll();
    while (!set.empty()) {
      if (set.PollDropNext(cx).IsPending()) return kPending;
    }
    wait_.Finish();
    return {};
  }

 private:
  internal::JoinSetWait<T> wait_;
  bool aborted_ = false;
};

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

template <class T>
JoinSet<T>::JoinSet(JoinSet&& other) noexcept
    : list_(std::exchange(other.list_, nullptr)),
      entries_(std::move(other.entries_)),
      size_(std::exchange(other.size_, 0)) {}

template <class T>
JoinSet<T>& JoinSet<T>::operator=(JoinSet&& other) noexcept {
  // What was here goes now, not when `other` does.
  JoinSet taken(std::move(other));
  Clear();
  std::swap(list_, taken.list_);
  entries_ = std::move(taken.entries_);
  std::swap(size_, taken.size_);
  return *this;
}

template <class T>
JoinSet<T>::~JoinSet() {
  Clear();
}

template <class T>
void JoinSet<T>::Clear() {
  // The destructor of a result may add to the set.
  do {
    AbortAll();
    DetachAll();
  } while (!empty());
}

template <class T>
TaskId JoinSet<T>::Insert(JoinHandle<T> handle) {
  auto* const entry = new Entry(&list(), std::move(handle));
  entries_.PushBack(entry);
  ++size_;
  const TaskId id = entry->handle.id();
  // Asked at once, so that results come in the order in which tasks end.
  if (entry->PollFinished()) list_->MarkReady(entry);
  return id;
}

template <class T>
template <class Take>
bool JoinSet<T>::TakeReady(Take take) {
  if (list_ == nullptr) return false;
  while (auto* const entry = static_cast<Entry*>(list_->Pop())) {
    if (!entry->handle.IsFinished()) {
      // Woken for nothing, which a waker may be.
      scheduler::ReadyList::Rearm(entry);
      if (entry->PollFinished()) list_->MarkReady(entry);
      continue;
    }
    absl::Cleanup put_back = [this, entry] { list_->PutBack(entry); };
    take(*entry);
    std::move(put_back).Cancel();
    // The entry is not rearmed: no waker brings it back.
    --size_;
    Drop(entry);
    // If this is `TryNext()`, a `Next()` may wait for more.
    if (empty()) WakeNext(*list_);
    return true;
  }
  return false;
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
    // One may have ended between the two.
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
  // Another list for what comes later: those that are being woken now may hold
  // on to this one, and are not in it any more.
  scheduler::ReadyList* const list = std::exchange(list_, nullptr);
  list->Close();
  // Nor are those in it that the destructor of a result adds to the set.
  IntrusiveList<Entry> entries = std::move(entries_);
  size_ = 0;
  while (Entry* const entry = entries.Front()) Drop(entry);
  // A `Next()` that waited for them may find others, in another list.
  const absl::Cleanup unref = [list] { list->Unref(); };
  WakeNext(*list);
}

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_GROUP_JOIN_SET_H_

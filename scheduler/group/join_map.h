// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: join_map.h
// -----------------------------------------------------------------------------
//
// `JoinMap<K, T>` is a set of tasks with keys. A task can be aborted by its
// key, and a new task with the key of another replaces the other:
//
//   rouse::JoinMap<std::string, absl::Status> sessions;
//   sessions.Spawn(user, Serve(std::move(stream)));  // ends an older session
//   ...
//   sessions.Abort(user);
//   ...
//   while (auto ended = co_await sessions.Next()) {
//     LOG(INFO) << ended->key << ": " << ended->result;
//   }
//
// Destroying the map aborts all tasks that have not ended. Without keys, use a
// `JoinSet`.

#ifndef ROUSE_SCHEDULER_GROUP_JOIN_MAP_H_
#define ROUSE_SCHEDULER_GROUP_JOIN_MAP_H_

#include <concepts>
#include <cstddef>
#include <optional>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/cleanup/cleanup.h"
#include "absl/container/node_hash_map.h"
#include "rouse/scheduler/blocking/blocking_call.h"
#include "rouse/scheduler/blocking/spawn_blocking.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/group/join_futures.h"  // IWYU pragma: export
#include "rouse/scheduler/group/join_set.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/spawn_options.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"

namespace rouse {

// JoinedMapTask
//
// The key and the outcome of a task of a `JoinMap`.
template <class K, class T>
class JoinedMapTask : public JoinedTask<T> {
 public:
  JoinedMapTask(K key, JoinedTask<T> task)
      : JoinedTask<T>(std::move(task)), key(std::move(key)) {}

  K key;
};

template <class K, class T>
class JoinMapNextFuture;
template <class K, class T>
class JoinMapShutdownFuture;

// JoinMap
//
// `K` is movable, and can be the key of an `absl::node_hash_map`. At most one
// task has a key at a time. Each added task costs two small blocks in addition
// to the task, until its result is taken out. The end of a task costs O(1),
// regardless of the number of other tasks.
//
// May be used by only one thread at a time. Movable, but not while a future of
// the map exists.
//
// Destroying the map aborts all tasks and does not wait for them: see
// `Shutdown()`.
template <class K, class T>
class JoinMap {
  static_assert(std::is_nothrow_move_constructible_v<K>,
                "the move constructor of a key must not throw: the task of the "
                "key would be lost");

 public:
  JoinMap() = default;
  JoinMap(JoinMap&& other) noexcept
      : nodes_(std::exchange(other.nodes_, {})),
        tasks_(std::move(other.tasks_)) {}
  JoinMap& operator=(JoinMap&& other) noexcept {
    // The old tasks are aborted now, not together with `other`.
    JoinMap taken(std::move(other));
    Clear();
    std::swap(nodes_, taken.nodes_);
    tasks_ = std::move(taken.tasks_);
    return *this;
  }
  ~JoinMap() { Clear(); }

  // Starts a task on the current scheduler, like `rouse::Spawn(f)`, and adds
  // the task to the map with the key `key`.
  //
  // If a task has this key, that task is aborted, and replaced: its result is
  // dropped, even if the task had ended, and `Next()` never gives it. If the
  // call throws, the map is unchanged, and a task that was started is aborted.
  template <class F>
  TaskId Spawn(K key, F&& f, const SpawnOptions& options = {},
               std::source_location where = std::source_location::current()) {
    task::CheckSpawnable<F>();
    return Put(std::move(key), [&] {
      return rouse::Spawn(std::forward<F>(f), options, where);
    });
  }

  // Like `Spawn()`, but starts the task with the `Spawn()` of `spawner`: a
  // `Runtime`, a `Handle` or a `LocalSet`.
  template <class Spawner, class F>
  TaskId SpawnOn(Spawner&& spawner, K key, F&& f,
                 const SpawnOptions& options = {},
                 std::source_location where = std::source_location::current()) {
    task::CheckSpawnable<F>();
    return Put(std::move(key), [&] {
      return std::forward<Spawner>(spawner).Spawn(std::forward<F>(f), options,
                                                  where);
    });
  }

  // Starts a blocking call, like `rouse::SpawnBlocking(f)`, and adds the call
  // to the map as `Spawn()` does.
  template <class F>
    requires scheduler::BlockingCallable<std::decay_t<F>>
  TaskId SpawnBlocking(
      K key, F&& f,
      std::source_location where = std::source_location::current()) {
    return Put(std::move(key),
               [&] { return rouse::SpawnBlocking(std::forward<F>(f), where); });
  }

  // Adds a task started elsewhere, as `Spawn()` does. REQUIRES: `handle` has
  // not given its result.
  TaskId Insert(K key, JoinHandle<T> handle) {
    return Put(std::move(key), [&] { return std::move(handle); });
  }

  // Returns a future of the next task to end, a
  // `std::optional<JoinedMapTask<K, T>>`, which leaves the map. If tasks have
  // ended whose results have not been taken, the future gives the earliest of
  // them. The future gives `std::nullopt` if the map is empty. For the codes of
  // results see `JoinHandle`. Only one such future may exist at a time.
  //
  // Destroying the future loses nothing: the next future gives the result. Each
  // result takes a unit of the budget (context.h). The map must outlive the
  // future.
  JoinMapNextFuture<K, T> Next() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return JoinMapNextFuture<K, T>(*this);
  }

  // Returns what `Next()` would give, if available now, and otherwise
  // `std::nullopt`. Takes nothing of the budget.
  std::optional<JoinedMapTask<K, T>> TryNext() {
    std::optional<JoinedMapTask<K, T>> joined;
    tasks_.TakeReady([this, &joined](typename JoinSet<T>::Entry& entry) {
      const Node& node = *static_cast<Entry&>(entry).node;
      // Extracted last: if moving the result throws, the task stays in the map.
      JoinedTask<T> task = entry.Take();
      auto taken = nodes_.extract(nodes_.find(node.first));
      joined.emplace(std::move(taken.key()), std::move(task));
    });
    return joined;
  }

  // Polled by the futures; makes the map a `Stream`. The stream continues if
  // the map is given new tasks after the stream has ended.
  PollResult<std::optional<JoinedMapTask<K, T>>> PollNext(Context& cx) {
    if (empty()) return std::nullopt;
    std::optional<JoinedMapTask<K, T>> joined;
    const PollResult<void> taken = tasks_.PollTake(cx, [this, &joined] {
      joined = TryNext();
      return joined.has_value();
    });
    if (taken.IsPending()) return kPending;
    return PollResult<std::optional<JoinedMapTask<K, T>>>(std::in_place,
                                                          std::move(joined));
  }

  // Returns whether a task has the key `key`, including an ended task whose
  // result has not been taken.
  bool Contains(const K& key) const { return nodes_.contains(key); }

  // Calls `visit(const K&)` for each key, in no particular order. `visit` must
  // not add or remove tasks. O(size).
  template <std::invocable<const K&> Visitor>
  void ForEachKey(Visitor&& visit) const {
    for (const Node& node : nodes_) visit(node.first);
  }

  // Requests the cancellation of the task with the key `key`, like
  // `JoinHandle::Abort()`. Returns whether a task has this key. The task stays
  // in the map; `Next()` gives `kCancelled` for a task that had not ended.
  bool Abort(const K& key) {
    const auto node = nodes_.find(key);
    if (node == nodes_.end()) return false;
    node->second->handle.Abort();
    return true;
  }

  // Requests the cancellation of all tasks for whose keys `matches(const K&)`
  // returns true, as `Abort()` does. O(size).
  template <std::predicate<const K&> Predicate>
  void AbortMatching(Predicate&& matches) {
    for (const Node& node : nodes_) {
      if (matches(node.first)) node.second->handle.Abort();
    }
  }

  // Requests the cancellation of all tasks, as `Abort()` does. O(size).
  void AbortAll() { tasks_.AbortAll(); }

  // Returns a future that aborts all tasks when it is first polled, and is
  // ready when all have ended. Results are dropped, even the results of tasks
  // that had ended before. If the future is destroyed before it is ready, the
  // other tasks stay in the map, aborted.
  JoinMapShutdownFuture<K, T> Shutdown() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return JoinMapShutdownFuture<K, T>(*this);
  }

  // Detaches all tasks, which continue to run, and leaves the map empty.
  // Results are dropped, even the results of tasks that have ended. Wakes a
  // waiting `Next()`, which may have no task left to wait for; exceptions from
  // its waker are dropped. O(size).
  void DetachAll() {
    // The destructor of a result may use the map.
    const Nodes detached = std::exchange(nodes_, {});
    tasks_.DetachAll();
  }

  // Returns the number of tasks in the map, including ended tasks whose results
  // have not been taken.
  size_t size() const { return tasks_.size(); }
  bool empty() const { return tasks_.empty(); }

 private:
  friend class internal::JoinWait<JoinMap>;

  static constexpr std::string_view kName = "JoinMap";  // in panics

  class Entry;
  // The addresses of nodes are stable.
  using Nodes = absl::node_hash_map<K, Entry*>;
  using Node = typename Nodes::value_type;

  class Entry final : public JoinSet<T>::Entry {
   public:
    Entry(internal::ReadyList* list, JoinHandle<T> handle, const Node* node)
        : JoinSet<T>::Entry(list, std::move(handle)), node(node) {}

    const Node* const node;
  };

  // Adds the task whose handle `spawn()` returns, or replaces a task.
  template <class Spawn>
  TaskId Put(K key, Spawn spawn) {
    const auto [position, is_new] = nodes_.try_emplace(std::move(key), nullptr);
    Node& node = *position;
    absl::Cleanup undo = [this, &node, is_new = is_new] {
      if (is_new) nodes_.erase(nodes_.find(node.first));
    };
    internal::ReadyList& list = tasks_.list();
    JoinHandle<T> handle = spawn();
    // Aborts the task if memory runs out. Otherwise `handle` has no task then.
    const absl::Cleanup abort = [&handle] { handle.Abort(); };
    auto* const entry = new Entry(&list, std::move(handle), &node);
    std::move(undo).Cancel();
    Entry* const replaced = std::exchange(node.second, entry);
    const TaskId id = tasks_.Add(entry);
    if (replaced != nullptr) {
      replaced->handle.Abort();
      tasks_.Remove(replaced);
    }
    return id;
  }

  void StopWaiting() { tasks_.StopWaiting(); }
  PollResult<void> PollDropNext(Context& cx) {
    if (PollNext(cx).IsPending()) return kPending;
    return {};
  }

  void Clear() {
    // The destructor of a result may add tasks to the map.
    do {
      AbortAll();
      DetachAll();
    } while (!empty());
  }

  Nodes nodes_;
  // Has the same tasks. The entries refer to the nodes.
  JoinSet<T> tasks_;
};

// JoinMapNextFuture
//
// See `JoinMap::Next()`.
template <class K, class T>
class [[nodiscard]] JoinMapNextFuture
    : public internal::JoinNext<JoinMap<K, T>, JoinedMapTask<K, T>> {
 public:
  using JoinMapNextFuture::JoinNext::JoinNext;
};

// JoinMapShutdownFuture
//
// See `JoinMap::Shutdown()`.
template <class K, class T>
class [[nodiscard]] JoinMapShutdownFuture
    : public internal::JoinShutdown<JoinMap<K, T>> {
 public:
  using JoinMapShutdownFuture::JoinShutdown::JoinShutdown;
};

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_GROUP_JOIN_MAP_H_

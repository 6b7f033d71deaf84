// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mutex_map.h
// -----------------------------------------------------------------------------
//
// `MutexMap<K>` is a lock for each key: tasks with the same key take turns, and
// tasks with different keys do not wait for each other. Example: only one
// request at a time changes an account.
//
//   rouse::MutexMap<AccountId> accounts;
//
//   rouse::Co<absl::Status> Transfer(AccountId from, Money amount) {
//     auto guard = co_await accounts.Lock(from);
//     ...
//   }  // unlocked
//
// A key takes memory only while it is locked or waited for.

#ifndef ROUSE_SYNC_KEYED_MUTEX_MAP_H_
#define ROUSE_SYNC_KEYED_MUTEX_MAP_H_

#include <cstddef>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"
#include "absl/container/node_hash_map.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/semaphore/core.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// MutexMap
//
// `MutexMap` is thread-safe and needs no runtime. `K` is copyable or movable,
// and can be the key of an `absl::node_hash_map`. The locks of all keys
// together have a short thread mutex, taken when a lock is requested and when a
// request or guard ends; the hash and the comparison of keys run under it.
//
// Waiters of a key are served in the order of their first polls, as the waiters
// of a `Mutex` are. A key costs one allocation when the first request for the
// key is made. Waiting allocates nothing.
//
// The map must outlive its futures and guards.
template <class K>
class MutexMap {
 public:
  class Guard;
  class LockFuture;

  MutexMap() = default;
  MutexMap(const MutexMap&) = delete;
  MutexMap& operator=(const MutexMap&) = delete;
  ~MutexMap() { ABSL_ASSERT(size() == 0); }

  // Returns a future of a `Guard` that waits until it has the lock of `key`. If
  // waiting is necessary, the future enters the queue at its first poll.
  // Destroying the future gives up its place; if its turn had already come, the
  // turn passes to the next waiter.
  LockFuture Lock(K key) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return LockFuture(Use(*this, std::move(key)));
  }

  // Like `Lock()`, but blocks the calling thread. For threads outside any
  // runtime. Panics inside a task, as `BlockOn()` does.
  Guard BlockingLock(K key) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return internal::BlockOnFor("MutexMap::BlockingLock", "co_await Lock()",
                                Lock(std::move(key)));
  }

  // Returns a guard if the lock of `key` is free and has no waiters. Otherwise
  // returns `std::nullopt`.
  std::optional<Guard> TryLock(K key) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    Use use(*this, std::move(key));
    size_t free = 1;
    if (!use.core().TryAcquire(1, free)) return std::nullopt;
    return Guard(std::move(use));
  }

  // Returns the number of keys that are locked, waited for, or about to be
  // waited for by a future that was not polled yet.
  size_t size() const ABSL_LOCKS_EXCLUDED(mu_) {
    const ThreadMutexLock lock(&mu_);
    return entries_.size();
  }

 private:
  struct Entry {
    internal::SemaphoreCore core{1};
    size_t users = 0;  // under the map's mutex
  };
  // The addresses of nodes are stable.
  using Entries = absl::node_hash_map<K, Entry>;

  // A use of a key, which keeps the key in the map. A moved-from object uses no
  // key.
  class Use {
   public:
    Use() = default;
    Use(MutexMap& map, K&& key) : map_(&map) {
      const ThreadMutexLock lock(&map.mu_);
      node_ = &*map.entries_.try_emplace(std::move(key)).first;
      ++node_->second.users;
    }
    Use(Use&& other) noexcept
        : map_(other.map_), node_(std::exchange(other.node_, nullptr)) {}
    Use& operator=(Use&& other) noexcept {
      std::swap(map_, other.map_);
      std::swap(node_, other.node_);
      return *this;
    }
    ~Use() {
      if (node_ != nullptr) map_->Leave(*node_);
    }

    explicit operator bool() const { return node_ != nullptr; }
    const K& key() const { return node_->first; }
    internal::SemaphoreCore& core() const { return node_->second.core; }

   private:
    MutexMap* map_ = nullptr;
    typename Entries::value_type* node_ = nullptr;
  };

  void Leave(typename Entries::value_type& node) ABSL_LOCKS_EXCLUDED(mu_) {
    typename Entries::node_type removed;  // destroyed without the mutex
    const ThreadMutexLock lock(&mu_);
    if (--node.second.users > 0) return;
    removed = entries_.extract(entries_.find(node.first));
  }

  mutable ThreadMutex mu_;
  Entries entries_ ABSL_GUARDED_BY(mu_);
};

// MutexMap::Guard
//
// Holds the lock of a key, and unlocks the key when destroyed. Move-only; a
// moved-from guard may only be destroyed or assigned to. A guard may be passed
// to another thread.
template <class K>
class [[nodiscard]] MutexMap<K>::Guard {
 public:
  Guard(Guard&& other) noexcept = default;
  Guard& operator=(Guard&& other) noexcept {
    // The replaced key is unlocked now, not when `other` is destroyed.
    Guard replaced(std::move(other));
    std::swap(use_, replaced.use_);
    return *this;
  }
  ~Guard() {
    // The use ends after this, so the key still exists for the next waiter.
    if (use_) use_.core().Release(1, /*free=*/0);
  }

  // Returns the locked key.
  const K& key() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    ABSL_ASSERT(use_);
    return use_.key();
  }

 private:
  friend class MutexMap;

  explicit Guard(Use use) : use_(std::move(use)) {}

  Use use_;
};

// MutexMap::LockFuture
//
// See `Lock()`. Can be moved only before the first poll.
template <class K>
class [[nodiscard]] MutexMap<K>::LockFuture {
 public:
  // Moves the use last: if the other move panics, `other` still has its use.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  LockFuture(LockFuture&& other) : acquire_(std::move(other.acquire_)) {
    use_ = std::move(other.use_);
  }
  LockFuture& operator=(LockFuture&&) = delete;

  PollResult<Guard> Poll(Context& cx) {
    size_t free = 1;
    if (acquire_.Poll(cx, "MutexMap::Lock", free).IsPending()) return kPending;
    return Guard(std::move(use_));
  }

  void Trace(AwaitTrace& trace) const {
    acquire_.Trace(trace, internal::TypeName<LockFuture>());
  }

 private:
  friend class MutexMap;

  explicit LockFuture(Use use)
      : use_(std::move(use)), acquire_(use_.core(), 1) {}

  Use use_;  // destroyed after `acquire_`
  internal::PendingAcquire acquire_;
};

}  // namespace rouse

#endif  // ROUSE_SYNC_KEYED_MUTEX_MAP_H_

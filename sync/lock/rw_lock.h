// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: rw_lock.h
// -----------------------------------------------------------------------------
//
// `RwLock<T>` protects a `T` that either many tasks read at once or one task
// writes:
//
//   rouse::RwLock<Routes> routes;
//
//   rouse::Co<Target> Find(std::string_view path) {
//     auto guard = co_await routes.Read();
//     co_return guard->Match(path);
//   }
//   rouse::Co<> Add(Route route) {
//     auto guard = co_await routes.Write();
//     guard->Insert(std::move(route));
//   }
//
// # Fairness
//
// Waiters are served in the order of their first polls. Writers do not starve,
// and readers behind a waiting writer wait for the writer. Therefore do not
// wait for a second read lock while holding a first: if a writer begins to wait
// in between, neither wait ever ends. `TryRead()` and `TryWrite()` do not
// overtake waiters.
//
// # From reading to writing
//
// `Downgrade()` converts a write lock into a read lock, and nobody writes in
// between. No waiting operation converts in the other direction, because two
// readers waiting to become the writer would wait for each other.
// `TryUpgrade()` succeeds for the only reader if nobody waits. Otherwise
// release the read lock, take the write lock, and read the value again, which
// may have changed by then.

#ifndef ROUSE_SYNC_LOCK_RW_LOCK_H_
#define ROUSE_SYNC_LOCK_RW_LOCK_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/lock/lock_guard.h"
#include "rouse/sync/lock/pending_lock.h"
#include "rouse/sync/semaphore/core.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

template <class T>
class RwLock;

namespace internal {

// The permits of a lock: a reader holds one permit, a writer all of them.
struct RwLockCore {
  explicit RwLockCore(size_t readers) : permits(readers), max_readers(readers) {
    if (readers > 0) return;
    Panic("RwLock: the limit of readers is 0; choose at least 1");
  }

  bool TryAcquireAll() {
    size_t free = max_readers;
    return permits.TryAcquire(max_readers, free);
  }

  SemaphoreCore permits;
  const size_t max_readers;
};

// The use of the permits by a reader.
struct RwLockReadAccess {
  static SemaphoreCore& Permits(RwLockCore& core) { return core.permits; }
  static size_t Count(const RwLockCore&) { return 1; }
  static size_t GuessFree(const RwLockCore& core) {
    return core.permits.available();
  }
  static void Release(RwLockCore& core) { core.permits.Release(1); }
};

// The use of the permits by a writer.
struct RwLockWriteAccess {
  static SemaphoreCore& Permits(RwLockCore& core) { return core.permits; }
  static size_t Count(const RwLockCore& core) { return core.max_readers; }
  static size_t GuessFree(const RwLockCore& core) { return core.max_readers; }
  static void Release(RwLockCore& core) {
    core.permits.Release(core.max_readers, /*free=*/0);
  }
};

}  // namespace internal

// MaxReaders
//
// Maximum number of concurrent readers, for an `RwLock` with a limit of its
// own. The range is 1 to `Semaphore::kMaxPermits`, which is the limit of an
// `RwLock` without a limit of its own.
struct MaxReaders {
  explicit MaxReaders(size_t n) : count(n) {}
  size_t count;
};

// RwLockReadGuard
//
// Holds a read lock, and points to the protected value or to a part of the
// value. Unlocks when destroyed. Move-only; a moved-from guard may only be
// destroyed or assigned to. A guard may be passed to another thread.
//
// `Core` is the type of the pointer to the lock: see `OwnedRwLockReadGuard`.
template <class T, class Core = internal::RwLockCore*>
class [[nodiscard]] RwLockReadGuard;

// RwLockWriteGuard
//
// Holds the write lock. Otherwise like `RwLockReadGuard`.
template <class T, class Core = internal::RwLockCore*>
class [[nodiscard]] RwLockWriteGuard;

// Read and write guards that keep their lock alive.
template <class T>
using OwnedRwLockReadGuard =
    RwLockReadGuard<T, std::shared_ptr<internal::RwLockCore>>;
template <class T>
using OwnedRwLockWriteGuard =
    RwLockWriteGuard<T, std::shared_ptr<internal::RwLockCore>>;

template <class T, class Core>
class [[nodiscard]] RwLockReadGuard
    : internal::LockGuard<T, internal::RwLockReadAccess, Core> {
  using Base = internal::LockGuard<T, internal::RwLockReadAccess, Core>;

 public:
  const T& operator*() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return this->value();
  }
  const T* operator->() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return &**this; }

  // Converts this guard into a guard of the part to which `part(const T&)`
  // returns a reference. Leaves this guard moved-from; if `part` throws, this
  // guard keeps the lock. The returned guard cannot be upgraded.
  template <class F>
    requires std::is_lvalue_reference_v<std::invoke_result_t<F, const T&>>
  auto Map(F&& part) && {
    using Part =
        const std::remove_reference_t<std::invoke_result_t<F, const T&>>;
    Part& mapped = std::invoke(std::forward<F>(part), **this);
    return RwLockReadGuard<Part, Core>(this->TakeCore(), mapped);
  }

  // Like `Map()`, but `part(const T&)` returns a pointer. If the pointer is not
  // null, returns a guard of the part, and leaves this guard moved-from.
  // Otherwise returns `std::nullopt`, and this guard keeps the lock.
  template <class F>
    requires std::is_pointer_v<std::invoke_result_t<F, const T&>>
  auto TryMap(F&& part) && {
    using Part = const std::remove_pointer_t<std::invoke_result_t<F, const T&>>;
    Part* const mapped = std::invoke(std::forward<F>(part), **this);
    std::optional<RwLockReadGuard<Part, Core>> guard;
    if (mapped != nullptr) {
      guard = RwLockReadGuard<Part, Core>(this->TakeCore(), *mapped);
    }
    return guard;
  }

  // Converts this guard into the write lock, and leaves the guard moved-from,
  // if no other reader exists and nobody waits. Otherwise returns
  // `std::nullopt` and leaves the guard as it is. Never waits.
  std::optional<RwLockWriteGuard<T, Core>> TryUpgrade()
    requires(!std::is_const_v<T>)
  {
    internal::RwLockCore& core = this->core();
    if (!core.permits.TryAcquire(core.max_readers - 1)) return std::nullopt;
    T& value = this->value();
    return RwLockWriteGuard<T, Core>(this->TakeCore(), value);
  }

 private:
  template <class>
  friend class RwLock;
  template <class, class>
  friend class RwLockReadGuard;
  template <class, class>
  friend class RwLockWriteGuard;

  RwLockReadGuard(Core core, T& value) : Base(std::move(core), value) {}
};

template <class T, class Core>
class [[nodiscard]] RwLockWriteGuard
    : internal::LockGuard<T, internal::RwLockWriteAccess, Core> {
  using Base = internal::LockGuard<T, internal::RwLockWriteAccess, Core>;

 public:
  T& operator*() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return this->value(); }
  T* operator->() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return &**this; }

  // Like `RwLockReadGuard::Map()`, but the part can be written.
  template <class F>
    requires std::is_lvalue_reference_v<std::invoke_result_t<F, T&>>
  auto Map(F&& part) && {
    using Part = std::remove_reference_t<std::invoke_result_t<F, T&>>;
    Part& mapped = std::invoke(std::forward<F>(part), **this);
    return RwLockWriteGuard<Part, Core>(this->TakeCore(), mapped);
  }

  // Like `RwLockReadGuard::TryMap()`, but the part can be written.
  template <class F>
    requires std::is_pointer_v<std::invoke_result_t<F, T&>>
  auto TryMap(F&& part) && {
    using Part = std::remove_pointer_t<std::invoke_result_t<F, T&>>;
    Part* const mapped = std::invoke(std::forward<F>(part), **this);
    std::optional<RwLockWriteGuard<Part, Core>> guard;
    if (mapped != nullptr) {
      guard = RwLockWriteGuard<Part, Core>(this->TakeCore(), *mapped);
    }
    return guard;
  }

  // Converts this guard into a read lock. Nobody writes in between; readers
  // next in the queue get their locks at once.
  RwLockReadGuard<T, Core> Downgrade() && {
    internal::RwLockCore& core = this->core();
    T& value = this->value();
    // Created first, because a waker may throw.
    RwLockReadGuard<T, Core> reading(this->TakeCore(), value);
    core.permits.Release(core.max_readers - 1, /*free=*/0);
    return reading;
  }

 private:
  template <class>
  friend class RwLock;
  template <class, class>
  friend class RwLockReadGuard;
  template <class, class>
  friend class RwLockWriteGuard;

  RwLockWriteGuard(Core core, T& value) : Base(std::move(core), value) {}
};

// RwLock
//
// `RwLock` is thread-safe and needs no runtime. While nobody waits, locking and
// unlocking take one atomic operation each. Waiting allocates nothing.
//
// The lock must outlive its guards and futures. A caller that has locked it for
// writing may destroy it afterwards, even if earlier unlocks have not returned
// yet.
//
// The functions come in pairs, for reading and for writing. Destroying a future
// gives up its place in the queue; if its turn had already come, the turn
// passes to the next waiter.
template <class T>
class RwLock {
 public:
  class ReadFuture;
  class WriteFuture;
  class ReadOwnedFuture;
  class WriteOwnedFuture;

  // Creates an unlocked `RwLock` and constructs the value from `args`.
  template <class... Args>
    requires std::is_constructible_v<T, Args...>
  explicit RwLock(Args&&... args)
      : core_(internal::SemaphoreCore::kMaxPermits),
        value_(std::forward<Args>(args)...) {}
  // Creates an unlocked `RwLock` with a limit on concurrent readers, and
  // constructs the value from `args`. Panics if the limit is out of range.
  template <class... Args>
    requires std::is_constructible_v<T, Args...>
  explicit RwLock(MaxReaders max_readers, Args&&... args)
      : core_(max_readers.count), value_(std::forward<Args>(args)...) {}
  RwLock(const RwLock&) = delete;
  RwLock& operator=(const RwLock&) = delete;

  // Returns a future of `RwLockReadGuard<T>` that waits until it has a read
  // lock. If waiting is necessary, the future enters the queue at its first
  // poll.
  ReadFuture Read() ABSL_ATTRIBUTE_LIFETIME_BOUND { return ReadFuture(this); }
  // Returns a future of `RwLockWriteGuard<T>`. Like `Read()`, but waits for the
  // write lock.
  WriteFuture Write() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return WriteFuture(this);
  }

  // Returns a future of `OwnedRwLockReadGuard<T>`. Like `Read()`, but the
  // future and its guard keep the lock alive.
  static ReadOwnedFuture ReadOwned(std::shared_ptr<RwLock> lock) {
    return ReadOwnedFuture(std::move(lock));
  }
  // Returns a future of `OwnedRwLockWriteGuard<T>`. Like `Write()`, but the
  // future and its guard keep the lock alive.
  static WriteOwnedFuture WriteOwned(std::shared_ptr<RwLock> lock) {
    return WriteOwnedFuture(std::move(lock));
  }

  // Like `Read()`, but blocks the calling thread. For threads outside any
  // runtime. Panics inside a task, as `BlockOn()` does.
  RwLockReadGuard<T> BlockingRead() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return rouse::internal::BlockOnFor("RwLock::BlockingRead",
                                       "co_await Read()", Read());
  }
  // Like `Write()`, but blocks the calling thread. For threads outside any
  // runtime. Panics inside a task, as `BlockOn()` does.
  RwLockWriteGuard<T> BlockingWrite() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return rouse::internal::BlockOnFor("RwLock::BlockingWrite",
                                       "co_await Write()", Write());
  }

  // Returns a read lock if one is available now and nobody waits. Otherwise
  // returns `std::nullopt`.
  std::optional<RwLockReadGuard<T>> TryRead() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    if (!core_.permits.TryAcquire(1)) return std::nullopt;
    return Hold<RwLockReadGuard<T>>(this);
  }
  // Returns the write lock if the lock is free now and nobody waits. Otherwise
  // returns `std::nullopt`.
  std::optional<RwLockWriteGuard<T>> TryWrite() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    if (!core_.TryAcquireAll()) return std::nullopt;
    return Hold<RwLockWriteGuard<T>>(this);
  }
  // Like `TryRead()`, but the guard keeps the lock alive.
  static std::optional<OwnedRwLockReadGuard<T>> TryReadOwned(
      std::shared_ptr<RwLock> lock) {
    if (!lock->core_.permits.TryAcquire(1)) return std::nullopt;
    return Hold<OwnedRwLockReadGuard<T>>(std::move(lock));
  }
  // Like `TryWrite()`, but the guard keeps the lock alive.
  static std::optional<OwnedRwLockWriteGuard<T>> TryWriteOwned(
      std::shared_ptr<RwLock> lock) {
    if (!lock->core_.TryAcquireAll()) return std::nullopt;
    return Hold<OwnedRwLockWriteGuard<T>>(std::move(lock));
  }

  // Returns the maximum number of concurrent readers.
  size_t max_readers() const { return core_.max_readers; }

  // Returns the value without locking.
  // REQUIRES: nobody else uses the lock meanwhile.
  T& GetUnlocked() ABSL_ATTRIBUTE_LIFETIME_BOUND { return value_; }
  // Moves the value out without locking.
  // REQUIRES: nobody else uses the lock meanwhile.
  T Take() && { return std::move(value_); }

 private:
  template <class, class>
  friend class internal::PendingLock;

  // Creates the guard of a lock whose permits the caller holds.
  template <class Guard>
  static Guard Hold(RwLock* lock) {
    return Guard(&lock->core_, lock->value_);
  }
  template <class Guard>
  static Guard Hold(std::shared_ptr<RwLock> lock) {
    RwLock& self = *lock;
    return Guard({std::move(lock), &self.core_}, self.value_);
  }

  internal::RwLockCore core_;
  T value_;
};

// RwLock::ReadFuture
//
// See `RwLock::Read()`.
template <class T>
class [[nodiscard]] RwLock<T>::ReadFuture {
 public:
  PollResult<RwLockReadGuard<T>> Poll(Context& cx) {
    return lock_.template Poll<RwLockReadGuard<T>>(cx, "RwLock::Read");
  }

  void Trace(AwaitTrace& trace) const {
    lock_.Trace(trace, internal::TypeName<ReadFuture>());
  }

 private:
  friend class RwLock;

  explicit ReadFuture(RwLock* lock) : lock_(lock) {}

  internal::PendingLock<internal::RwLockReadAccess, RwLock*> lock_;
};

// RwLock::WriteFuture
//
// See `RwLock::Write()`.
template <class T>
class [[nodiscard]] RwLock<T>::WriteFuture {
 public:
  PollResult<RwLockWriteGuard<T>> Poll(Context& cx) {
    return lock_.template Poll<RwLockWriteGuard<T>>(cx, "RwLock::Write");
  }

  void Trace(AwaitTrace& trace) const {
    lock_.Trace(trace, internal::TypeName<WriteFuture>());
  }

 private:
  friend class RwLock;

  explicit WriteFuture(RwLock* lock) : lock_(lock) {}

  internal::PendingLock<internal::RwLockWriteAccess, RwLock*> lock_;
};

// RwLock::ReadOwnedFuture
//
// See `RwLock::ReadOwned()`.
template <class T>
class [[nodiscard]] RwLock<T>::ReadOwnedFuture {
 public:
  PollResult<OwnedRwLockReadGuard<T>> Poll(Context& cx) {
    return lock_.template Poll<OwnedRwLockReadGuard<T>>(cx,
                                                        "RwLock::ReadOwned");
  }

  void Trace(AwaitTrace& trace) const {
    lock_.Trace(trace, internal::TypeName<ReadOwnedFuture>());
  }

 private:
  friend class RwLock;

  explicit ReadOwnedFuture(std::shared_ptr<RwLock> lock)
      : lock_(std::move(lock)) {}

  internal::PendingLock<internal::RwLockReadAccess, std::shared_ptr<RwLock>>
      lock_;
};

// RwLock::WriteOwnedFuture
//
// See `RwLock::WriteOwned()`.
template <class T>
class [[nodiscard]] RwLock<T>::WriteOwnedFuture {
 public:
  PollResult<OwnedRwLockWriteGuard<T>> Poll(Context& cx) {
    return lock_.template Poll<OwnedRwLockWriteGuard<T>>(cx,
                                                         "RwLock::WriteOwned");
  }

  void Trace(AwaitTrace& trace) const {
    lock_.Trace(trace, internal::TypeName<WriteOwnedFuture>());
  }

 private:
  friend class RwLock;

  explicit WriteOwnedFuture(std::shared_ptr<RwLock> lock)
      : lock_(std::move(lock)) {}

  internal::PendingLock<internal::RwLockWriteAccess, std::shared_ptr<RwLock>>
      lock_;
};

}  // namespace rouse

#endif  // ROUSE_SYNC_LOCK_RW_LOCK_H_

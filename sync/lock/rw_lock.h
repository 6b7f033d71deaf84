// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: rw_lock.h
// -----------------------------------------------------------------------------
//
// `RwLock<T>` keeps a `T` that many tasks read at once, or one writes:
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
// Who is polled first is served first: writers do not starve, and readers that
// come after a writer that waits wait for it. So do not wait for a second read
// lock with one in hand: if a writer waits in between, neither ever ends.
// `TryRead()` and `TryWrite()` overtake nobody.
//
// # From reading to writing
//
// A write lock can be made a read lock, and nobody writes in between:
// `Downgrade()`. The other way there is none that waits, since two readers who
// both wait to become the writer wait for each other. `TryUpgrade()` succeeds
// for one who reads alone. Else let go, take the write lock, and look again at
// what you had read: it may be another by then.

#ifndef ROUSE_SYNC_LOCK_RW_LOCK_H_
#define ROUSE_SYNC_LOCK_RW_LOCK_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/macros.h"
#include "absl/base/optimization.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/semaphore/core.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

template <class T>
class RwLock;

namespace internal {

// A reader has one permit, a writer all.
struct RwLockCore {
  explicit RwLockCore(size_t readers) : permits(readers), max_readers(readers) {
    if (readers > 0) return;
    Panic("RwLock: no readers; let there be at least one");
  }

  bool TryAcquireAll() {
    size_t free = max_readers;
    return permits.TryAcquire(max_readers, free);
  }

  SemaphoreCore permits;
  const size_t max_readers;
};

}  // namespace internal

// MaxReaders
//
// How many may read at once, for an `RwLock` with a limit of its own: from 1 to
// `Semaphore::kMaxPermits`, which is what the others have.
struct MaxReaders {
  explicit MaxReaders(size_t n) : count(n) {}
  size_t count;
};

// RwLockReadGuard
//
// One of the read locks, and a pointer to what it is for, or to a part of that.
// Unlocks when it is destroyed. Move-only; a moved-from one may only be
// destroyed or assigned to. It may be given to another thread.
//
// `Core` is how the lock is reached: see `OwnedRwLockReadGuard`.
template <class T, class Core = internal::RwLockCore*>
class [[nodiscard]] RwLockReadGuard;

// RwLockWriteGuard
//
// The write lock. Otherwise as `RwLockReadGuard`.
template <class T, class Core = internal::RwLockCore*>
class [[nodiscard]] RwLockWriteGuard;

// Guards that keep their lock alive.
template <class T>
using OwnedRwLockReadGuard =
    RwLockReadGuard<T, std::shared_ptr<internal::RwLockCore>>;
template <class T>
using OwnedRwLockWriteGuard =
    RwLockWriteGuard<T, std::shared_ptr<internal::RwLockCore>>;

template <class T, class Core>
class [[nodiscard]] RwLockReadGuard {
 public:
  RwLockReadGuard(RwLockReadGuard&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)), value_(other.value_) {}
  RwLockReadGuard& operator=(RwLockReadGuard&& other) noexcept {
    // What was here is unlocked now, not when `other` is destroyed.
    RwLockReadGuard replaced(std::move(other));
    std::swap(core_, replaced.core_);
    std::swap(value_, replaced.value_);
    return *this;
  }
  ~RwLockReadGuard() {
    if (core_ != nullptr) core_->permits.Release(1);
  }

  const T& operator*() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    ABSL_ASSERT(core_ != nullptr);
    return *value_;
  }
  const T* operator->() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return &**this; }

  // The same lock as a guard of the part that `part(const T&)` returns a
  // reference to. This one is then moved from; if `part` throws it keeps the
  // lock. The guard that it gives cannot be upgraded.
  template <class F>
    requires std::is_lvalue_reference_v<std::invoke_result_t<F, const T&>>
  auto Map(F&& part) && {
    using Part =
        const std::remove_reference_t<std::invoke_result_t<F, const T&>>;
    Part& mapped = std::invoke(std::forward<F>(part), **this);
    return RwLockReadGuard<Part, Core>(std::exchange(core_, nullptr), mapped);
  }

  // The write lock in exchange for this one, which is then moved from, if there
  // is no other reader and nobody waits. If not, this one stays as it is. Never
  // waits.
  std::optional<RwLockWriteGuard<T, Core>> TryUpgrade()
    requires(!std::is_const_v<T>)
  {
    ABSL_ASSERT(core_ != nullptr);
    if (!core_->permits.TryAcquire(core_->max_readers - 1)) return std::nullopt;
    return RwLockWriteGuard<T, Core>(std::exchange(core_, nullptr), *value_);
  }

 private:
  template <class>
  friend class RwLock;
  template <class, class>
  friend class RwLockReadGuard;
  template <class, class>
  friend class RwLockWriteGuard;

  RwLockReadGuard(Core core, T& value)
      : core_(std::move(core)), value_(std::addressof(value)) {}

  Core core_;  // null: moved from
  T* value_;
};

template <class T, class Core>
class [[nodiscard]] RwLockWriteGuard {
 public:
  RwLockWriteGuard(RwLockWriteGuard&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)), value_(other.value_) {}
  RwLockWriteGuard& operator=(RwLockWriteGuard&& other) noexcept {
    // What was here is unlocked now, not when `other` is destroyed.
    RwLockWriteGuard replaced(std::move(other));
    std::swap(core_, replaced.core_);
    std::swap(value_, replaced.value_);
    return *this;
  }
  ~RwLockWriteGuard() {
    if (core_ != nullptr)
      core_->permits.Release(core_->max_readers, /*free=*/0);
  }

  T& operator*() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    ABSL_ASSERT(core_ != nullptr);
    return *value_;
  }
  T* operator->() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return &**this; }

  // As `RwLockReadGuard::Map()`, for a part that is written.
  template <class F>
    requires std::is_lvalue_reference_v<std::invoke_result_t<F, T&>>
  auto Map(F&& part) && {
    using Part = std::remove_reference_t<std::invoke_result_t<F, T&>>;
    Part& mapped = std::invoke(std::forward<F>(part), **this);
    return RwLockWriteGuard<Part, Core>(std::exchange(core_, nullptr), mapped);
  }

  // A read lock in exchange for this one. Nobody writes in between; readers
  // that are next in the queue come in at once.
  RwLockReadGuard<T, Core> Downgrade() && {
    ABSL_ASSERT(core_ != nullptr);
    // First, since a waker may throw.
    RwLockReadGuard<T, Core> reading(std::exchange(core_, nullptr), *value_);
    reading.core_->permits.Release(reading.core_->max_readers - 1, /*free=*/0);
    return reading;
  }

 private:
  template <class>
  friend class RwLock;
  template <class, class>
  friend class RwLockReadGuard;
  template <class, class>
  friend class RwLockWriteGuard;

  RwLockWriteGuard(Core core, T& value)
      : core_(std::move(core)), value_(std::addressof(value)) {}

  Core core_;  // null: moved from
  T* value_;
};

// RwLock
//
// Thread-safe; needs no runtime. While nobody waits, to lock and to unlock are
// one atomic operation each. Waiting allocates nothing. Outlives its guards and
// futures; who has locked it for writing may destroy it afterwards, though
// unlocks before that have not returned.
//
// The functions come in pairs. Destroying a future loses its place in the
// queue; if it was its turn, it is the next one's.
template <class T>
class RwLock {
 public:
  class ReadFuture;
  class WriteFuture;
  class ReadOwnedFuture;
  class WriteOwnedFuture;

  // Unlocked, with a `T` made of `args`.
  template <class... Args>
    requires std::is_constructible_v<T, Args...>
  explicit RwLock(Args&&... args)
      : core_(internal::SemaphoreCore::kMaxPermits),
        value_(std::forward<Args>(args)...) {}
  // The same with a limit. Panics if it is out of range.
  template <class... Args>
    requires std::is_constructible_v<T, Args...>
  explicit RwLock(MaxReaders max_readers, Args&&... args)
      : core_(max_readers.count), value_(std::forward<Args>(args)...) {}
  RwLock(const RwLock&) = delete;
  RwLock& operator=(const RwLock&) = delete;

  // Futures of `RwLockReadGuard<T>` and `RwLockWriteGuard<T>`: wait until they
  // have the lock. One that has to wait has its place in the queue from its
  // first poll on.
  ReadFuture Read() ABSL_ATTRIBUTE_LIFETIME_BOUND { return ReadFuture(this); }
  WriteFuture Write() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return WriteFuture(this);
  }

  // Futures of `OwnedRwLockReadGuard<T>` and `OwnedRwLockWriteGuard<T>`: the
  // same, and keep the lock alive.
  static ReadOwnedFuture ReadOwned(std::shared_ptr<RwLock> lock) {
    return ReadOwnedFuture(std::move(lock));
  }
  static WriteOwnedFuture WriteOwned(std::shared_ptr<RwLock> lock) {
    return WriteOwnedFuture(std::move(lock));
  }

  // The same for a thread that is none of a runtime's: wait in this call. As
  // `BlockOn()`, a `Panic()` inside a task.
  RwLockReadGuard<T> BlockingRead() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return rouse::internal::BlockOnFor("RwLock::BlockingRead",
                                       "co_await Read()", Read());
  }
  RwLockWriteGuard<T> BlockingWrite() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return rouse::internal::BlockOnFor("RwLock::BlockingWrite",
                                       "co_await Write()", Write());
  }

  // The lock if it is to be had now, and nobody waits.
  std::optional<RwLockReadGuard<T>> TryRead() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    if (!core_.permits.TryAcquire(1)) return std::nullopt;
    return RwLockReadGuard<T>(&core_, value_);
  }
  std::optional<RwLockWriteGuard<T>> TryWrite() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    if (!core_.TryAcquireAll()) return std::nullopt;
    return RwLockWriteGuard<T>(&core_, value_);
  }
  static std::optional<OwnedRwLockReadGuard<T>> TryReadOwned(
      std::shared_ptr<RwLock> lock) {
    if (!lock->core_.permits.TryAcquire(1)) return std::nullopt;
    return Own<OwnedRwLockReadGuard<T>>(std::move(lock));
  }
  static std::optional<OwnedRwLockWriteGuard<T>> TryWriteOwned(
      std::shared_ptr<RwLock> lock) {
    if (!lock->core_.TryAcquireAll()) return std::nullopt;
    return Own<OwnedRwLockWriteGuard<T>>(std::move(lock));
  }

  // How many may read at once.
  size_t max_readers() const { return core_.max_readers; }

  // Without locking.
  // REQUIRES: nobody else uses the lock meanwhile.
  T& GetUnlocked() ABSL_ATTRIBUTE_LIFETIME_BOUND { return value_; }
  T Take() && { return std::move(value_); }

 private:
  // Of one whose permits the caller has.
  template <class Guard>
  static Guard Own(std::shared_ptr<RwLock> lock) {
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
    size_t free = lock_->core_.permits.available();
    if (acquire_.Poll(cx, "RwLock::Read", free).IsPending()) return kPending;
    return RwLockReadGuard<T>(&lock_->core_, lock_->value_);
  }

  void Trace(AwaitTrace& trace) const {
    acquire_.Trace(trace, internal::TypeName<ReadFuture>());
  }

 private:
  friend class RwLock;

  explicit ReadFuture(RwLock* lock)
      : lock_(lock), acquire_(lock->core_.permits, 1) {}

  RwLock* lock_;
  internal::PendingAcquire acquire_;
};

// RwLock::WriteFuture
//
// See `RwLock::Write()`.
template <class T>
class [[nodiscard]] RwLock<T>::WriteFuture {
 public:
  PollResult<RwLockWriteGuard<T>> Poll(Context& cx) {
    size_t free = lock_->core_.max_readers;
    if (acquire_.Poll(cx, "RwLock::Write", free).IsPending()) return kPending;
    return RwLockWriteGuard<T>(&lock_->core_, lock_->value_);
  }

  void Trace(AwaitTrace& trace) const {
    acquire_.Trace(trace, internal::TypeName<WriteFuture>());
  }

 private:
  friend class RwLock;

  explicit WriteFuture(RwLock* lock)
      : lock_(lock), acquire_(lock->core_.permits, lock->core_.max_readers) {}

  RwLock* lock_;
  internal::PendingAcquire acquire_;
};

// RwLock::ReadOwnedFuture
//
// See `RwLock::ReadOwned()`.
template <class T>
class [[nodiscard]] RwLock<T>::ReadOwnedFuture {
 public:
  // The owner comes last: a panic leaves it with the future that needs it.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  ReadOwnedFuture(ReadOwnedFuture&& other)
      : acquire_(std::move(other.acquire_)) {
    lock_ = std::move(other.lock_);
  }
  ReadOwnedFuture& operator=(ReadOwnedFuture&&) = delete;

  PollResult<OwnedRwLockReadGuard<T>> Poll(Context& cx) {
    // One that has finished has no lock; `acquire_` knows.
    size_t free = ABSL_PREDICT_TRUE(lock_ != nullptr)
                      ? lock_->core_.permits.available()
                      : 0;
    if (acquire_.Poll(cx, "RwLock::ReadOwned", free).IsPending())
      return kPending;
    return Own<OwnedRwLockReadGuard<T>>(std::move(lock_));
  }

  void Trace(AwaitTrace& trace) const {
    acquire_.Trace(trace, internal::TypeName<ReadOwnedFuture>());
  }

 private:
  friend class RwLock;

  explicit ReadOwnedFuture(std::shared_ptr<RwLock> lock)
      : lock_(std::move(lock)), acquire_(lock_->core_.permits, 1) {}

  std::shared_ptr<RwLock> lock_;  // goes after the acquire
  internal::PendingAcquire acquire_;
};

// RwLock::WriteOwnedFuture
//
// See `RwLock::WriteOwned()`.
template <class T>
class [[nodiscard]] RwLock<T>::WriteOwnedFuture {
 public:
  // The owner comes last: a panic leaves it with the future that needs it.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  WriteOwnedFuture(WriteOwnedFuture&& other)
      : acquire_(std::move(other.acquire_)) {
    lock_ = std::move(other.lock_);
  }
  WriteOwnedFuture& operator=(WriteOwnedFuture&&) = delete;

  PollResult<OwnedRwLockWriteGuard<T>> Poll(Context& cx) {
    // One that has finished has no lock; `acquire_` knows.
    size_t free =
        ABSL_PREDICT_TRUE(lock_ != nullptr) ? lock_->core_.max_readers : 0;
    if (acquire_.Poll(cx, "RwLock::WriteOwned", free).IsPending())
      return kPending;
    return Own<OwnedRwLockWriteGuard<T>>(std::move(lock_));
  }

  void Trace(AwaitTrace& trace) const {
    acquire_.Trace(trace, internal::TypeName<WriteOwnedFuture>());
  }

 private:
  friend class RwLock;

  explicit WriteOwnedFuture(std::shared_ptr<RwLock> lock)
      : lock_(std::move(lock)),
        acquire_(lock_->core_.permits, lock_->core_.max_readers) {}

  std::shared_ptr<RwLock> lock_;  // goes after the acquire
  internal::PendingAcquire acquire_;
};

}  // namespace rouse

#endif  // ROUSE_SYNC_LOCK_RW_LOCK_H_

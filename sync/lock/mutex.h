// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mutex.h
// -----------------------------------------------------------------------------
//
// `Mutex<T>` protects a `T` for use by one task at a time. A task may hold the
// lock while awaiting something else:
//
//   rouse::Mutex<Connection> connection(Open());
//
//   rouse::Co<Reply> Ask(const Request& request) {
//     rouse::MutexGuard<Connection> guard = co_await connection.Lock();
//     co_await guard->Send(request);
//     co_return co_await guard->Receive();
//   }  // unlocked
//
// If nothing is awaited while the lock is held, use `absl::Mutex`, which does
// not turn the function into a coroutine.
//
// # Fairness
//
// Waiters are served in the order of their first polls; `TryLock()` does not
// overtake waiters. A future that has been polled, and is then kept without
// further polls, therefore blocks the waiters behind the future when its turn
// comes: see semaphore.h.

#ifndef ROUSE_SYNC_LOCK_MUTEX_H_
#define ROUSE_SYNC_LOCK_MUTEX_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/lock/lock_guard.h"
#include "rouse/sync/lock/pending_lock.h"
#include "rouse/sync/semaphore/core.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

template <class T>
class Mutex;

namespace internal {

// The use of a `SemaphoreCore` as the core of a mutex, with a single permit.
struct MutexAccess {
  static SemaphoreCore& Permits(SemaphoreCore& core) { return core; }
  static size_t Count(const SemaphoreCore&) { return 1; }
  static size_t GuessFree(const SemaphoreCore&) { return 1; }
  static void Release(SemaphoreCore& core) { core.Release(1, /*free=*/0); }
};

}  // namespace internal

// MutexGuard
//
// Holds the lock, and points to the protected value or to a part of the value.
// Unlocks the mutex when destroyed. Move-only; a moved-from guard may only be
// destroyed or assigned to. A guard may be passed to another thread.
//
// `Core` is the type of the pointer to the mutex: see `OwnedMutexGuard`.
template <class T, class Core = internal::SemaphoreCore*>
class [[nodiscard]] MutexGuard
    : internal::LockGuard<T, internal::MutexAccess, Core> {
  using Base = internal::LockGuard<T, internal::MutexAccess, Core>;

 public:
  T& operator*() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return this->value(); }
  T* operator->() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return &**this; }

  // Converts this guard into a guard of the part to which `part(T&)` returns a
  // reference. Leaves this guard moved-from; if `part` throws, this guard keeps
  // the lock.
  //
  //   rouse::MutexGuard<Stats> stats =
  //       std::move(guard).Map([](Server& s) -> Stats& { return s.stats; });
  template <class F>
    requires std::is_lvalue_reference_v<std::invoke_result_t<F, T&>>
  auto Map(F&& part) && {
    using Part = std::remove_reference_t<std::invoke_result_t<F, T&>>;
    Part& mapped = std::invoke(std::forward<F>(part), **this);
    return MutexGuard<Part, Core>(this->TakeCore(), mapped);
  }

  // Like `Map()`, but `part(T&)` returns a pointer. If the pointer is not null,
  // returns a guard of the part, and leaves this guard moved-from. Otherwise
  // returns `std::nullopt`, and this guard keeps the lock.
  //
  //   std::optional<rouse::MutexGuard<Session>> session =
  //       std::move(guard).TryMap([&](Server& s) { return s.Find(id); });
  template <class F>
    requires std::is_pointer_v<std::invoke_result_t<F, T&>>
  auto TryMap(F&& part) && {
    using Part = std::remove_pointer_t<std::invoke_result_t<F, T&>>;
    Part* const mapped = std::invoke(std::forward<F>(part), **this);
    std::optional<MutexGuard<Part, Core>> guard;
    if (mapped != nullptr) {
      guard = MutexGuard<Part, Core>(this->TakeCore(), *mapped);
    }
    return guard;
  }

 private:
  template <class>
  friend class Mutex;
  template <class, class>
  friend class MutexGuard;

  MutexGuard(Core core, T& value) : Base(std::move(core), value) {}
};

// OwnedMutexGuard
//
// Holds the lock and keeps the mutex alive. Otherwise like `MutexGuard`.
template <class T>
using OwnedMutexGuard = MutexGuard<T, std::shared_ptr<internal::SemaphoreCore>>;

// Mutex
//
// `Mutex` is thread-safe and needs no runtime. While nobody waits, locking and
// unlocking take one atomic operation each. Waiting allocates nothing.
//
// The mutex must outlive its guards and futures. The last caller to lock the
// mutex may destroy it even if the preceding unlock has not returned yet.
//
// The fate of a task that holds the lock does not affect other tasks. A task
// that ends by an exception unlocks the mutex like any other task, and the
// task's own destructors must fix any unfinished change to the value.
template <class T>
class Mutex {
 public:
  class LockFuture;
  class LockOwnedFuture;

  // Creates an unlocked mutex and constructs the value from `args`.
  template <class... Args>
    requires std::is_constructible_v<T, Args...>
  explicit Mutex(Args&&... args) : value_(std::forward<Args>(args)...) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  // Returns a future of `MutexGuard<T>` that waits until it has the lock. If
  // waiting is necessary, the future enters the queue at its first poll.
  // Destroying the future gives up its place; if its turn had already come, the
  // turn passes to the next waiter.
  LockFuture Lock() ABSL_ATTRIBUTE_LIFETIME_BOUND { return LockFuture(this); }

  // Returns a future of `OwnedMutexGuard<T>`. Like `Lock()`, but the future and
  // its guard keep the mutex alive.
  static LockOwnedFuture LockOwned(std::shared_ptr<Mutex> mutex) {
    return LockOwnedFuture(std::move(mutex));
  }

  // Like `Lock()`, but blocks the calling thread. For threads outside any
  // runtime. Panics inside a task, as `BlockOn()` does.
  MutexGuard<T> BlockingLock() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return rouse::internal::BlockOnFor("Mutex::BlockingLock", "co_await Lock()",
                                       Lock());
  }

  // Like `BlockingLock()`, but the guard keeps the mutex alive.
  static OwnedMutexGuard<T> BlockingLockOwned(std::shared_ptr<Mutex> mutex) {
    return rouse::internal::BlockOnFor("Mutex::BlockingLockOwned",
                                       "co_await LockOwned()",
                                       LockOwned(std::move(mutex)));
  }

  // Returns a guard if the lock is free and has no waiters. Otherwise returns
  // `std::nullopt`.
  std::optional<MutexGuard<T>> TryLock() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    if (!TryAcquire()) return std::nullopt;
    return Hold<MutexGuard<T>>(this);
  }
  // Like `TryLock()`, but the guard keeps the mutex alive.
  static std::optional<OwnedMutexGuard<T>> TryLockOwned(
      std::shared_ptr<Mutex> mutex) {
    if (!mutex->TryAcquire()) return std::nullopt;
    return Hold<OwnedMutexGuard<T>>(std::move(mutex));
  }

  // Returns the value without locking.
  // REQUIRES: nobody else uses the mutex meanwhile.
  T& GetUnlocked() ABSL_ATTRIBUTE_LIFETIME_BOUND { return value_; }
  // Moves the value out without locking.
  // REQUIRES: nobody else uses the mutex meanwhile.
  T Take() && { return std::move(value_); }

 private:
  template <class, class>
  friend class internal::PendingLock;

  bool TryAcquire() {
    size_t free = 1;
    return core_.TryAcquire(1, free);
  }
  // Creates the guard of a mutex whose permit the caller holds.
  template <class Guard>
  static Guard Hold(Mutex* mutex) {
    return Guard(&mutex->core_, mutex->value_);
  }
  template <class Guard>
  static Guard Hold(std::shared_ptr<Mutex> mutex) {
    Mutex& self = *mutex;
    return Guard({std::move(mutex), &self.core_}, self.value_);
  }

  internal::SemaphoreCore core_{1};
  T value_;
};

// Mutex::LockFuture
//
// See `Mutex::Lock()`.
template <class T>
class [[nodiscard]] Mutex<T>::LockFuture {
 public:
  PollResult<MutexGuard<T>> Poll(Context& cx) {
    return lock_.template Poll<MutexGuard<T>>(cx, "Mutex::Lock");
  }

  void Trace(AwaitTrace& trace) const {
    lock_.Trace(trace, internal::TypeName<LockFuture>());
  }

 private:
  friend class Mutex;

  explicit LockFuture(Mutex* mutex) : lock_(mutex) {}

  internal::PendingLock<internal::MutexAccess, Mutex*> lock_;
};

// Mutex::LockOwnedFuture
//
// See `Mutex::LockOwned()`.
template <class T>
class [[nodiscard]] Mutex<T>::LockOwnedFuture {
 public:
  PollResult<OwnedMutexGuard<T>> Poll(Context& cx) {
    return lock_.template Poll<OwnedMutexGuard<T>>(cx, "Mutex::LockOwned");
  }

  void Trace(AwaitTrace& trace) const {
    lock_.Trace(trace, internal::TypeName<LockOwnedFuture>());
  }

 private:
  friend class Mutex;

  explicit LockOwnedFuture(std::shared_ptr<Mutex> mutex)
      : lock_(std::move(mutex)) {}

  internal::PendingLock<internal::MutexAccess, std::shared_ptr<Mutex>> lock_;
};

}  // namespace rouse

#endif  // ROUSE_SYNC_LOCK_MUTEX_H_

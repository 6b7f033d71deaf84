// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mutex.h
// -----------------------------------------------------------------------------
//
// `Mutex<T>` keeps a `T` that one task uses at a time, and that may be held
// while it waits for something else:
//
//   rouse::Mutex<Connection> connection(Open());
//
//   rouse::Co<Reply> Ask(const Request& request) {
//     rouse::MutexGuard<Connection> guard = co_await connection.Lock();
//     co_await guard->Send(request);
//     co_return co_await guard->Receive();
//   }  // unlocked
//
// Where nothing is awaited with the lock held take `absl::Mutex`: it does not
// make a function a coroutine.
//
// # Fairness
//
// Who is polled first is served first; `TryLock()` overtakes nobody. So a
// future that has been polled, and is then kept without being polled, keeps
// those behind it waiting when its turn comes: see semaphore.h.

#ifndef ROUSE_SYNC_LOCK_MUTEX_H_
#define ROUSE_SYNC_LOCK_MUTEX_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/macros.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/semaphore/core.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

template <class T>
class Mutex;

// MutexGuard
//
// The lock, and a pointer to what it is for, or to a part of that. Unlocks when
// it is destroyed. Move-only; a moved-from one may only be destroyed or
// assigned to. It may be given to another thread.
//
// `Core` is how the mutex is reached: see `OwnedMutexGuard`.
template <class T, class Core = internal::SemaphoreCore*>
class [[nodiscard]] MutexGuard {
 public:
  MutexGuard(MutexGuard&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)), value_(other.value_) {}
  MutexGuard& operator=(MutexGuard&& other) noexcept {
    // What was here is unlocked now, not when `other` is destroyed.
    MutexGuard replaced(std::move(other));
    std::swap(core_, replaced.core_);
    std::swap(value_, replaced.value_);
    return *this;
  }
  ~MutexGuard() {
    if (core_ != nullptr) core_->Release(1, /*free=*/0);
  }

  T& operator*() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    ABSL_ASSERT(core_ != nullptr);
    return *value_;
  }
  T* operator->() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return &**this; }

  // The same lock as a guard of the part that `part(T&)` returns a reference
  // to. This one is then moved from; if `part` throws it keeps the lock.
  //
  //   rouse::MutexGuard<Stats> stats =
  //       std::move(guard).Map([](Server& s) -> Stats& { return s.stats; });
  template <class F>
    requires std::is_lvalue_reference_v<std::invoke_result_t<F, T&>>
  auto Map(F&& part) && {
    using Part = std::remove_reference_t<std::invoke_result_t<F, T&>>;
    Part& mapped = std::invoke(std::forward<F>(part), **this);
    return MutexGuard<Part, Core>(std::exchange(core_, nullptr), mapped);
  }

 private:
  template <class>
  friend class Mutex;
  template <class, class>
  friend class MutexGuard;

  MutexGuard(Core core, T& value)
      : core_(std::move(core)), value_(std::addressof(value)) {}

  Core core_;  // null: moved from
  T* value_;
};

// OwnedMutexGuard
//
// A guard that keeps its mutex alive. Otherwise as `MutexGuard`.
template <class T>
using OwnedMutexGuard = MutexGuard<T, std::shared_ptr<internal::SemaphoreCore>>;

// Mutex
//
// Thread-safe; needs no runtime. While nobody waits, to lock and to unlock are
// one atomic operation each. Waiting allocates nothing. Outlives its guards and
// futures; who has locked it last may destroy it, though the unlock before that
// has not returned.
//
// What happens to a task that holds the lock changes nothing for the others: if
// it ends by an exception it unlocks like any other, and what it left half done
// is for its own destructors to mend.
template <class T>
class Mutex {
 public:
  class LockFuture;
  class LockOwnedFuture;

  // Unlocked, with a `T` made of `args`.
  template <class... Args>
    requires std::is_constructible_v<T, Args...>
  explicit Mutex(Args&&... args) : value_(std::forward<Args>(args)...) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  // A future of `MutexGuard<T>`: waits until it has the lock. If it has to wait
  // it has its place in the queue from its first poll on. Destroying it loses
  // the place; if it was its turn, it is the next one's.
  LockFuture Lock() ABSL_ATTRIBUTE_LIFETIME_BOUND { return LockFuture(this); }

  // A future of `OwnedMutexGuard<T>`: the same, and keeps the mutex alive.
  static LockOwnedFuture LockOwned(std::shared_ptr<Mutex> mutex) {
    return LockOwnedFuture(std::move(mutex));
  }

  // The same for a thread that is none of a runtime's: waits in this call. As
  // `BlockOn()`, a `Panic()` inside a task.
  MutexGuard<T> BlockingLock() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return rouse::internal::BlockOnFor("Mutex::BlockingLock", "co_await Lock()",
                                       Lock());
  }

  // The lock if nobody has it or waits for it.
  std::optional<MutexGuard<T>> TryLock() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    if (!TryAcquire()) return std::nullopt;
    return MutexGuard<T>(&core_, value_);
  }
  static std::optional<OwnedMutexGuard<T>> TryLockOwned(
      std::shared_ptr<Mutex> mutex) {
    if (!mutex->TryAcquire()) return std::nullopt;
    return Own(std::move(mutex));
  }

  // Without locking.
  // REQUIRES: nobody else uses the mutex meanwhile.
  T& GetUnlocked() ABSL_ATTRIBUTE_LIFETIME_BOUND { return value_; }
  T Take() && { return std::move(value_); }

 private:
  bool TryAcquire() {
    size_t free = 1;
    return core_.TryAcquire(1, free);
  }
  // Of one whose permit the caller has.
  static OwnedMutexGuard<T> Own(std::shared_ptr<Mutex> mutex) {
    Mutex& self = *mutex;
    return OwnedMutexGuard<T>({std::move(mutex), &self.core_}, self.value_);
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
    size_t free = 1;
    if (acquire_.Poll(cx, "Mutex::Lock", free).IsPending()) return kPending;
    return MutexGuard<T>(&mutex_->core_, mutex_->value_);
  }

  void Trace(AwaitTrace& trace) const {
    acquire_.Trace(trace, internal::TypeName<LockFuture>());
  }

 private:
  friend class Mutex;

  explicit LockFuture(Mutex* mutex)
      : mutex_(mutex), acquire_(mutex->core_, 1) {}

  Mutex* mutex_;
  internal::PendingAcquire acquire_;
};

// Mutex::LockOwnedFuture
//
// See `Mutex::LockOwned()`.
template <class T>
class [[nodiscard]] Mutex<T>::LockOwnedFuture {
 public:
  // The owner comes last: a panic leaves it with the future that needs it.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  LockOwnedFuture(LockOwnedFuture&& other)
      : acquire_(std::move(other.acquire_)) {
    mutex_ = std::move(other.mutex_);
  }
  LockOwnedFuture& operator=(LockOwnedFuture&&) = delete;

  PollResult<OwnedMutexGuard<T>> Poll(Context& cx) {
    size_t free = 1;
    if (acquire_.Poll(cx, "Mutex::LockOwned", free).IsPending())
      return kPending;
    return Own(std::move(mutex_));
  }

  void Trace(AwaitTrace& trace) const {
    acquire_.Trace(trace, internal::TypeName<LockOwnedFuture>());
  }

 private:
  friend class Mutex;

  explicit LockOwnedFuture(std::shared_ptr<Mutex> mutex)
      : mutex_(std::move(mutex)), acquire_(mutex_->core_, 1) {}

  std::shared_ptr<Mutex> mutex_;  // goes after the acquire
  internal::PendingAcquire acquire_;
};

}  // namespace rouse

#endif  // ROUSE_SYNC_LOCK_MUTEX_H_

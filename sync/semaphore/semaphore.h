// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: semaphore.h
// -----------------------------------------------------------------------------
//
// `Semaphore` limits how many tasks do something at once:
//
//   rouse::Semaphore connections(100);
//
//   rouse::Co<absl::Status> Fetch(const Url& url) {
//     absl::StatusOr<rouse::Semaphore::Permit> permit =
//         co_await connections.Acquire();
//     if (!permit.ok()) co_return permit.status();
//     ...
//   }  // the permit goes back
//
// To limit a number of bytes, let each permit stand for a byte and acquire
// several permits at once:
//
//   auto room = co_await memory.Acquire(request.size());
//
// # Fairness
//
// Waiters are served in the order of their first polls. A waiter for many
// permits is not overtaken by later waiters for few: released permits are
// reserved for the first waiter until it has all of its permits. `TryAcquire()`
// does not overtake waiters either.
//
// # A permit that nobody takes
//
// A permit is assigned to a waiting future. If the task then does not poll the
// future, the waiters behind the future keep waiting. Therefore do not keep a
// polled `AcquireFuture` while you await something else:
//
//   auto acquire = semaphore.Acquire();
//   auto first = co_await Select(acquire, Sleep(kPeriod));
//   co_await UseTheSemaphore();  // waits for ever if `acquire` has the permit
//
// Either poll the future, for example by selecting again, or destroy the
// future, which passes its permits on to the next waiter. A task dump names the
// task that has been assigned permits while another task waits.

#ifndef ROUSE_SYNC_SEMAPHORE_SEMAPHORE_H_
#define ROUSE_SYNC_SEMAPHORE_SEMAPHORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/semaphore/core.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// Semaphore
//
// `Semaphore` is thread-safe and needs no runtime. While nobody waits,
// acquiring and releasing take one atomic operation each. Waiting allocates
// nothing.
//
// The semaphore must outlive its permits and futures. A caller that has
// acquired all permits may destroy the semaphore, even if the calls that
// released the permits have not returned yet.
class Semaphore {
 public:
  class Permit;
  class OwnedPermit;
  class AcquireFuture;
  class AcquireOwnedFuture;

  // Maximum number of free permits: 2^61 - 1.
  static constexpr size_t kMaxPermits = internal::SemaphoreCore::kMaxPermits;

  // Creates a semaphore with `permits` free permits. Panics if `permits` is
  // more than `kMaxPermits`.
  explicit Semaphore(size_t permits) : core_(permits) {}
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  // Returns a future of `absl::StatusOr<Permit>` that waits until it has `n`
  // permits. If waiting is necessary, the future enters the queue at its first
  // poll. If `n` is 0, the future waits for nothing. Panics if `n` is more than
  // `kMaxPermits`.
  //
  // Destroying the future gives up its place in the queue. Permits already
  // assigned to the future are passed on.
  //
  // The result is `FailedPrecondition` if the semaphore is closed, or is closed
  // before the future has all of its permits.
  AcquireFuture Acquire(size_t n = 1) ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns a future of `absl::StatusOr<OwnedPermit>`. Like `Acquire()`, but
  // the future and its permit keep the semaphore alive.
  static AcquireOwnedFuture AcquireOwned(std::shared_ptr<Semaphore> semaphore,
                                         size_t n = 1);

  // Like `Acquire()`, but blocks the calling thread. For threads outside any
  // runtime. Panics inside a task, as `BlockOn()` does.
  absl::StatusOr<Permit> BlockingAcquire(size_t n = 1)
      ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Like `BlockingAcquire()`, but the permit keeps the semaphore alive.
  static absl::StatusOr<OwnedPermit> BlockingAcquireOwned(
      std::shared_ptr<Semaphore> semaphore, size_t n = 1);

  // Returns `n` permits if they are free now. Returns `std::nullopt` if fewer
  // are free, if somebody waits, or if the semaphore is closed, which
  // `IsClosed()` reports.
  std::optional<Permit> TryAcquire(size_t n = 1) ABSL_ATTRIBUTE_LIFETIME_BOUND;
  // Like `TryAcquire()`, but the permit keeps the semaphore alive.
  static std::optional<OwnedPermit> TryAcquireOwned(
      std::shared_ptr<Semaphore> semaphore, size_t n = 1);

  // Adds `n` permits. Panics, and adds no permit, if more than `kMaxPermits`
  // would then be free. (If returning a permit would exceed this limit, the
  // program terminates.)
  void AddPermits(size_t n) { core_.Release(n); }

  // Takes up to `n` free permits out of use. Returns how many were taken. No
  // permit is free while somebody waits.
  size_t ForgetPermits(size_t n) { return core_.Forget(n); }

  // Returns the number of free permits, which may change at any moment.
  size_t available_permits() const { return core_.available(); }

  // Closes the semaphore: all waiters, present and later, get an error. A
  // future to which all of its permits were assigned before the close still
  // gets them. Held permits stay valid and can still be returned. A closed
  // semaphore cannot be opened again. With more than 32 waiters, the semaphore
  // must outlive the call.
  //
  // Everything done before the call is visible to any caller that sees the
  // semaphore closed.
  void Close() { core_.Close(); }
  // Returns whether the semaphore is closed.
  bool IsClosed() const { return core_.IsClosed(); }

 private:
  static absl::Status ClosedError();
  [[noreturn]] static void PanicTooMany(const char* call);
  [[noreturn]] static void PanicMovedFrom();
  static size_t CheckedCount(size_t n, const char* call) {
    if (ABSL_PREDICT_FALSE(n > kMaxPermits)) PanicTooMany(call);
    return n;
  }

  internal::SemaphoreCore core_;
};

// Semaphore::Permit
//
// Holds one or several permits and returns them to the semaphore when
// destroyed. Move-only; a moved-from object holds no permits. An object may be
// passed to another thread, but only one thread may use an object at a time.
class [[nodiscard]] Semaphore::Permit {
 public:
  Permit(Permit&& other) noexcept
      : semaphore_(other.semaphore_),
        left_free_(other.left_free_),
        n_(std::exchange(other.n_, 0)) {}
  Permit& operator=(Permit&& other) noexcept {
    // The replaced permits go back now, not when `other` is destroyed.
    Permit replaced(std::move(other));
    std::swap(semaphore_, replaced.semaphore_);
    std::swap(left_free_, replaced.left_free_);
    std::swap(n_, replaced.n_);
    return *this;
  }
  ~Permit() {
    if (n_ > 0) semaphore_->core_.Release(n_, left_free_);
  }

  size_t num_permits() const { return n_; }

  // Drops the permits without returning them. `AddPermits()` adds new permits.
  void Forget() { n_ = 0; }

  // Takes over the permits of `other`. Panics, and takes nothing, if both
  // objects hold permits but not of the same semaphore.
  void Merge(Permit&& other);

  // Moves `n` permits to a new object and returns the new object. Returns
  // `std::nullopt` if this object holds fewer than `n` permits.
  std::optional<Permit> Split(size_t n) {
    if (n > n_) return std::nullopt;
    n_ -= n;
    return Permit(semaphore_, n, left_free_);
  }

 private:
  friend class Semaphore;

  Permit(Semaphore* semaphore, size_t n, size_t left_free)
      : semaphore_(semaphore),
        left_free_(static_cast<uint32_t>(left_free)),
        n_(n) {}

  Semaphore* semaphore_;
  // Number of permits that were left free: a guess for the release, and a wrong
  // guess if the number was very large. (Two adjacent members of eight bytes
  // would be moved as a single one of sixteen, which is slow right after both
  // were written.)
  uint32_t left_free_;
  size_t n_;
};

// Semaphore::OwnedPermit
//
// Holds permits and keeps their semaphore alive. Otherwise like `Permit`.
class [[nodiscard]] Semaphore::OwnedPermit {
 public:
  OwnedPermit(OwnedPermit&& other) noexcept = default;
  OwnedPermit& operator=(OwnedPermit&& other) noexcept {
    OwnedPermit replaced(std::move(other));
    std::swap(semaphore_, replaced.semaphore_);
    std::swap(permit_, replaced.permit_);
    return *this;
  }
  ~OwnedPermit() = default;

  // Returns the semaphore, or null if this object was moved from.
  const std::shared_ptr<Semaphore>& semaphore() const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return semaphore_;
  }

  size_t num_permits() const { return permit_.num_permits(); }
  void Forget() { permit_.Forget(); }
  void Merge(OwnedPermit&& other) {
    const bool adopts = num_permits() == 0 && other.num_permits() > 0;
    permit_.Merge(std::move(other.permit_));
    if (adopts) semaphore_ = other.semaphore_;
  }
  std::optional<OwnedPermit> Split(size_t n) {
    std::optional<Permit> permit = permit_.Split(n);
    if (!permit.has_value()) return std::nullopt;
    return OwnedPermit(semaphore_, *std::move(permit));
  }

 private:
  friend class Semaphore;

  OwnedPermit(std::shared_ptr<Semaphore> semaphore, Permit permit)
      : semaphore_(std::move(semaphore)), permit_(std::move(permit)) {}

  std::shared_ptr<Semaphore> semaphore_;  // destroyed after the permit
  Permit permit_;
};

// Semaphore::AcquireFuture
//
// See `Semaphore::Acquire()`.
class [[nodiscard]] Semaphore::AcquireFuture {
 public:
  PollResult<absl::StatusOr<Permit>> Poll(Context& cx) {
    size_t free = acquire_.GuessFree();
    const PollResult<bool> acquired =
        acquire_.Poll(cx, "Semaphore::Acquire", free);
    if (acquired.IsPending()) return kPending;
    if (!*acquired) return ClosedError();
    return Permit(semaphore_, n_, free);
  }

  void Trace(AwaitTrace& trace) const {
    acquire_.Trace(trace, internal::TypeName<AcquireFuture>());
  }

 private:
  friend class Semaphore;

  AcquireFuture(Semaphore* semaphore, size_t n)
      : semaphore_(semaphore), n_(n), acquire_(semaphore->core_, n) {}

  Semaphore* semaphore_;
  size_t n_;
  internal::PendingAcquire acquire_;
};

// Semaphore::AcquireOwnedFuture
//
// See `Semaphore::AcquireOwned()`.
class [[nodiscard]] Semaphore::AcquireOwnedFuture {
 public:
  // Moves the owner last: if the other move panics, `other` still has its
  // owner.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  AcquireOwnedFuture(AcquireOwnedFuture&& other)
      : acquire_(std::move(other.acquire_)) {
    semaphore_ = std::move(other.semaphore_);
  }
  AcquireOwnedFuture& operator=(AcquireOwnedFuture&&) = delete;

  PollResult<absl::StatusOr<OwnedPermit>> Poll(Context& cx) {
    if (ABSL_PREDICT_FALSE(semaphore_ == nullptr)) PanicMovedFrom();
    PollResult<absl::StatusOr<Permit>> permit = acquire_.Poll(cx);
    if (permit.IsPending()) return kPending;
    if (!permit->ok()) return std::move(*permit).status();
    return OwnedPermit(semaphore_, **std::move(permit));
  }

  void Trace(AwaitTrace& trace) const { acquire_.Trace(trace); }

 private:
  friend class Semaphore;

  AcquireOwnedFuture(std::shared_ptr<Semaphore> semaphore, size_t n)
      : semaphore_(std::move(semaphore)), acquire_(semaphore_.get(), n) {}

  std::shared_ptr<Semaphore> semaphore_;  // destroyed after the future
  AcquireFuture acquire_;
};

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

inline Semaphore::AcquireFuture Semaphore::Acquire(size_t n) {
  return AcquireFuture(this, CheckedCount(n, "Semaphore::Acquire"));
}

inline Semaphore::AcquireOwnedFuture Semaphore::AcquireOwned(
    std::shared_ptr<Semaphore> semaphore, size_t n) {
  return AcquireOwnedFuture(std::move(semaphore),
                            CheckedCount(n, "Semaphore::AcquireOwned"));
}

inline absl::StatusOr<Semaphore::Permit> Semaphore::BlockingAcquire(size_t n) {
  return internal::BlockOnFor("Semaphore::BlockingAcquire",
                              "co_await Acquire()", Acquire(n));
}

inline absl::StatusOr<Semaphore::OwnedPermit> Semaphore::BlockingAcquireOwned(
    std::shared_ptr<Semaphore> semaphore, size_t n) {
  return internal::BlockOnFor("Semaphore::BlockingAcquireOwned",
                              "co_await AcquireOwned()",
                              AcquireOwned(std::move(semaphore), n));
}

inline std::optional<Semaphore::Permit> Semaphore::TryAcquire(size_t n) {
  size_t free = core_.available();
  if (!core_.TryAcquire(CheckedCount(n, "Semaphore::TryAcquire"), free)) {
    return std::nullopt;
  }
  return Permit(this, n, free);
}

inline std::optional<Semaphore::OwnedPermit> Semaphore::TryAcquireOwned(
    std::shared_ptr<Semaphore> semaphore, size_t n) {
  std::optional<Permit> permit = semaphore->TryAcquire(n);
  if (!permit.has_value()) return std::nullopt;
  return OwnedPermit(std::move(semaphore), *std::move(permit));
}

}  // namespace rouse

#endif  // ROUSE_SYNC_SEMAPHORE_SEMAPHORE_H_

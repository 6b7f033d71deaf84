// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: semaphore.h
// -----------------------------------------------------------------------------
//
// `Semaphore` limits how many do a thing at once:
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
// A limit in bytes is one of many permits, of which each takes several:
//
//   auto room = co_await memory.Acquire(request.size());
//
// # Fairness
//
// Who is polled first is served first. One that wants many permits is not
// overtaken by others that want few: permits that come back are put aside for
// it until it has all. `TryAcquire()` overtakes nobody either.
//
// # A permit that nobody takes
//
// A permit is assigned to the future that waits for it. If its task then does
// not poll that future, those behind it wait. So do not keep an `AcquireFuture`
// that has been polled while you await something else:
//
//   auto acquire = semaphore.Acquire();
//   auto first = co_await Select(acquire, Sleep(kPeriod));
//   co_await UseTheSemaphore();  // waits for ever if `acquire` has the permit
//
// Poll it, as here by selecting again, or destroy it: then its permits go on to
// the next. A task dump says which task it is that has been given what another
// waits for.

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
// Thread-safe; needs no runtime. While nobody waits, to acquire and to release
// are one atomic operation each. Waiting allocates nothing. Outlives its
// permits and futures; who has acquired all there are may destroy it, though
// the calls that gave them back have not returned.
class Semaphore {
 public:
  class Permit;
  class OwnedPermit;
  class AcquireFuture;
  class AcquireOwnedFuture;

  // How many may be free at once: 2^61 - 1.
  static constexpr size_t kMaxPermits = internal::SemaphoreCore::kMaxPermits;

  // Panics if `permits` is more than `kMaxPermits`.
  explicit Semaphore(size_t permits) : core_(permits) {}
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  // A future of `absl::StatusOr<Permit>`: waits until it has `n` permits. If
  // it has to wait it has its place in the queue from its first poll on.
  // `FailedPrecondition` if the semaphore is closed, or gets closed before it
  // has them all. Of `n` = 0 it waits for nothing. Panics if `n` is more than
  // `kMaxPermits`.
  //
  // Destroying it loses the place. What it has been given goes on.
  AcquireFuture Acquire(size_t n = 1) ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // The same, and keeps the semaphore alive.
  static AcquireOwnedFuture AcquireOwned(std::shared_ptr<Semaphore> semaphore,
                                         size_t n = 1);

  // The same for a thread that is none of a runtime's: waits in this call. As
  // `BlockOn()`, a `Panic()` inside a task.
  absl::StatusOr<Permit> BlockingAcquire(size_t n = 1)
      ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // `n` permits if they are free now. Nothing if they are not, somebody waits,
  // or the semaphore is closed, which `IsClosed()` tells.
  std::optional<Permit> TryAcquire(size_t n = 1) ABSL_ATTRIBUTE_LIFETIME_BOUND;
  static std::optional<OwnedPermit> TryAcquireOwned(
      std::shared_ptr<Semaphore> semaphore, size_t n = 1);

  // Makes `n` more. Panics, and adds none, if more than `kMaxPermits` would be
  // free. (A permit that comes back when there are so many ends the program.)
  void AddPermits(size_t n) { core_.Release(n); }

  // Takes up to `n` of those that are free out of use. How many. None are free
  // while somebody waits.
  size_t ForgetPermits(size_t n) { return core_.Forget(n); }

  // How many are free. It may be another number at once.
  size_t available_permits() const { return core_.available(); }

  // Ends waiting: all that wait, or will, get an error. A future that has been
  // given all its permits before still gets them. Permits that are out stay
  // good, and come back. There is no way to open it again. With more than 32
  // waiters the semaphore must outlive the call.
  //
  // What is done before it is visible to who sees that it is closed.
  void Close() { core_.Close(); }
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
// One or several permits, which go back when it is destroyed. Move-only; a
// moved-from one has none. It may be given to another thread; one object is
// used by one thread at a time.
class [[nodiscard]] Semaphore::Permit {
 public:
  Permit(Permit&& other) noexcept
      : semaphore_(other.semaphore_),
        left_free_(other.left_free_),
        n_(std::exchange(other.n_, 0)) {}
  Permit& operator=(Permit&& other) noexcept {
    // What was here goes back now, not when `other` does.
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

  // They never go back. `AddPermits()` makes new ones.
  void Forget() { n_ = 0; }

  // Takes the permits of `other`. Panics, and takes nothing, if they are of
  // another semaphore.
  void Merge(Permit&& other);

  // Gives away `n` of its permits; nothing if it has not so many.
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
  // How many were free when these had been taken: a guess for the release, and
  // a wrong one if they were very many. (Two of eight bytes side by side would
  // be moved as one of sixteen, which is slow right after they were written.)
  uint32_t left_free_;
  size_t n_;
};

// Semaphore::OwnedPermit
//
// A permit that keeps its semaphore alive. Otherwise as `Permit`.
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

  // Null if it was moved from.
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

  std::shared_ptr<Semaphore> semaphore_;  // goes after the permit
  Permit permit_;
};

// Semaphore::AcquireFuture
//
// See `Semaphore::Acquire()`.
class [[nodiscard]] Semaphore::AcquireFuture {
 public:
  PollResult<absl::StatusOr<Permit>> Poll(Context& cx) {
    size_t free = semaphore_->available_permits();
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
  // The owner comes last: a panic leaves it with the future that needs it.
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

  std::shared_ptr<Semaphore> semaphore_;  // goes after the future
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

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: sender.h
// -----------------------------------------------------------------------------
//
// The senders of a channel: see mpsc.h.

#ifndef ROUSE_SYNC_MPSC_SENDER_H_
#define ROUSE_SYNC_MPSC_SENDER_H_

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/macros.h"
#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/future/block_on.h"
#include "rouse/future/future.h"
#include "rouse/sync/internal/handle_ptr.h"
#include "rouse/sync/mpsc/core.h"
#include "rouse/sync/mpsc/permit.h"
#include "rouse/sync/mpsc/send.h"
#include "rouse/sync/mpsc/shared.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::mpsc {

template <class T, class Core>
class BasicSender;
template <class T, class Core>
class BasicWeakSender;
// Sender, UnboundedSender
//
// See `BasicSender`.
template <class T>
using Sender = BasicSender<T, internal::Bounded>;
template <class T>
using UnboundedSender = BasicSender<T, internal::Unbounded>;

// WeakSender, WeakUnboundedSender
//
// See `BasicWeakSender`.
template <class T>
using WeakSender = BasicWeakSender<T, internal::Bounded>;
template <class T>
using WeakUnboundedSender = BasicWeakSender<T, internal::Unbounded>;

// ClosedFuture
//
// See `Sender::Closed()`.
class [[nodiscard]] ClosedFuture {
 public:
  explicit ClosedFuture(internal::ClosedEvent& event) : wait_(event) {}
  PollResult<void> Poll(Context& cx) { return wait_.Poll(cx); }

 private:
  internal::ClosedWait wait_;
};

// BasicSender
//
// One of the senders of a channel: a copy is one more. Its const members are
// thread-safe. One that was moved from can only be assigned and destroyed;
// anything else is a `Panic()`.
//
// The sender that a call is made on stays until the call returns: it is not the
// value that is sent, nor part of it, nor gone with it when that is received. A
// copy may be.
//
// Its futures refer to the channel: one sender, this or another, must outlive
// each. They may be moved until they are first polled; one that waits panics if
// it is moved, and stays as it was.
template <class T, class Core>
class BasicSender {
 public:
  static constexpr bool kIsBounded = Core::kIsBounded;

  BasicSender(const BasicSender& other) : shared_(other.shared_) {
    if (shared_ != nullptr) shared_->AddSender();
  }
  BasicSender(BasicSender&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)) {}
  BasicSender& operator=(BasicSender other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~BasicSender() {
    if (shared_ != nullptr) shared_->DropSender();
  }

  // ---- Of a bounded channel.

  // A future that waits for room, in the order in which senders came, and sends
  // `value`: an `absl::Status`. Fails with `kCancelled` if the channel is or
  // becomes closed. Then, or instead, the value can be had back:
  //
  //   auto send = tx.Send(std::move(job));
  //   absl::Status status = co_await send;
  //   if (!status.ok()) job = send.TakeValue();
  //
  // Cancelled, it has sent nothing, has lost its place in the queue, and the
  // value goes with it. To wait without a value, see `Reserve()`.
  SendFuture<T> Send(T value) const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires kIsBounded
  {
    return SendFuture<T>(*shared_, std::move(value));
  }

  // Sends `value` if there is room and nobody waits for it. If not, leaves it
  // alone: `kResourceExhausted`, or `kCancelled` if the channel is closed.
  absl::Status TrySend(T&& value) const
    requires kIsBounded
  {
    absl::Status status = shared_->TryAcquire(1, "mpsc::Sender::TrySend");
    if (ABSL_PREDICT_TRUE(status.ok())) shared_->Publish(std::move(value));
    return status;
  }
  // The same with a copy of `value`.
  absl::Status TrySend(const T& value) const
    requires(kIsBounded && std::is_copy_constructible_v<T>)
  {
    return TrySend(T(value));
  }

  // As `Send()`, for as long as `until`, a future of anything, is not ready. If
  // that is first: `kDeadlineExceeded`, nothing was sent, and the value can be
  // had back. If there is room it is not even polled. See also
  // mpsc/send_timeout.h.
  //
  //   auto send = tx.SendUntil(std::move(job), stop.Cancelled());
  //   absl::Status status = co_await send;
  template <Future F>
  SendUntilFuture<T, F> SendUntil(T value,
                                  F&& until) const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires kIsBounded
  {
    return SendUntilFuture<T, F>(Send(std::move(value)),
                                 std::forward<F>(until));
  }

  // For a thread outside of any runtime: blocks until there is room. On failure
  // leaves `value` alone. As `BlockOn()`, a `Panic()` inside a task.
  absl::Status BlockingSend(T&& value) const
    requires kIsBounded
  {
    absl::StatusOr<Permit<T>> permit = rouse::internal::BlockOnFor(
        "mpsc::Sender::BlockingSend", "co_await Send()", Reserve());
    if (!permit.ok()) return permit.status();
    std::move(*permit).Send(std::move(value));
    return absl::OkStatus();
  }
  // The same with a copy of `value`.
  absl::Status BlockingSend(const T& value) const
    requires(kIsBounded && std::is_copy_constructible_v<T>)
  {
    return BlockingSend(T(value));
  }

  // A future that waits for room and keeps it: an `absl::StatusOr<Permit<T>>`.
  // Fails as `Send()` does. Cancelled, it has lost its place in the queue, and
  // nothing else.
  ReserveFuture<T> Reserve() const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires kIsBounded
  {
    return ReserveFuture<T>(*shared_);
  }

  // The same for `n` messages: an `absl::StatusOr<PermitBatch<T>>`. It has its
  // turn when there is room for all; those that came later wait for it.
  // `kInvalidArgument` if `n` is more than `max_capacity()`.
  ReserveManyFuture<T> ReserveMany(size_t n) const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires kIsBounded
  {
    return ReserveManyFuture<T>(*shared_, n);
  }

  // As `Reserve()`, with a copy of this sender in the future and in what it
  // gives: an `absl::StatusOr<OwnedPermit<T>>`.
  ReserveOwnedFuture<T> ReserveOwned() const
    requires kIsBounded
  {
    return ReserveOwnedFuture<T>(*this);
  }

  // The same without waiting. They fail as `TrySend()` does.
  absl::StatusOr<Permit<T>> TryReserve() const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires kIsBounded
  {
    absl::Status status = shared_->TryAcquire(1, "mpsc::Sender::TryReserve");
    if (!status.ok()) return status;
    return Permit<T>(shared_.Get());
  }
  absl::StatusOr<PermitBatch<T>> TryReserveMany(size_t n) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires kIsBounded
  {
    constexpr const char* kCall = "mpsc::Sender::TryReserveMany";
    absl::Status status = shared_->CheckCount(n, kCall);
    if (status.ok()) status = shared_->TryAcquire(n, kCall);
    if (!status.ok()) return status;
    return PermitBatch<T>(shared_.Get(), n);
  }
  absl::StatusOr<OwnedPermit<T>> TryReserveOwned() const
    requires kIsBounded
  {
    // Before there is a place to be lost, if there are too many senders.
    BasicSender sender(*this);
    absl::Status status =
        shared_->TryAcquire(1, "mpsc::Sender::TryReserveOwned");
    if (!status.ok()) return status;
    return OwnedPermit<T>(std::move(sender));
  }

  // How many messages there is room for now, and how many when it is empty.
  size_t capacity() const
    requires kIsBounded
  {
    return shared_->available();
  }
  size_t max_capacity() const
    requires kIsBounded
  {
    return shared_->capacity();
  }

  // ---- Of an unbounded channel.

  // Sends `value`, or leaves it alone if the channel is closed: `kCancelled`.
  // Never waits.
  ABSL_ATTRIBUTE_ALWAYS_INLINE absl::Status Send(T&& value) const
    requires(!kIsBounded)
  {
    if (ABSL_PREDICT_TRUE(shared_->Publish(std::move(value)))) {
      return absl::OkStatus();
    }
    return internal::ClosedError("mpsc::UnboundedSender::Send");
  }
  // The same with a copy of `value`.
  absl::Status Send(const T& value) const
    requires(!kIsBounded && std::is_copy_constructible_v<T>)
  {
    return Send(T(value));
  }

  // ---- Of both.

  // A future of nothing that is ready when the receiver has gone or has closed
  // the channel: nobody wants what a sender might still prepare.
  ClosedFuture Closed() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ClosedFuture(shared_->closed);
  }

  // Whether that is so now.
  bool IsClosed() const { return shared_->closed.IsSet(); }

  // Whether both send to the same channel.
  bool SameChannel(const BasicSender& other) const {
    return shared_ == other.shared_;
  }

  // A sender that does not keep the channel open.
  BasicWeakSender<T, Core> Downgrade() const {
    return BasicWeakSender<T, Core>(*shared_);
  }

  // How many senders and weak senders the channel has.
  size_t strong_count() const { return shared_->senders(); }
  size_t weak_count() const { return shared_->weak_senders(); }

 private:
  friend class BasicWeakSender<T, Core>;
  friend class OwnedPermit<T>;
  friend class ReserveOwnedFuture<T>;
  template <class, class>
  friend class internal::Ends;

  // Adopts a count.
  explicit BasicSender(internal::Shared<T, Core>* shared) : shared_(shared) {}

  rouse::internal::HandlePtr<internal::Shared<T, Core>, internal::kSenderName>
      shared_;
};

// BasicWeakSender
//
// What may become a sender as long as there is one. A copy is one more.
// Thread-safe as `BasicSender` is.
template <class T, class Core>
class BasicWeakSender {
 public:
  BasicWeakSender(const BasicWeakSender& other) : shared_(other.shared_) {
    if (shared_ != nullptr) shared_->AddWeakSender();
  }
  BasicWeakSender(BasicWeakSender&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)) {}
  BasicWeakSender& operator=(BasicWeakSender other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~BasicWeakSender() {
    if (shared_ != nullptr) shared_->Unref(Core::kWeakSender);
  }

  // A sender, or nothing if all have gone. (Not if the receiver has.)
  std::optional<BasicSender<T, Core>> Upgrade() const {
    if (!shared_->TryAddSender()) return std::nullopt;
    return BasicSender<T, Core>(shared_.Get());
  }

  size_t strong_count() const { return shared_->senders(); }
  size_t weak_count() const { return shared_->weak_senders(); }

 private:
  friend class BasicSender<T, Core>;

  explicit BasicWeakSender(internal::Shared<T, Core>& shared)
      : shared_(&shared) {
    shared.AddWeakSender();
  }

  rouse::internal::HandlePtr<internal::Shared<T, Core>,
                             internal::kWeakSenderName>
      shared_;
};

}  // namespace rouse::mpsc

#endif  // ROUSE_SYNC_MPSC_SENDER_H_

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
#include "rouse/sync/internal/closed_event.h"
#include "rouse/sync/internal/handle_ptr.h"
#include "rouse/sync/internal/pending_wait.h"
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

namespace internal {
// The name of the call in panic messages.
inline constexpr char kClosed[] = "mpsc::Sender::Closed";
}  // namespace internal

// ClosedFuture
//
// See `Sender::Closed()`.
class [[nodiscard]] ClosedFuture {
 public:
  explicit ClosedFuture(rouse::internal::ClosedEvent& event) : wait_(&event) {}

  PollResult<void> Poll(Context& cx) {
    return wait_.Poll(cx, &rouse::internal::ClosedEvent::Wait);
  }

 private:
  rouse::internal::PendingWait<rouse::internal::ClosedEvent, internal::kClosed>
      wait_;
};

// BasicSender
//
// One of the senders of a channel. A copy is another sender of the same
// channel. The const members are thread-safe. A sender that was moved from can
// only be assigned and destroyed; any other use is a `Panic()`.
//
// A sender must exist until a call on it returns. Therefore the sender must not
// be the sent value, be part of the sent value, or be destroyed with that value
// when it is received. A copy of the sender may be.
//
// Futures of a sender refer to the channel: at least one sender of the channel
// must outlive each future. A future can be moved until the first poll. Moving
// a waiting future is a panic, and leaves the future unchanged.
template <class T, class Core>
class BasicSender {
 public:
  static constexpr bool kIsBounded = Core::kIsBounded;

  // ---- For bounded channels.

  // Returns a future that waits for room, in the order in which senders
  // arrived, and sends `value`. The result is an `absl::Status`. The future
  // fails with `kCancelled` if the channel is or becomes closed. After a
  // failure, or to stop waiting, the value can be taken back:
  //
  //   auto send = tx.Send(std::move(job));
  //   absl::Status status = co_await send;
  //   if (!status.ok()) job = send.TakeValue();
  //
  // A cancelled future has sent nothing, has lost its place in the queue, and
  // destroys the value. To wait without a value, see `Reserve()`.
  SendFuture<T> Send(T value) const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires kIsBounded
  {
    return SendFuture<T>(*shared_, std::move(value));
  }

  // Sends `value` if there is room and no sender waits for it. Otherwise leaves
  // `value` alone and returns `kResourceExhausted`, or `kCancelled` if the
  // channel is closed.
  absl::Status TrySend(T&& value) const
    requires kIsBounded
  {
    absl::Status status = shared_->TryAcquire(1, "mpsc::Sender::TrySend");
    if (ABSL_PREDICT_TRUE(status.ok())) shared_->Publish(std::move(value));
    return status;
  }
  // Calls `TrySend()` with a copy of `value`.
  absl::Status TrySend(const T& value) const
    requires(kIsBounded && std::is_copy_constructible_v<T>)
  {
    return TrySend(T(value));
  }

  // Returns a future that sends as `Send()` does, for as long as `until`, a
  // future of any result, is not ready. If `until` is ready first, the future
  // fails with `kDeadlineExceeded`: nothing was sent, and the value can be
  // taken back. If there is room `until` is not even polled. See also
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

  // Blocks the calling thread until there is room, and sends `value`. For
  // threads outside of any runtime. Leaves `value` alone on failure. Like
  // `BlockOn()`, this is a `Panic()` inside a task.
  absl::Status BlockingSend(T&& value) const
    requires kIsBounded
  {
    absl::StatusOr<Permit<T>> permit = rouse::internal::BlockOnFor(
        "mpsc::Sender::BlockingSend", "co_await Send()", Reserve());
    if (!permit.ok()) return permit.status();
    std::move(*permit).Send(std::move(value));
    return absl::OkStatus();
  }
  // Calls `BlockingSend()` with a copy of `value`.
  absl::Status BlockingSend(const T& value) const
    requires(kIsBounded && std::is_copy_constructible_v<T>)
  {
    return BlockingSend(T(value));
  }

  // Returns a future that waits for room and reserves one place. The result is
  // an `absl::StatusOr<Permit<T>>`. The future fails as `Send()` does. A
  // cancelled future has lost its place in the queue, and nothing else.
  ReserveFuture<T> Reserve() const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires kIsBounded
  {
    return ReserveFuture<T>(*shared_);
  }

  // Returns a future like `Reserve()` that reserves places for `n` messages.
  // The result is an `absl::StatusOr<PermitBatch<T>>`. The request has its turn
  // when there is room for all `n` messages; later requests wait behind it. The
  // future also fails with `kInvalidArgument` if `n` is more than
  // `max_capacity()`.
  ReserveManyFuture<T> ReserveMany(size_t n) const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires kIsBounded
  {
    return ReserveManyFuture<T>(*shared_, n);
  }

  // Returns a future like `Reserve()`, with a copy of this sender in the future
  // and in the permit. The result is an `absl::StatusOr<OwnedPermit<T>>`.
  ReserveOwnedFuture<T> ReserveOwned() const
    requires kIsBounded
  {
    return ReserveOwnedFuture<T>(*this);
  }

  // Reserves a place without waiting. Fails as `TrySend()` does.
  absl::StatusOr<Permit<T>> TryReserve() const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires kIsBounded
  {
    absl::Status status = shared_->TryAcquire(1, "mpsc::Sender::TryReserve");
    if (!status.ok()) return status;
    return Permit<T>(shared_.Get());
  }
  // Reserves places for `n` messages without waiting. Fails as `TrySend()`
  // does, and with `kInvalidArgument` if `n` is more than `max_capacity()`.
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
  // Reserves a place, together with a copy of this sender, without waiting.
  // Fails as `TrySend()` does.
  absl::StatusOr<OwnedPermit<T>> TryReserveOwned() const
    requires kIsBounded
  {
    // Copied before a place is taken, because the copy panics if there are too
    // many senders, and the place would be lost.
    BasicSender sender(*this);
    absl::Status status =
        shared_->TryAcquire(1, "mpsc::Sender::TryReserveOwned");
    if (!status.ok()) return status;
    return OwnedPermit<T>(std::move(sender));
  }

  // Returns the number of messages for which there is room now.
  size_t capacity() const
    requires kIsBounded
  {
    return shared_->available();
  }
  // Returns the number of messages for which an empty channel has room.
  size_t max_capacity() const
    requires kIsBounded
  {
    return shared_->capacity();
  }

  // ---- For unbounded channels.

  // Sends `value`. If the channel is closed, leaves `value` alone and returns
  // `kCancelled`. Never waits.
  ABSL_ATTRIBUTE_ALWAYS_INLINE absl::Status Send(T&& value) const
    requires(!kIsBounded)
  {
    if (ABSL_PREDICT_TRUE(shared_->Publish(std::move(value)))) {
      return absl::OkStatus();
    }
    return internal::ClosedError("mpsc::UnboundedSender::Send");
  }
  // Calls `Send()` with a copy of `value`.
  absl::Status Send(const T& value) const
    requires(!kIsBounded && std::is_copy_constructible_v<T>)
  {
    return Send(T(value));
  }

  // ---- For both kinds of channel.

  // Returns a future of nothing, which is ready when the receiver is destroyed
  // or has closed the channel. From then on no further message is wanted.
  ClosedFuture Closed() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ClosedFuture(shared_->closed);
  }

  // Returns whether the receiver is destroyed or has closed the channel.
  bool IsClosed() const { return shared_->closed.IsSet(); }

  // Returns whether both senders send to the same channel.
  bool SameChannel(const BasicSender& other) const {
    return shared_ == other.shared_;
  }

  // Returns a sender that does not keep the channel open.
  BasicWeakSender<T, Core> Downgrade() const {
    shared_->AddWeakSender();
    return BasicWeakSender<T, Core>(shared_.Get());
  }

  // Returns the number of senders of the channel.
  size_t strong_count() const { return shared_->senders(); }
  // Returns the number of weak senders of the channel.
  size_t weak_count() const { return shared_->weak_senders(); }

 private:
  friend class BasicWeakSender<T, Core>;
  friend class OwnedPermit<T>;
  friend class ReserveOwnedFuture<T>;
  template <class, class>
  friend class internal::Ends;

  // Adopts a count.
  explicit BasicSender(internal::Shared<T, Core>* shared) : shared_(shared) {}

  using Shared = internal::Shared<T, Core>;

  rouse::internal::CountedHandlePtr<Shared, internal::kSenderName,
                                    rouse::internal::CountSenders>
      shared_;
};

// BasicWeakSender
//
// A handle that can be upgraded to a sender as long as the channel has a
// sender. A copy is another weak sender. Thread-safe as `BasicSender` is.
template <class T, class Core>
class BasicWeakSender {
 public:
  // Returns a sender, or nothing if all senders are destroyed. The receiver's
  // destruction does not matter.
  std::optional<BasicSender<T, Core>> Upgrade() const {
    if (!shared_->TryAddSender()) return std::nullopt;
    return BasicSender<T, Core>(shared_.Get());
  }

  // Returns the number of senders, or of weak senders.
  size_t strong_count() const { return shared_->senders(); }
  size_t weak_count() const { return shared_->weak_senders(); }

 private:
  friend class BasicSender<T, Core>;

  using Shared = internal::Shared<T, Core>;

  // Adopts a count.
  explicit BasicWeakSender(Shared* shared) : shared_(shared) {}

  rouse::internal::CountedHandlePtr<Shared, internal::kWeakSenderName,
                                    rouse::internal::CountWeakSenders>
      shared_;
};

}  // namespace rouse::mpsc

#endif  // ROUSE_SYNC_MPSC_SENDER_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: sender.h
// -----------------------------------------------------------------------------
//
// The senders of a channel, and their futures: see mpmc.h.

#ifndef ROUSE_SYNC_MPMC_SENDER_H_
#define ROUSE_SYNC_MPMC_SENDER_H_

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "rouse/base/panic.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/internal/closed_event.h"
#include "rouse/sync/internal/handle_ptr.h"
#include "rouse/sync/internal/pending_wait.h"
#include "rouse/sync/mpmc/core.h"
#include "rouse/sync/mpmc/positions.h"
#include "rouse/sync/mpmc/shared.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::mpmc {

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
inline constexpr char kClosed[] = "mpmc::Sender::Closed";

// Sends a value that the caller keeps. The value is left alone if the result is
// an error.
template <class T>
class [[nodiscard]] SendFromFuture {
 public:
  SendFromFuture(Shared<T, Bounded>& shared, const char* call, T& value)
      : shared_(&shared),
        call_(call),
        value_(&value),
        turn_(shared, Side::kSenders) {}

  PollResult<absl::Status> Poll(Context& cx) {
    const PollResult<Claim> claim = shared_->PollPush(turn_, cx, call_);
    if (claim.IsPending()) return kPending;
    if (ABSL_PREDICT_FALSE(claim->count == 0)) return ClosedError(call_);
    shared_->Publish(*claim, std::move(*value_));
    return absl::OkStatus();
  }

 private:
  Shared<T, Bounded>* shared_;
  const char* call_;
  T* value_;
  PendingTurn turn_;
};

}  // namespace internal

// SendFuture
//
// See `BasicSender::Send()`.
template <class T>
class [[nodiscard(
    "the message is sent when the future is awaited")]] SendFuture {
 public:
  SendFuture(internal::Shared<T, internal::Bounded>& shared, T&& value)
      : shared_(&shared),
        turn_(std::in_place, shared, internal::Side::kSenders),
        value_(std::move(value)) {}

  PollResult<absl::Status> Poll(Context& cx) {
    if (ABSL_PREDICT_FALSE(!turn_.has_value())) {
      rouse::internal::PanicPolledAfterEnd(kCall);
    }
    const PollResult<internal::Claim> claim =
        shared_->PollPush(*turn_, cx, kCall);
    if (claim.IsPending()) return kPending;
    if (ABSL_PREDICT_FALSE(claim->count == 0)) {
      return internal::ClosedError(kCall);
    }
    // Set before the value is sent: a waker may throw after that.
    is_sent_ = true;
    shared_->Publish(*claim, std::move(value_));
    return absl::OkStatus();
  }

  // Returns the value of a failed or pending send; a pending send is thereby
  // cancelled. Panics if the value was sent.
  T TakeValue() {
    if (is_sent_) {
      Panic(
          "mpmc::SendFuture::TakeValue: the value was sent; call TakeValue() "
          "only if the send failed or is pending");
    }
    turn_.reset();
    return std::move(value_);
  }

 private:
  static constexpr const char* kCall = "mpmc::Sender::Send";

  internal::Shared<T, internal::Bounded>* shared_;
  bool is_sent_ = false;
  std::optional<internal::PendingTurn> turn_;
  T value_;
};

// ClosedFuture
//
// See `BasicSender::Closed()`.
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
  // destroys the value.
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
    constexpr const char* kCall = "mpmc::Sender::TrySend";
    size_t position;
    const internal::Refusal refusal = shared_->ClaimPushNow(position);
    if (ABSL_PREDICT_FALSE(refusal != internal::Refusal::kNone)) {
      return refusal == internal::Refusal::kClosed
                 ? internal::ClosedError(kCall)
                 : internal::FullError(kCall);
    }
    shared_->Publish(position, std::move(value));
    return absl::OkStatus();
  }
  // Calls `TrySend()` with a copy of `value`.
  absl::Status TrySend(const T& value) const
    requires(kIsBounded && std::is_copy_constructible_v<T>)
  {
    return TrySend(T(value));
  }

  // Blocks the calling thread until there is room, and sends `value`. For
  // threads outside of any runtime. Leaves `value` alone on failure. Like
  // `BlockOn()`, this is a `Panic()` inside a task.
  absl::Status BlockingSend(T&& value) const
    requires kIsBounded
  {
    constexpr const char* kCall = "mpmc::Sender::BlockingSend";
    return rouse::internal::BlockOnFor(
        kCall, "co_await Send()",
        internal::SendFromFuture<T>(*shared_, kCall, value));
  }
  // Calls `BlockingSend()` with a copy of `value`.
  absl::Status BlockingSend(const T& value) const
    requires(kIsBounded && std::is_copy_constructible_v<T>)
  {
    return BlockingSend(T(value));
  }

  // Returns the number of messages for which there is room now that no sender
  // waits for.
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
  absl::Status Send(T&& value) const
    requires(!kIsBounded)
  {
    size_t position;
    if (ABSL_PREDICT_FALSE(!shared_->TryClaimPush(position))) {
      return internal::ClosedError("mpmc::UnboundedSender::Send");
    }
    shared_->Publish(position, std::move(value));
    return absl::OkStatus();
  }
  // Calls `Send()` with a copy of `value`.
  absl::Status Send(const T& value) const
    requires(!kIsBounded && std::is_copy_constructible_v<T>)
  {
    return Send(T(value));
  }

  // ---- For both kinds of channel.

  // Returns a future of nothing, which is ready when all receivers are
  // destroyed or a receiver has closed the channel. From then on no further
  // message is wanted.
  ClosedFuture Closed() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ClosedFuture(shared_->closed);
  }

  // Returns whether all receivers are destroyed or a receiver has closed the
  // channel.
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

  // Returns the number of messages, including messages that are being sent
  // right now.
  size_t size() const { return shared_->size(); }
  bool IsEmpty() const { return size() == 0; }

  // Returns the number of senders of the channel.
  size_t strong_count() const { return shared_->senders(); }
  // Returns the number of weak senders of the channel.
  size_t weak_count() const { return shared_->weak_senders(); }
  // Returns the number of receivers of the channel.
  size_t receiver_count() const { return shared_->receivers(); }

 private:
  friend class BasicWeakSender<T, Core>;
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
  // Returns a sender, or nothing if all senders are destroyed. The destruction
  // of receivers does not matter.
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

}  // namespace rouse::mpmc

#endif  // ROUSE_SYNC_MPMC_SENDER_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: send.h
// -----------------------------------------------------------------------------
//
// The futures that send to a bounded channel: see mpsc.h.

#ifndef ROUSE_SYNC_MPSC_SEND_H_
#define ROUSE_SYNC_MPSC_SEND_H_

#include <cstddef>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/sync/mpsc/core.h"
#include "rouse/sync/mpsc/permit.h"
#include "rouse/sync/mpsc/shared.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::mpsc {

// SendFuture
//
// See `Sender::Send()`.
template <class T>
class [[nodiscard(
    "the message is sent when the future is awaited")]] SendFuture {
 public:
  SendFuture(internal::Shared<T, internal::Bounded>& shared, T&& value)
      : shared_(&shared), request_(shared, 1), value_(std::move(value)) {}

  // Inlined, because the call would cost a fifth of a send that need not wait.
  ABSL_ATTRIBUTE_ALWAYS_INLINE PollResult<absl::Status> Poll(Context& cx) {
    if (ABSL_PREDICT_FALSE(!request_.PollNow(cx))) return PollSlowly(cx);
    is_sent_ = true;
    shared_->Publish(std::move(value_));
    return absl::OkStatus();
  }

  // Stops waiting. The value stays in the future, which must not be polled
  // again.
  void Cancel() { request_.Cancel(); }

  // Returns the value of a failed or pending send; a pending send is thereby
  // cancelled. Panics if the value was sent.
  T TakeValue() {
    if (is_sent_) {
      Panic(
          "mpsc::SendFuture::TakeValue: the value was sent; call TakeValue() "
          "only if the send failed or is pending");
    }
    Cancel();
    return std::move(value_);
  }

 private:
  static constexpr const char* kCall = "mpsc::Sender::Send";

  ABSL_ATTRIBUTE_NOINLINE PollResult<absl::Status> PollSlowly(Context& cx) {
    PollResult<bool> has_place = request_.PollSlowly(cx, kCall);
    if (has_place.IsPending()) return kPending;
    if (!*has_place) return internal::ClosedError(kCall);
    is_sent_ = true;
    shared_->Publish(std::move(value_));
    return absl::OkStatus();
  }

  internal::Shared<T, internal::Bounded>* shared_;
  bool is_sent_ = false;
  internal::PlaceRequest request_;
  T value_;
};

// SendUntilFuture
//
// See `Sender::SendUntil()`.
template <class T, class F>
class [[nodiscard(
    "the message is sent when the future is awaited")]] SendUntilFuture {
 public:
  SendUntilFuture(SendFuture<T> send, F&& until)
      : send_(std::move(send)), until_(std::forward<F>(until)) {}

  PollResult<absl::Status> Poll(Context& cx) {
    PollResult<absl::Status> sent = send_.Poll(cx);
    if (sent.IsReady()) return sent;
    if (!cx.HasBudget()) {
      // There may be room that was only not taken because the budget is used
      // up.
      return YieldForBudget(cx);
    }
    if (until_.get().Poll(cx).IsPending()) return kPending;
    send_.Cancel();
    return absl::DeadlineExceededError(
        "mpsc::Sender::SendUntil: the channel was full until `until` "
        "completed; take the value back, or send it again");
  }

  // Returns the value if it was not sent: see `SendFuture::TakeValue()`.
  T TakeValue() { return send_.TakeValue(); }

  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "SendUntil");
    branches.Add(send_);
    branches.Add(until_.get());
  }

 private:
  SendFuture<T> send_;
  rouse::internal::OwnedOrRef<F> until_;
};

// ReserveFuture
//
// See `Sender::Reserve()`.
template <class T>
class [[nodiscard]] ReserveFuture {
 public:
  explicit ReserveFuture(internal::Shared<T, internal::Bounded>& shared)
      : shared_(&shared), request_(shared, 1) {}

  PollResult<absl::StatusOr<Permit<T>>> Poll(Context& cx) {
    constexpr const char* kCall = "mpsc::Sender::Reserve";
    PollResult<bool> has_place = request_.Poll(cx, kCall);
    if (has_place.IsPending()) return kPending;
    if (!*has_place) return internal::ClosedError(kCall);
    return Permit<T>(shared_);
  }

 private:
  internal::Shared<T, internal::Bounded>* shared_;
  internal::PlaceRequest request_;
};

// ReserveManyFuture
//
// See `Sender::ReserveMany()`.
template <class T>
class [[nodiscard]] ReserveManyFuture {
 public:
  ReserveManyFuture(internal::Shared<T, internal::Bounded>& shared, size_t n)
      // A number of places that can never be had is not asked for.
      : shared_(&shared),
        n_(n),
        request_(shared, n <= shared.capacity() ? n : 0) {}

  PollResult<absl::StatusOr<PermitBatch<T>>> Poll(Context& cx) {
    constexpr const char* kCall = "mpsc::Sender::ReserveMany";
    PollResult<bool> has_places = request_.Poll(cx, kCall);
    if (has_places.IsPending()) return kPending;
    if (!*has_places) return internal::ClosedError(kCall);
    absl::Status status = shared_->CheckCount(n_, kCall);
    if (!status.ok()) return status;
    return PermitBatch<T>(shared_, n_);
  }

 private:
  internal::Shared<T, internal::Bounded>* shared_;
  size_t n_;
  internal::PlaceRequest request_;
};

// ReserveOwnedFuture
//
// See `Sender::ReserveOwned()`.
template <class T>
class [[nodiscard]] ReserveOwnedFuture {
 public:
  explicit ReserveOwnedFuture(BasicSender<T, internal::Bounded> sender)
      : sender_(std::move(sender)), request_(*sender_.shared_, 1) {}
  // The sender stays with the request if moving the request panics.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  ReserveOwnedFuture(ReserveOwnedFuture&& other)
      : sender_(nullptr), request_(std::move(other.request_)) {
    sender_ = std::move(other.sender_);
  }
  ReserveOwnedFuture& operator=(ReserveOwnedFuture&&) = delete;

  PollResult<absl::StatusOr<OwnedPermit<T>>> Poll(Context& cx) {
    constexpr const char* kCall = "mpsc::Sender::ReserveOwned";
    PollResult<bool> has_place = request_.Poll(cx, kCall);
    if (has_place.IsPending()) return kPending;
    if (!*has_place) return internal::ClosedError(kCall);
    return OwnedPermit<T>(std::move(sender_));
  }

 private:
  BasicSender<T, internal::Bounded> sender_;  // outlives the request
  internal::PlaceRequest request_;
};

}  // namespace rouse::mpsc

#endif  // ROUSE_SYNC_MPSC_SEND_H_

// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: shared.h
// -----------------------------------------------------------------------------
//
// The state that the ends of a channel share: see mpmc.h. Internal to `sync/`.
//
// A channel is a queue (queue.h), whose base class has the order of the
// messages and the futures that wait (positions.h), and the counts of the
// handles.

#ifndef ROUSE_SYNC_MPMC_SHARED_H_
#define ROUSE_SYNC_MPMC_SHARED_H_

#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/error_for.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/first_exception.h"
#include "rouse/base/mutable_step.h"
#include "rouse/sync/mpmc/core.h"
#include "rouse/sync/mpmc/positions.h"
#include "rouse/sync/mpmc/queue.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::mpmc::internal {

// The names of the handles in panic messages.
inline constexpr char kSenderName[] = "mpmc::Sender";
inline constexpr char kWeakSenderName[] = "mpmc::WeakSender";
inline constexpr char kReceiverName[] = "mpmc::Receiver";

// Makes the two ends of a channel; see mpmc.h.
template <class T, class Kind>
class Ends;

// Shared
//
// The shared state of a channel of `T`. `Kind` is `Bounded` or `Unbounded`. The
// queue comes first, so that the core is in its padding.
template <class T, class Kind>
class Shared : public Queue<T>, public ChannelCore {
 public:
  using Queue<T>::Settle;
  using Queue<T>::size;

  template <class... Args>
  explicit Shared(Args... args) : Queue<T>(Kind::CheckedCapacity(args...)) {}

  // ---- For senders.

  // Claims a position without waiting. Returns false, and has done nothing, if
  // there is no room, if other senders have their turn before, or if the
  // channel is closed.
  bool TryClaimPush(size_t& position) {
    return Queue<T>::template TryClaimPush<Kind::kIsBounded>(position) ==
           Refusal::kNone;
  }

  // Polls for a position: see `PendingTurn::PollSlowly()`.
  ABSL_ATTRIBUTE_ALWAYS_INLINE PollResult<Claim> PollPush(PendingTurn& turn,
                                                          Context& cx,
                                                          const char* call) {
    Claim claim;
    if (ABSL_PREDICT_TRUE(turn.IsNew() && cx.HasBudget() &&
                          TryClaimPush(claim.position))) {
      TakeUnitIfAny(cx);
      turn.Finish();
      claim.count = 1;
      return claim;
    }
    return turn.PollSlowly(cx, call);
  }

  // Sends `value` at a claimed position. If wakers throw, calls all of them and
  // then rethrows the first exception.
  void Publish(size_t position, T&& value) {
    if (ABSL_PREDICT_FALSE(this->Push(position, std::move(value)))) {
      Settle(Side::kReceivers);
    }
  }
  // Does so for a future, and wakes the senders that wait for its turn.
  ABSL_ATTRIBUTE_ALWAYS_INLINE void Publish(const Claim& claim, T&& value) {
    if (ABSL_PREDICT_FALSE(claim.has_others)) {
      return PublishAndWakeSenders(claim.position, std::move(value));
    }
    Publish(claim.position, std::move(value));
  }

  void DropSender() {
    if (!this->RemoveSender()) return;
    this->SetNoMore();
    Settle(Side::kReceivers);
    Unref(kSenders);
  }

  void DropWeakSender() { Unref(kWeakSender); }

  void Unref(uint64_t who) {
    if (this->Leave(who)) delete this;
  }

  // ---- For receivers.

  // Polls for a message: see `PendingTurn::PollSlowly()`.
  ABSL_ATTRIBUTE_ALWAYS_INLINE PollResult<std::optional<T>> PollTake(
      PendingTurn& turn, Context& cx, const char* call) {
    if (ABSL_PREDICT_TRUE(turn.IsNew() && cx.HasBudget())) {
      const Claim claim = this->TryClaimPops(1);
      if (ABSL_PREDICT_TRUE(claim.count > 0)) {
        TakeUnitIfAny(cx);
        turn.Finish();
        return Take(claim);
      }
    }
    const PollResult<Claim> claim = turn.PollSlowly(cx, call);
    if (claim.IsPending()) return kPending;
    return Take(*claim);
  }

  // Takes the message of a claim. Returns nothing if the claim has none.
  ABSL_ATTRIBUTE_ALWAYS_INLINE std::optional<T> Take(const Claim& claim) {
    std::optional<T> value;
    if (ABSL_PREDICT_FALSE(claim.count == 0)) return value;
    Queue<T>::Take(claim, [&value](T&& v) { value.emplace(std::move(v)); });
    WakeOthers(claim);
    return value;
  }

  // Wakes the futures that wait for the places, or for the turn, of a claim
  // whose messages were taken. An exception from a waker is dropped, after all
  // wakers have been called, because messages would be lost by the exception.
  void WakeOthers(const Claim& claim) {
    if (ABSL_PREDICT_FALSE(claim.wakes_senders)) {
      ROUSE_TRY { Settle(Side::kSenders); }
      ROUSE_CATCH_ALL {}
    }
    if (ABSL_PREDICT_FALSE(claim.has_others)) {
      ROUSE_TRY { ROUSE_MUTABLE_CALL(Settle(Side::kReceivers)); }
      ROUSE_CATCH_ALL {}
    }
  }

  absl::StatusOr<T> TryReceive() {
    const Claim claim = this->ClaimPopNow();
    if (ABSL_PREDICT_FALSE(claim.count == 0)) {
      // The end may not have been announced yet, but no message is left.
      if (IsClosed() && size() == 0) {
        return rouse::internal::ErrorFor<absl::StatusOr<T>>(
            ClosedError("mpmc::Receiver::TryReceive"));
      }
      return rouse::internal::ErrorFor<absl::StatusOr<T>>(
          absl::UnavailableError(
              "mpmc::Receiver::TryReceive: the channel is empty; call "
              "Receive() to wait for a message"));
    }
    return *Take(claim);
  }

  // Returns whether no more messages can be sent. A caller that gets true sees
  // all messages that were sent.
  bool IsClosed() const { return this->closed.IsSet() || !this->HasSenders(); }

  void Close() {
    if (this->closed.IsSet()) return;
    this->SetNoMore();
    FirstException first;  // of wakers
    if constexpr (Kind::kIsBounded) {
      first.Catch([this] { Settle(Side::kSenders); });
    }
    first.Catch([this] { this->closed.Set(); });
    first.Catch([this] { Settle(Side::kReceivers); });
    first.Rethrow();
  }

  void DropReceiver() {
    if (!this->RemoveReceiver()) return;
    Close();
    Discard();
    Unref(kReceivers);
  }

 private:
  ~Shared() = default;

  ABSL_ATTRIBUTE_NOINLINE void PublishAndWakeSenders(size_t position,
                                                     T&& value) {
    FirstException first;
    first.Catch([&] { Publish(position, std::move(value)); });
    first.Catch([this] { ROUSE_MUTABLE_CALL(Settle(Side::kSenders)); });
    first.Rethrow();
  }

  // Destroys all messages, when the channel is closed and has no receiver. May
  // wait a moment for senders in the middle of a send.
  void Discard() {
    for (;;) {
      const Claim claim = this->ClaimRest();
      if (claim.count == 0) return;
      Queue<T>::Take(claim, [](T&&) {});
    }
  }
};

}  // namespace rouse::mpmc::internal

#endif  // ROUSE_SYNC_MPMC_SHARED_H_

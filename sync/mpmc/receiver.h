// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: receiver.h
// -----------------------------------------------------------------------------
//
// The receivers of a channel, and their futures: see mpmc.h.

#ifndef ROUSE_SYNC_MPMC_RECEIVER_H_
#define ROUSE_SYNC_MPMC_RECEIVER_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/status/statusor.h"
#include "rouse/base/first_exception.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/internal/handle_ptr.h"
#include "rouse/sync/mpmc/core.h"
#include "rouse/sync/mpmc/positions.h"
#include "rouse/sync/mpmc/queue.h"
#include "rouse/sync/mpmc/shared.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::mpmc {

template <class T, class Core>
class BasicReceiver;

// Receiver, UnboundedReceiver
//
// See `BasicReceiver`.
template <class T>
using Receiver = BasicReceiver<T, internal::Bounded>;
template <class T>
using UnboundedReceiver = BasicReceiver<T, internal::Unbounded>;

namespace internal {

// See `BasicReceiver::Receive()`.
template <class T, class Core>
class [[nodiscard]] ReceiveFuture {
 public:
  explicit ReceiveFuture(Shared<T, Core>& shared)
      : shared_(&shared), turn_(shared, Side::kReceivers) {}

  PollResult<std::optional<T>> Poll(Context& cx) {
    return shared_->PollTake(turn_, cx, "mpmc::Receiver::Receive");
  }

 private:
  Shared<T, Core>* shared_;
  PendingTurn turn_;
};

// See `BasicReceiver::ReceiveMany()`.
template <class T, class Core>
class [[nodiscard]] ReceiveManyFuture {
 public:
  ReceiveManyFuture(Shared<T, Core>& shared, std::vector<T>& out, size_t limit)
      : shared_(&shared),
        out_(&out),
        limit_(limit),
        turn_(shared, Side::kReceivers) {}

  PollResult<size_t> Poll(Context& cx) {
    if (limit_ == 0) return size_t{0};
    const bool is_quick = turn_.IsNew() && cx.HasBudget();
    if (size_t n = is_quick ? shared_->CountClaimable(limit_) : 0; n > 0) {
      FirstException first;
      first.Catch([this, n] { MakeRoom(n); });
      n = std::min(n, out_->capacity() - out_->size());
      Claim claim;
      if (n > 0) claim = shared_->TryClaimPops(n);
      if (n == 0 || claim.count > 0) {
        TakeUnitIfAny(cx);
        turn_.Finish();
        return Take(claim, first);
      }
    }
    if (turn_.PollTurn(cx, "mpmc::Receiver::ReceiveMany").IsPending()) {
      return kPending;
    }
    FirstException first;
    // At the end, `out` needs no room.
    const size_t n =
        shared_->IsAtEnd() ? 0 : 1 + shared_->CountClaimable(limit_ - 1);
    first.Catch([this, n] { MakeRoom(n); });
    Claim claim;
    first.Catch([&] {
      claim = turn_.Redeem(std::min(n, out_->capacity() - out_->size()));
    });
    return Take(claim, first);
  }

 private:
  size_t Take(const Claim& claim, FirstException& first) {
    if (claim.count > 0) {
      shared_->Queue<T>::Take(
          claim, [this](T&& value) { out_->push_back(std::move(value)); });
      shared_->WakeOthers(claim);
    }
    first.Rethrow();
    return claim.count;
  }

  // Grows `out`, as `push_back()` would do.
  void MakeRoom(size_t n) {
    const size_t needed = out_->size() + n;
    if (needed <= out_->capacity()) return;
    out_->reserve(std::max(needed, 2 * out_->capacity()));
  }

  Shared<T, Core>* shared_;
  std::vector<T>* out_;
  size_t limit_;
  PendingTurn turn_;
};

}  // namespace internal

// BasicReceiver
//
// One of the receivers of a channel. A copy is another receiver of the same
// channel: each message goes to one of them. One thread at a time can use a
// receiver; different receivers are independent. A receiver that was moved from
// can only be assigned and destroyed; any other use is a `Panic()`. A receiver
// is a stream (future/stream.h).
//
// The destructor of the last receiver closes the channel and destroys the
// remaining messages. It may wait a moment for senders in the middle of a send.
// A message must not hold a receiver of its own channel.
//
// Any number of futures of a receiver can be pending at once, in any tasks. The
// futures refer to the channel, and a receiver must outlive them. A future can
// be moved until its first poll. Moving a waiting future is a panic, and leaves
// the future unchanged.
//
// Waiting futures get messages in the order in which they began to wait, and no
// other receive overtakes them until the channel ends. A cancelled future has
// received nothing: if a message was meant for it, the next waiting future is
// woken. If the waker of a sender that has waited for room throws, the
// exception is dropped, and the received message is returned.
template <class T, class Core>
class BasicReceiver {
 public:
  // Waits for the stream: see `PollNext()`. Can be moved until the first use.
  class Waiter {
   public:
    Waiter() = default;

   private:
    friend class BasicReceiver;

    std::optional<internal::PendingTurn> turn_;
  };

  // A pending poll stays with `other`.
  BasicReceiver(const BasicReceiver& other) : shared_(other.shared_) {}
  BasicReceiver(BasicReceiver&& other) noexcept = default;
  BasicReceiver& operator=(BasicReceiver other) noexcept {
    std::swap(shared_, other.shared_);
    std::swap(waiter_, other.waiter_);
    return *this;
  }
  ~BasicReceiver() = default;

  // Returns a future of the next message as a `std::optional<T>`, or of
  // `std::nullopt` when no more messages will arrive. A pending `PollReceive()`
  // of this receiver is cancelled.
  internal::ReceiveFuture<T, Core> Receive() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    StopWaiting();
    return internal::ReceiveFuture<T, Core>(*shared_);
  }

  // Returns a future that waits for a message and appends available messages to
  // `out`, up to `limit`, except for those that other waiting futures get. The
  // result is the number of appended messages, a `size_t`. The result is 0 when
  // no more messages will arrive, and at once if `limit` is 0. `out` must
  // outlive the future. A pending `PollReceive()` of this receiver is
  // cancelled.
  //
  // If `out` cannot grow, the messages without room stay in the channel. `out`
  // may be reallocated by a poll that is pending, because another receiver was
  // quicker.
  internal::ReceiveManyFuture<T, Core> ReceiveMany(
      std::vector<T>& out ABSL_ATTRIBUTE_LIFETIME_BOUND,
      size_t limit) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    StopWaiting();
    return internal::ReceiveManyFuture<T, Core>(*shared_, out, limit);
  }

  // Polls for the next message, as `Receive()` does, for the caller's own
  // futures. A pending poll waits in `waiter`, which must not outlive the
  // receiver, until the next poll or the destruction of `waiter`. Without
  // `waiter`, a pending poll waits in the receiver until the next poll, or the
  // next call of another receiving function; such a poll allocates once for
  // each receiver.
  PollResult<std::optional<T>> PollReceive(Context& cx,
                                           Waiter* waiter = nullptr) {
    auto& shared = *shared_;
    const Waiter* const pending = waiter != nullptr ? waiter : waiter_.get();
    if (ABSL_PREDICT_TRUE((pending == nullptr || !pending->turn_.has_value()) &&
                          cx.HasBudget())) {
      const internal::Claim claim = shared.TryClaimPops(1);
      if (ABSL_PREDICT_TRUE(claim.count > 0) || shared.IsAtEnd()) {
        TakeUnitIfAny(cx);
        return shared.Take(claim);
      }
    }
    if (waiter == nullptr) {
      if (waiter_ == nullptr) waiter_ = std::make_unique<Waiter>();
      waiter = waiter_.get();
    }
    if (!waiter->turn_.has_value()) {
      waiter->turn_.emplace(shared, internal::Side::kReceivers);
    }
    const PollResult<internal::Claim> claim =
        waiter->turn_->PollSlowly(cx, "mpmc::Receiver::PollReceive");
    if (claim.IsPending()) return kPending;
    // Before a message is moved and wakers are called, which may poll again.
    waiter->turn_.reset();
    return shared.Take(*claim);
  }
  // Calls `PollReceive()`, which makes the receiver a stream.
  PollResult<std::optional<T>> PollNext(Context& cx, Waiter* waiter = nullptr) {
    return PollReceive(cx, waiter);
  }

  // Returns the next message if there is one that no waiting future gets. Fails
  // with `kUnavailable` if there is no such message yet, and with `kCancelled`
  // if no more messages will arrive. Finds every message that was sent before
  // the call; to do so, the call may wait a moment for another thread in the
  // middle of a send. A pending `PollReceive()` of this receiver is cancelled.
  absl::StatusOr<T> TryReceive() {
    StopWaiting();
    return shared_->TryReceive();
  }

  // Receives as `Receive()` does, and blocks the calling thread. For threads
  // outside of any runtime. Like `BlockOn()`, this is a `Panic()` inside a
  // task.
  std::optional<T> BlockingReceive() {
    return rouse::internal::BlockOnFor("mpmc::Receiver::BlockingReceive",
                                       "co_await Receive()", Receive());
  }
  // Receives as `ReceiveMany()` does, and blocks the calling thread. For
  // threads outside of any runtime. Like `BlockOn()`, this is a `Panic()`
  // inside a task.
  size_t BlockingReceiveMany(std::vector<T>& out, size_t limit) {
    return rouse::internal::BlockOnFor("mpmc::Receiver::BlockingReceiveMany",
                                       "co_await ReceiveMany()",
                                       ReceiveMany(out, limit));
  }

  // Closes the channel for all: senders fail from now on. Earlier messages can
  // still be received. After these messages all receivers get the end, and
  // waiting receivers are woken for it. If wakers throw, the channel is closed
  // nevertheless, and the first exception is rethrown.
  void Close() { shared_->Close(); }

  // Returns whether no more messages can be sent, because the channel was
  // closed or the last sender was destroyed.
  bool IsClosed() const { return shared_->IsClosed(); }

  // Returns whether both receivers receive from the same channel.
  bool SameChannel(const BasicReceiver& other) const {
    return shared_ == other.shared_;
  }

  // Returns the number of messages, including messages that are being sent
  // right now.
  size_t size() const { return shared_->size(); }
  bool IsEmpty() const { return size() == 0; }

  // Returns the number of messages for which there is room now that no sender
  // waits for.
  size_t capacity() const
    requires Core::kIsBounded
  {
    return shared_->available();
  }
  // Returns the number of messages for which an empty channel has room.
  size_t max_capacity() const
    requires Core::kIsBounded
  {
    return shared_->capacity();
  }
  size_t sender_strong_count() const { return shared_->senders(); }
  size_t sender_weak_count() const { return shared_->weak_senders(); }
  // Returns the number of receivers of the channel.
  size_t receiver_count() const { return shared_->receivers(); }

 private:
  template <class, class>
  friend class internal::Ends;

  using Shared = internal::Shared<T, Core>;

  // Adopts a count.
  explicit BasicReceiver(Shared* shared) : shared_(shared) {}

  void StopWaiting() {
    if (ABSL_PREDICT_FALSE(waiter_ != nullptr)) waiter_->turn_.reset();
  }

  rouse::internal::CountedHandlePtr<Shared, internal::kReceiverName,
                                    rouse::internal::CountReceivers>
      shared_;
  // Made by the first pending poll without a waiter. Destroyed before `shared_`
  // is dropped.
  std::unique_ptr<Waiter> waiter_;
};

}  // namespace rouse::mpmc

#endif  // ROUSE_SYNC_MPMC_RECEIVER_H_

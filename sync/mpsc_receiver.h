// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mpsc_receiver.h
// -----------------------------------------------------------------------------
//
// The receiver of a channel: see mpsc.h.

#ifndef ROUSE_SYNC_MPSC_RECEIVER_H_
#define ROUSE_SYNC_MPSC_RECEIVER_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/status/statusor.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/mpsc_core.h"
#include "rouse/sync/mpsc_shared.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::mpsc {

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

// What a pending receive leaves behind is taken away if it is destroyed.
template <class T, class Core>
class Receiving {
 public:
  explicit Receiving(Shared<T, Core>& shared) : shared_(&shared) {}
  Receiving(Receiving&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)),
        waits_(std::exchange(other.waits_, false)) {}
  Receiving& operator=(Receiving&&) = delete;
  ~Receiving() {
    if (ABSL_PREDICT_FALSE(waits_)) shared_->StopWaiting();
  }

  Shared<T, Core>& shared(const char* call) {
    if (ABSL_PREDICT_FALSE(shared_ == nullptr)) {
      PanicPolledAgain(call);
    }
    return *shared_;
  }

  void SetResult(bool is_pending) {
    waits_ = is_pending;
    if (!is_pending) shared_ = nullptr;
  }

 private:
  Shared<T, Core>* shared_;  // null: finished
  bool waits_ = false;
};

// See `BasicReceiver::Receive()`.
template <class T, class Core>
class [[nodiscard]] ReceiveFuture {
 public:
  explicit ReceiveFuture(Shared<T, Core>& shared) : receiving_(shared) {}

  PollResult<std::optional<T>> Poll(Context& cx) {
    PollResult<std::optional<T>> result =
        receiving_.shared("mpsc::Receiver::Receive").PollReceive(cx);
    receiving_.SetResult(result.IsPending());
    return result;
  }

 private:
  Receiving<T, Core> receiving_;
};

// See `BasicReceiver::ReceiveMany()`.
template <class T, class Core>
class [[nodiscard]] ReceiveManyFuture {
 public:
  ReceiveManyFuture(Shared<T, Core>& shared, std::vector<T>& out, size_t limit)
      : receiving_(shared), out_(&out), limit_(limit) {}

  PollResult<size_t> Poll(Context& cx) {
    Shared<T, Core>& shared = receiving_.shared("mpsc::Receiver::ReceiveMany");
    const PollResult<size_t> result = PollMany(shared, cx);
    receiving_.SetResult(result.IsPending());
    return result;
  }

 private:
  // Gives back the places of what has been received, also if `out` throws.
  struct Count {
    explicit Count(Shared<T, Core>& s) : shared(s) {}
    Count(const Count&) = delete;
    Count& operator=(const Count&) = delete;
    ~Count() {
      if (received != 0) shared.Received(received);
    }

    Shared<T, Core>& shared;
    size_t received = 0;
  };

  PollResult<size_t> PollMany(Shared<T, Core>& shared, Context& cx) {
    if (limit_ == 0) return size_t{0};
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    const PollResult<bool> has_front = shared.PollFront(cx);
    if (has_front.IsPending()) return kPending;
    unit->MadeProgress();
    Count count(shared);
    while (count.received < limit_ && shared.queue().HasFront()) {
      out_->push_back(std::move(shared.queue().Front()));
      shared.queue().PopFront();
      ++count.received;
    }
    return count.received;
  }

  Receiving<T, Core> receiving_;
  std::vector<T>* out_;
  size_t limit_;
};

}  // namespace internal

// BasicReceiver
//
// The receiver of a channel. Used by one thread at a time, and by one call or
// future at a time. When it goes it closes the channel and destroys what is in
// it. A stream (future/stream.h). One that was moved from can only be assigned
// and destroyed.
//
// Its futures refer to the channel, and the receiver must outlive them.
// Cancelling one of them has taken nothing. If the waker of a sender that has
// waited for room throws, that is dropped: what was received comes out.
template <class T, class Core>
class BasicReceiver {
 public:
  BasicReceiver(BasicReceiver&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)) {}
  BasicReceiver& operator=(BasicReceiver&& other) noexcept {
    BasicReceiver replaced(std::move(other));
    std::swap(shared_, replaced.shared_);
    return *this;
  }
  ~BasicReceiver() {
    if (shared_ != nullptr) shared_->DropReceiver();
  }

  // A future of the next message, a `std::optional<T>`, or of `std::nullopt`
  // when there will be none. May be moved at any time.
  internal::ReceiveFuture<T, Core> Receive() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return internal::ReceiveFuture<T, Core>(*shared_);
  }

  // A future that waits for a message and appends to `out` all that are there,
  // up to `limit`: how many, a `size_t`. 0 when there will be none, and at once
  // if `limit` is 0. `out` outlives it. May be moved at any time.
  //
  // If `out` cannot grow, what it could not take stays in the channel.
  internal::ReceiveManyFuture<T, Core> ReceiveMany(
      std::vector<T>& out ABSL_ATTRIBUTE_LIFETIME_BOUND,
      size_t limit) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return internal::ReceiveManyFuture<T, Core>(*shared_, out, limit);
  }

  // For futures of one's own, as `Receive()`. The waker of the last call that
  // was pending is kept until there is a message, or the next call.
  PollResult<std::optional<T>> PollReceive(Context& cx) {
    return shared_->PollReceive(cx);
  }
  // The same: a receiver is a stream.
  PollResult<std::optional<T>> PollNext(Context& cx) { return PollReceive(cx); }

  // The next message if there is one: `kUnavailable` if there is none yet,
  // `kCancelled` if there will be none. Finds whatever was sent before; for
  // that, it may have to wait a moment for a sender that is just at it. No
  // future of this receiver may be waiting.
  absl::StatusOr<T> TryReceive() { return shared_->TryReceive(); }

  // For a thread outside of any runtime: as `Receive()`.
  std::optional<T> BlockingReceive() { return BlockOn(Receive()); }
  size_t BlockingReceiveMany(std::vector<T>& out, size_t limit) {
    return BlockOn(ReceiveMany(out, limit));
  }

  // Lets senders fail from now on. What was sent, or is sent with a permit that
  // a sender has, can be received; then there is the end. If wakers throw, it
  // is closed all the same, and the first exception comes out.
  void Close() { shared_->Close(); }

  // Whether no more can be sent (but with permits): it was closed, or the last
  // sender has gone.
  bool IsClosed() const {
    return shared_->closed.IsSet() || !shared_->HasSenders();
  }

  // How many messages there are, with those that are just being sent.
  size_t size() const { return shared_->queue().size(); }
  bool IsEmpty() const { return size() == 0; }

  // As of a sender.
  size_t capacity() const
    requires Core::kIsBounded
  {
    return shared_->available();
  }
  size_t max_capacity() const
    requires Core::kIsBounded
  {
    return shared_->capacity();
  }
  size_t sender_strong_count() const { return shared_->senders(); }
  size_t sender_weak_count() const { return shared_->weak_senders(); }

 private:
  template <class, class>
  friend class internal::Ends;

  explicit BasicReceiver(internal::Shared<T, Core>* shared) : shared_(shared) {}

  internal::Shared<T, Core>* shared_;
};

}  // namespace rouse::mpsc

#endif  // ROUSE_SYNC_MPSC_RECEIVER_H_

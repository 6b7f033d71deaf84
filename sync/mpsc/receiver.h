// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: receiver.h
// -----------------------------------------------------------------------------
//
// The receiver of a channel: see mpsc.h.

#ifndef ROUSE_SYNC_MPSC_RECEIVER_H_
#define ROUSE_SYNC_MPSC_RECEIVER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/status/statusor.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/internal/handle_ptr.h"
#include "rouse/sync/mpsc/core.h"
#include "rouse/sync/mpsc/shared.h"
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
        pending_poll_(std::exchange(other.pending_poll_, 0)) {}
  Receiving& operator=(Receiving&&) = delete;
  ~Receiving() {
    if (ABSL_PREDICT_TRUE(pending_poll_ == 0)) return;
    shared_->EndWait();
    shared_->ForgetWaker(pending_poll_);
  }

  // Begins a poll, for which it returns the channel.
  Shared<T, Core>& BeginPoll(const char* call) {
    if (ABSL_PREDICT_FALSE(shared_ == nullptr)) {
      PanicPolledAgain(call);
    }
    if (std::exchange(pending_poll_, 0) != 0) shared_->EndWait();
    return *shared_;
  }

  void EndPoll(bool is_pending) {
    if (is_pending) {
      pending_poll_ = shared_->BeginWait();
    } else {
      shared_ = nullptr;
    }
  }

 private:
  Shared<T, Core>* shared_;    // null: finished
  uint64_t pending_poll_ = 0;  // or 0, if the last poll was not pending
};

// See `BasicReceiver::Receive()`.
template <class T, class Core>
class [[nodiscard]] ReceiveFuture {
 public:
  explicit ReceiveFuture(Shared<T, Core>& shared) : receiving_(shared) {}

  PollResult<std::optional<T>> Poll(Context& cx) {
    PollResult<std::optional<T>> result =
        receiving_.BeginPoll("mpsc::Receiver::Receive").PollReceive(cx);
    receiving_.EndPoll(result.IsPending());
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
    Shared<T, Core>& shared =
        receiving_.BeginPoll("mpsc::Receiver::ReceiveMany");
    const PollResult<size_t> result = PollMany(shared, cx);
    receiving_.EndPoll(result.IsPending());
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
// The receiver of a channel. Used by one thread at a time. When it goes it
// closes the channel and destroys what is in it. A stream (future/stream.h).
// One that was moved from can only be assigned and destroyed; anything else is
// a `Panic()`.
//
// Several of its futures may be pending at a time, but of one task, as the arms
// of a `Join` or a `Select` are: the task of the latest poll is woken.
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

  // For a thread outside of any runtime: as `Receive()`. Like `BlockOn()`, a
  // `Panic()` inside a task.
  std::optional<T> BlockingReceive() {
    return rouse::internal::BlockOnFor("mpsc::Receiver::BlockingReceive",
                                       "co_await Receive()", Receive());
  }
  size_t BlockingReceiveMany(std::vector<T>& out, size_t limit) {
    return rouse::internal::BlockOnFor("mpsc::Receiver::BlockingReceiveMany",
                                       "co_await ReceiveMany()",
                                       ReceiveMany(out, limit));
  }

  // Lets senders fail from now on, and wakes a `Receive()` of this receiver
  // that is pending. What was sent, or is sent with a permit that a sender has,
  // can be received; then there is the end. If wakers throw, it is closed all
  // the same, and the first exception comes out.
  void Close() { shared_->CloseAndWake(); }

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

  rouse::internal::HandlePtr<internal::Shared<T, Core>, internal::kReceiverName>
      shared_;
};

}  // namespace rouse::mpsc

#endif  // ROUSE_SYNC_MPSC_RECEIVER_H_
